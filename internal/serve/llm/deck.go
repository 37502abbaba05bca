package llm

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// maxScanned bounds how many records a request is compared with that none has the
// hash of.
const maxScanned = 256

// Deck finds the record that a live request is, among the model calls of a tape.
// It knows which records are taken, as far as its caller says so, and compares
// only what the tape recorded. It is not safe for concurrent use.
//
// A request that is on the tape as a whole costs one hash. Others are compared
// with the first 256 records that are left, which finds those of which the tape
// holds only a part: a cut text, the end of a conversation.
type Deck struct {
	form    func(json.RawMessage) (json.RawMessage, error)
	entries []entry
	byHash  map[[sha256.Size]byte][]int
	bySeq   map[int]int
	// has is what the requests of the tape have.
	has traits
	// tails is set where requests on the tape begin in the middle of their
	// conversation: it holds what was new in each.
	tails bool
	// first is the first entry that may be left.
	first int
}

type entry struct {
	record *tape.Record
	// seq is the record's position, or its place on the tape if it has none.
	seq  int
	hash [sha256.Size]byte
	// known is unset where the arguments were never captured.
	known, taken bool
}

// traits are parts of requests that some recorders leave out.
type traits struct {
	system, tools, reasoning, signatures, failed bool
	params                                       map[string]bool
}

// NewDeck reads the model calls of a tape, which must not change. form is what
// puts arguments in the form in which the session compares them.
func NewDeck(records []tape.Record, form func(json.RawMessage) (json.RawMessage, error)) *Deck {
	d := &Deck{form: form, byHash: map[[sha256.Size]byte][]int{}, bySeq: map[int]int{}, has: traits{params: map[string]bool{}}}
	for i := range records {
		if records[i].KindOf() == tape.KindModel {
			e := entry{record: &records[i], seq: records[i].Seq}
			if e.seq < 1 {
				e.seq = i + 1
			}
			d.bySeq[e.seq] = len(d.entries)
			d.entries = append(d.entries, e)
		}
	}
	for i := range d.entries {
		if c := d.read(&d.entries[i]); c != nil {
			d.entries[i].known = true
			d.has.add(c)
			d.tails = d.tails || c.tail()
		}
	}
	for i := range d.entries {
		if e := &d.entries[i]; e.known {
			e.hash = d.hash(d.read(e))
			d.byHash[e.hash] = append(d.byHash[e.hash], i)
		}
	}
	return d
}

// read is the request of a record, nil if it was not captured as one.
func (d *Deck) read(e *entry) *Conversation {
	if len(e.record.Args) == 0 {
		return nil
	}
	c, err := d.Read(e.record.Args)
	if err != nil || c.System == nil && c.Messages == nil {
		return nil
	}
	return c
}

// Read is arguments as the deck compares them.
func (d *Deck) Read(args json.RawMessage) (*Conversation, error) {
	formed, err := d.form(args)
	if err != nil {
		return nil, err
	}
	v, err := value.Parse(string(formed))
	if err != nil {
		return nil, err
	}
	return Read(v), nil
}

func (t *traits) add(c *Conversation) {
	t.system = t.system || len(c.System) > 0
	t.tools = t.tools || len(c.Tools) > 0
	for _, p := range c.Params {
		t.params[p.Name] = true
	}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			p := &c.Messages[i].Parts[k]
			t.failed = t.failed || p.Failed
			if p.Type == message.Reasoning {
				t.reasoning = true
				t.signatures = t.signatures || signature(p) != ""
			}
		}
	}
}

// tail reports a conversation that begins in the middle.
func (c *Conversation) tail() bool {
	called := map[string]bool{}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			switch p := &c.Messages[i].Parts[k]; p.Type {
			case message.ToolCall:
				called[p.ID] = true
			case message.ToolReply:
				if !called[p.ID] {
					return true
				}
			}
		}
	}
	return len(c.Messages) > 0 && c.Messages[0].Role == "assistant"
}

// Project leaves out of a live request what no record of the tape has, and names
// what it left out.
func (d *Deck) Project(c *Conversation) (out *Conversation, left []string) {
	skip := func(has, there bool, what string) bool {
		if !has && there && !slices.Contains(left, what) {
			left = append(left, what)
		}
		return !has && there
	}
	out = &Conversation{Input: c.Input, System: c.System, Tools: c.Tools}
	if skip(d.has.system, len(c.System) > 0, "system") {
		out.System = nil
	}
	if skip(d.has.tools, len(c.Tools) > 0, "tools") {
		out.Tools = nil
	}
	for _, p := range c.Params {
		if !skip(d.has.params[p.Name], true, "params."+p.Name) {
			out.Params = append(out.Params, p)
		}
	}
	slices.SortFunc(out.Params, func(a, b value.Member) int { return compareNames(a.Name, b.Name) })
	for i := range c.Messages {
		m := message.Message{Role: c.Messages[i].Role}
		for _, p := range c.Messages[i].Parts {
			if p.Type == message.Reasoning {
				if skip(d.has.reasoning, true, "messages: reasoning") {
					continue
				}
				if skip(d.has.signatures, signature(&p) != "", "messages: signatures of reasoning") {
					p.Raw = value.Value{}
				}
			}
			if skip(d.has.failed, p.Failed, "messages: whether a tool result is a failure") {
				p.Failed = false
			}
			m.Parts = append(m.Parts, p)
		}
		if len(m.Parts) > 0 {
			out.Messages = append(out.Messages, m)
		}
	}
	return out, left
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// hash is over what of a request is compared.
func (d *Deck) hash(c *Conversation) [sha256.Size]byte {
	c, _ = d.Project(c)
	// What was parsed before has a canonical form.
	text, _ := tape.Canonical(c.JSON())
	return sha256.Sum256(text)
}

// Match is a record that a request is.
type Match struct {
	// Record is nil where none is that request.
	Record *tape.Record
	// Left names what of the request was not compared.
	Left []string
	// Taken is set where all records that are that request have been taken;
	// Record is then the last of them.
	Taken bool
	at    int
}

// Find looks for the first record left that is one of the given readings of a
// request, and takes it. tail says that the request goes on from a response whose
// conversation the tape may not repeat.
func (d *Deck) Find(tail bool, readings ...*Conversation) Match {
	taken := -1
	for _, c := range readings {
		for _, i := range d.byHash[d.hash(c)] {
			if e := &d.entries[i]; !e.taken {
				e.taken = true
				_, left := d.Project(c)
				return Match{Record: e.record, Left: left, at: i}
			}
			taken = i
		}
	}
	scanned := 0
	for i := d.next(); i < len(d.entries) && scanned < maxScanned; i++ {
		e := &d.entries[i]
		if e.taken || !e.known {
			continue
		}
		scanned++
		recorded := d.read(e)
		for _, c := range readings {
			live, left := d.Project(c)
			if more, ok := partly(e.record, recorded, live, tail || d.tails); ok {
				e.taken = true
				return Match{Record: e.record, Left: append(left, more...), at: i}
			}
		}
	}
	if taken >= 0 {
		return Match{Record: d.entries[taken].record, Taken: true, at: taken}
	}
	return Match{at: -1}
}

// next is the first entry left.
func (d *Deck) next() int {
	for d.first < len(d.entries) && d.entries[d.first].taken {
		d.first++
	}
	return d.first
}

// Due is the first record left, nil if none is.
func (d *Deck) Due() *tape.Record {
	if i := d.next(); i < len(d.entries) {
		return d.entries[i].record
	}
	return nil
}

// Against is what of a live request is to be told against a record, where the tape
// holds the ends of conversations: as much of the end as the record has.
func (d *Deck) Against(r *tape.Record, c *Conversation) *Conversation {
	if !d.tails || len(r.Args) == 0 {
		return c
	}
	recorded, err := d.Read(r.Args)
	if err != nil || len(recorded.Messages) >= len(c.Messages) {
		return c
	}
	out := *c
	out.Messages = c.Messages[len(c.Messages)-len(recorded.Messages):]
	return &out
}

// Has reports whether a record is left that is a request, without taking it.
func (d *Deck) Has(c *Conversation) bool {
	return slices.ContainsFunc(d.byHash[d.hash(c)], func(i int) bool { return !d.entries[i].taken })
}

// Same are the records that are a request, taken or not.
func (d *Deck) Same(c *Conversation) (out []*tape.Record) {
	for _, i := range d.byHash[d.hash(c)] {
		out = append(out, d.entries[i].record)
	}
	return out
}

// Release gives back what [Deck.Find] took and the session did not.
func (d *Deck) Release(m Match) {
	if m.at >= 0 && !m.Taken {
		d.entries[m.at].taken = false
		d.first = min(d.first, m.at)
	}
}

// Take notes that the session took a record, by whoever's call.
func (d *Deck) Take(seq int) {
	if i, ok := d.bySeq[seq]; ok {
		d.entries[i].taken = true
	}
}
