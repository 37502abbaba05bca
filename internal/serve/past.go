package serve

import (
	"slices"
	"sync"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
)

// What bounds the responses that are kept for requests that go on from them; the
// oldest go first.
const (
	maxPast      = 4096
	maxPastBytes = 32 << 20
)

// past holds the conversations of the responses that were served, for clients
// that name the last response in place of repeating what was said.
type past struct {
	mu     sync.Mutex
	byID   map[string]*spoken
	order  []string
	bytes  int
	byItem map[string]message.Message
}

// spoken is a conversation up to a response. It shares what came before it.
type spoken struct {
	before *spoken
	said   []message.Message
	items  []string
	bytes  int
}

func newPast() *past {
	return &past{byID: map[string]*spoken{}, byItem: map[string]message.Message{}}
}

// keep notes a response that was served, under its id, and its items under theirs.
// Not one that the client asked not to store.
func (p *past) keep(q *llm.Request, body value.Value) {
	id, size := body.At("id").Str(), len(q.Args())
	if store := q.Body.At("store"); !store.IsNull() && !store.Truthy() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[id] != nil {
		return
	}
	output := body.At("output")
	ms := message.Read(output)
	s := &spoken{before: p.byID[q.Previous], said: slices.Concat(q.Messages, ms)}
	for i, item := range output.Items() {
		if item := item.At("id").Str(); item != "" && len(ms) == output.Len() {
			p.byItem[item] = ms[i]
			s.items = append(s.items, item)
		}
	}
	s.bytes = size
	p.byID[id] = s
	p.order, p.bytes = append(p.order, id), p.bytes+size
	for len(p.order) > 1 && (len(p.order) > maxPast || p.bytes > maxPastBytes) {
		oldest := p.byID[p.order[0]]
		for _, item := range oldest.items {
			delete(p.byItem, item)
		}
		delete(p.byID, p.order[0])
		p.order, p.bytes = p.order[1:], p.bytes-oldest.bytes
	}
}

// expand is the whole conversation of a request: what was said before the
// response that it goes on from, and items that it only names.
func (p *past) expand(q *llm.Request) []message.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	var turns [][]message.Message
	for s := p.byID[q.Previous]; s != nil; s = s.before {
		turns = append(turns, s.said)
	}
	slices.Reverse(turns)
	out := slices.Clone(slices.Concat(append(turns, q.Messages)...))
	for i := range out {
		parts := out[i].Parts
		if len(parts) == 1 && parts[0].Type == message.Other && parts[0].Raw.At("type").Str() == "item_reference" {
			if m, ok := p.byItem[parts[0].Raw.At("id").Str()]; ok {
				out[i] = m
			}
		}
	}
	return out
}
