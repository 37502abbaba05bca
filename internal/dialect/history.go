package dialect

import (
	"bytes"
	"hash"
	"hash/maphash"
	"slices"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// history remembers the conversations a run has shown so far. Every model call
// repeats the whole of its conversation, so that its request begins as an
// earlier one did; what is the same is not read, written, hashed or held again.
//
//	text ───────► value.Memo ──► elements ──► messages ────► conversation
//	attributes ─► attrMemo       each read    each written   shares its beginning
//	                             once         once (Form)    with an earlier one
type history struct {
	memo  value.Memo
	attrs attrMemo

	// known are the messages that were settled, by their form.
	seed  maphash.Seed
	known map[uint64]message.Message

	recent [histories]*conversation
	next   int

	tools []*toolSet
}

// histories is how many conversations are compared with: agents that take turns
// have one each.
const histories = 8

// conversation is the messages of one request, all of them settled.
type conversation struct {
	ms []message.Message
	// head counts the leading system messages, which are no part of the hash.
	head int
	// base is the earlier conversation with which this one shares the most
	// messages behind the head, and shared how many those are.
	base   *conversation
	shared int
	// extended is set once another conversation goes on in the same memory.
	extended bool

	// atShared and atEnd are the hash after that many messages and after all.
	atShared, atEnd hash.Cloner
}

// share gives a request the conversation it is, whose beginning is that of an
// earlier one.
func (h *history) share(c *Call) {
	for i := range c.System {
		h.settle(&c.System[i])
	}
	if len(c.Input) == 0 {
		return
	}
	for i := range c.Input {
		h.settle(&c.Input[i])
	}
	talk := &conversation{head: leading(c.Input)}
	same := false
	for _, old := range h.recent {
		if old == nil {
			continue
		}
		if n := sharedMessages(old.ms[old.head:], c.Input[talk.head:]); n > talk.shared {
			talk.base, talk.shared = old, n
			same = old.head == talk.head && sharedMessages(old.ms[:old.head], c.Input) == talk.head
		}
	}
	talk.ms = c.Input
	if same {
		base, kept := talk.base, talk.head+talk.shared
		switch {
		case kept == len(base.ms) && !base.extended:
			// The first to go on where a conversation ends shares its memory. Any
			// other must not write over what that one has there.
			base.extended = true
			grown := base.ms
			grown = append(grown, c.Input[kept:]...)
			talk.ms = grown
		case kept == len(c.Input):
			talk.ms = base.ms[:kept:kept]
			talk.extended = true
		}
	}
	c.Input, c.talk = talk.ms, talk
	h.recent[h.next] = talk
	h.next = (h.next + 1) % histories
}

// leading counts the system messages that a conversation begins with.
func leading(ms []message.Message) int {
	n := 0
	for n < len(ms) && (ms[n].Role == "system" || ms[n].Role == "developer") {
		n++
	}
	return n
}

func sharedMessages(a, b []message.Message) int {
	n := 0
	for n < len(a) && n < len(b) && sameForm(a[n].Form(), b[n].Form()) {
		n++
	}
	return n
}

func sameForm(a, b *message.Form) bool { return a == b || bytes.Equal(a.Text, b.Text) }

// settle makes a message one that was settled before, if there is one like it.
func (h *history) settle(m *message.Message) {
	if m.Form() != nil {
		return
	}
	if h.known == nil {
		h.seed, h.known = maphash.MakeSeed(), map[uint64]message.Message{}
	}
	m.Settle()
	sum := maphash.Bytes(h.seed, m.Text())
	known, ok := h.known[sum]
	if ok && m.Same(&known) {
		*m = known
		return
	}
	if !m.Shared() {
		// Its text may be a small part of one that is not to be kept.
		*m = m.Clone()
	}
	h.known[sum] = *m
}

// toolSet is what models were offered, in the forms it is asked for.
type toolSet struct {
	defs []toolDef
	// text is the neutral JSON form, canonical what is hashed of it.
	text, canonical []byte
	err             error
}

// sameTools is what is already held of tool definitions, which every model call
// repeats too.
func (h *history) sameTools(defs []toolDef) []toolDef {
	if len(defs) == 0 {
		return nil
	}
	for _, set := range h.tools {
		if slices.EqualFunc(set.defs, defs, equalTool) {
			return set.defs
		}
	}
	if len(h.tools) == toolSets {
		h.tools = h.tools[:0:0]
	}
	h.tools = append(h.tools, &toolSet{defs: defs})
	return defs
}

// toolSets is how many sets of tools are remembered: agents have one each.
const toolSets = 32

// setOf is the set of definitions that sameTools gave, or a new one.
func (h *history) setOf(defs []toolDef) *toolSet {
	if h != nil {
		for _, set := range h.tools {
			if &set.defs[0] == &defs[0] && len(set.defs) == len(defs) {
				return set
			}
		}
	}
	return &toolSet{defs: defs}
}

// json is the neutral JSON array of the definitions.
func (t *toolSet) json() []byte {
	if t.text == nil {
		t.text = toolValues(t.defs).Append(nil)
	}
	return t.text
}

// hashed is the canonical form of json.
func (t *toolSet) hashed() ([]byte, error) {
	if t.canonical == nil && t.err == nil {
		t.canonical, t.err = tape.Canonical(t.json())
	}
	return t.canonical, t.err
}

func toolValues(tools []toolDef) value.Value {
	out := make([]value.Value, 0, len(tools))
	for _, t := range tools {
		members := []value.Member{value.M("name", value.Str(t.Name))}
		if t.Description != "" {
			members = append(members, value.M("description", value.Str(t.Description)))
		}
		if schema, err := value.Parse(string(t.Schema)); err == nil && len(t.Schema) > 0 {
			members = append(members, value.M("schema", schema))
		}
		out = append(out, value.Obj(members...))
	}
	return value.List(out...)
}

func equalTool(a, b toolDef) bool {
	return a.Name == b.Name && a.Description == b.Description && a.SchemaVersion == b.SchemaVersion &&
		bytes.Equal(a.Schema, b.Schema) && (a.sideEffect == nil) == (b.sideEffect == nil) && (a.sideEffect == nil || *a.sideEffect == *b.sideEffect)
}
