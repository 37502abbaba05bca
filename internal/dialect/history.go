package dialect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// history remembers the conversations a run has shown so far. Every model call
// repeats the whole of its conversation, so its text begins as an earlier one
// did; what is the same is not read, written or held again.
type history struct {
	recent [histories]conversation
	next   int

	// shared are conversations that were not read from one text.
	shared     [histories]conversation
	nextShared int
	scratch    []byte
	ends       []int

	tools []toolDef
}

// histories is how many conversations are remembered: agents that take turns
// have one each.
const histories = 4

// conversation is an array of messages as text, with the end of each element.
type conversation struct {
	text string
	ends []int
	ms   []message.Message
	// extended is set once another conversation goes on in the same memory.
	extended bool
}

// read reads an array of messages. Text that is no array of objects is left to
// the caller.
func (h *history) read(text string) ([]message.Message, bool) {
	if !strings.HasPrefix(text, "[{") {
		return nil, false
	}
	var base *conversation
	same := 0
	for i := range h.recent {
		if n := h.recent[i].shared(text); n > same {
			base, same = &h.recent[i], n
		}
	}
	var c conversation
	from := 0
	if base != nil {
		from = base.ends[same-1]
	}
	items, ends, err := value.ParseItems(text, from)
	if err != nil {
		return nil, false
	}
	for _, item := range items {
		if item.Kind() != value.Object {
			return nil, false
		}
	}
	more := message.Read(value.List(items...))
	if len(more) != len(items) {
		return nil, false
	}
	if base != nil {
		c.ends, c.ms = base.ends[:same:same], base.ms[:same:same]
		if same == len(base.ms) && !base.extended {
			// The first to go on where a conversation ends shares its memory. Any
			// other must not write over what that one has there.
			c.ends, c.ms, base.extended = base.ends, base.ms, true
		}
	}
	c.text, c.ends = text, append(c.ends, ends...)
	c.ms = append(c.ms, more...)
	message.Settle(c.ms)
	h.recent[h.next] = c
	h.next = (h.next + 1) % histories
	return c.ms, true
}

// shared is how many elements another text has in common from its beginning.
func (c *conversation) shared(text string) int {
	if c.text == "" {
		return 0
	}
	common := commonPrefix(c.text, text)
	n := len(c.ends)
	// Elements are objects, so that one is whole where its last brace is common.
	for n > 0 && c.ends[n-1] > common {
		n--
	}
	return n
}

func commonPrefix(a, b string) int {
	const step = 4096
	n := min(len(a), len(b))
	i := 0
	for i+step <= n && a[i:i+step] == b[i:i+step] {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// share replaces the beginning of a conversation that an earlier one had by what
// is already held of that, and settles the rest. It is for conversations that
// were read otherwise than by read, which share already.
func (h *history) share(ms []message.Message) []message.Message {
	if len(ms) == 0 || ms[0].Text() != nil {
		return ms
	}
	h.scratch, h.ends = h.scratch[:0], h.ends[:0]
	for i := range ms {
		h.scratch = ms[i].Append(h.scratch)
		h.ends = append(h.ends, len(h.scratch))
	}
	var base *conversation
	same := 0
	for i := range h.shared {
		if n := h.sharedBy(&h.shared[i]); n > same {
			base, same = &h.shared[i], n
		}
	}
	c := conversation{ms: make([]message.Message, 0, len(ms))}
	if base != nil {
		c.ms = base.ms[:same:same]
		if same == len(base.ms) && !base.extended {
			c.ms, base.extended = base.ms, true
		}
	}
	for i := same; i < len(ms); i++ {
		ms[i].SettleAs(bytes.Clone(h.scratch[h.start(i):h.ends[i]]))
		c.ms = append(c.ms, ms[i])
	}
	h.shared[h.nextShared] = c
	h.nextShared = (h.nextShared + 1) % histories
	return c.ms
}

// sameTools is what is already held of tool definitions, which every model call
// repeats too.
func (h *history) sameTools(defs []toolDef) []toolDef {
	if len(defs) == 0 {
		return nil
	}
	same := slices.EqualFunc(h.tools, defs, func(a, b toolDef) bool {
		return a.Name == b.Name && a.Description == b.Description && a.SchemaVersion == b.SchemaVersion &&
			bytes.Equal(a.Schema, b.Schema) && (a.sideEffect == nil) == (b.sideEffect == nil) && (a.sideEffect == nil || *a.sideEffect == *b.sideEffect)
	})
	if !same {
		h.tools = defs
	}
	return h.tools
}

// start is where message i begins in the scratch memory.
func (h *history) start(i int) int {
	if i == 0 {
		return 0
	}
	return h.ends[i-1]
}

// sharedBy is how many messages of the scratch memory a conversation begins
// with.
func (h *history) sharedBy(c *conversation) int {
	n := 0
	for n < len(c.ms) && n < len(h.ends) && bytes.Equal(c.ms[n].Text(), h.scratch[h.start(n):h.ends[n]]) {
		n++
	}
	return n
}
