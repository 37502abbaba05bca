package httptape

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/tapedeck/tapedeck/tape"
)

// Deck holds the HTTP exchanges of a tape. It is safe for concurrent use.
type Deck struct {
	mu       sync.Mutex
	byPlace  map[place][]*entry
	byHost   map[string][]*entry
	bySeq    map[int]*entry
	redacted func(json.RawMessage) (json.RawMessage, error)
}

type place struct{ method, url string }

type entry struct {
	record *tape.Record
	call   Call
	taken  bool
}

// Match is what a deck has for a request. Exactly one of its uses applies: a record
// that the request is, one that is due at its host, or neither.
type Match struct {
	// Known: the tape has exchanges with the host.
	Known bool
	// Tool and Args ask the session for the record, in its own words, or else say
	// what was asked for, in the words of the record that is due.
	Tool string
	Args json.RawMessage
	// Like is the seq of the record that is due, 0 for none.
	Like int
	// Found: there is a record that the request is, taken or not.
	Found bool
	entry *entry
}

// NewDeck takes the HTTP exchanges among records. Redacted redacts arguments, those
// of records (again) and those of requests.
func NewDeck(records []tape.Record, redacted func(json.RawMessage) (json.RawMessage, error)) *Deck {
	d := &Deck{byPlace: map[place][]*entry{}, byHost: map[string][]*entry{}, bySeq: map[int]*entry{}, redacted: redacted}
	for i := range records {
		r := &records[i]
		if r.KindOf() != tape.KindTool || !bytes.Contains(r.Args, []byte(`"url"`)) || !isExchange(r) {
			continue
		}
		args, err := redacted(r.Args)
		if err != nil {
			continue
		}
		call, ok := ReadCall(args)
		if !ok {
			continue
		}
		e := &entry{record: r, call: call}
		at := place{call.Method, call.URL}
		d.byPlace[at] = append(d.byPlace[at], e)
		d.byHost[call.Host] = append(d.byHost[call.Host], e)
		d.bySeq[r.Seq] = e
	}
	return d
}

// isExchange tells the record of an exchange from that of a tool that merely takes a
// method and a URL: its result has a status, or it has none that could tell.
func isExchange(r *tape.Record) bool {
	if len(r.Result) == 0 || string(r.Result) == "null" {
		return r.Tool == Tool || r.Failed() || len(r.Bodies) > 0 || strings.HasPrefix(strings.ToLower(r.Tool), "http")
	}
	_, err := ReadResponse(r.Result)
	return err == nil
}

// Find looks for the record that a request with the arguments is, and reserves it
// until [Deck.Settle].
func (d *Deck) Find(args json.RawMessage) (Match, error) {
	redacted, err := d.redacted(args)
	if err != nil {
		return Match{}, err
	}
	live, ok := ReadCall(redacted)
	if !ok {
		return Match{Tool: Tool, Args: args}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := Match{Tool: Tool, Known: len(d.byHost[live.Host]) > 0, Args: args}
	var found *entry
	for _, e := range d.byPlace[place{live.Method, live.URL}] {
		if e.call.is(&live) {
			found = e
			if !e.taken {
				break
			}
		}
	}
	if found != nil {
		m.Found, m.Tool, m.Args = true, found.record.Tool, found.record.Args
		if !found.taken {
			found.taken, m.entry = true, found
		}
		return m, nil
	}
	if due := d.due(&live); due != nil {
		m.Tool, m.Args, m.Like = due.record.Tool, due.call.words(args), due.record.Seq
	}
	return m, nil
}

// due is the record that a request that is none may have been meant as: one with its
// URL but for the query, else of its path, else of its host; the first that is left.
func (d *Deck) due(live *Call) *entry {
	list := d.byHost[live.Host]
	for _, near := range []func(*Call) bool{
		func(c *Call) bool { return c.Path == live.Path && c.Method == live.Method },
		func(c *Call) bool { return c.Path == live.Path },
		func(*Call) bool { return true },
	} {
		if i := slices.IndexFunc(list, func(e *entry) bool { return !e.taken && near(&e.call) }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// words are the arguments of a live request with those headers only that a recorded
// one has, so that nothing is named as a difference that is none.
func (c *Call) words(args json.RawMessage) json.RawMessage {
	var live map[string]json.RawMessage
	var headers map[string]json.RawMessage
	if json.Unmarshal(args, &live) != nil || json.Unmarshal(live["headers"], &headers) != nil {
		return args
	}
	for name := range headers {
		if _, ok := c.headers[strings.ToLower(name)]; !ok {
			delete(headers, name)
		}
	}
	delete(live, "headers")
	if len(headers) > 0 {
		text, err := json.Marshal(headers)
		if err != nil {
			return args
		}
		live["headers"] = text
	}
	text, err := json.Marshal(live)
	if err != nil {
		return args
	}
	return text
}

// Settle tells what the session made of a match: the record that answered, or that
// it was used up with; 0 for none.
func (d *Deck) Settle(m Match, seq int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.entry != nil && m.entry.record.Seq != seq {
		m.entry.taken = false
	}
	if e := d.bySeq[seq]; e != nil {
		e.taken = true
	}
}
