package otlpfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// envelope is what query APIs put around the traces they answer with: data, an
// array of traces or spans; result, of streamed answers; and trace.
type envelope struct{}

// maxEnvelopes bounds how many lie in one another.
const maxEnvelopes = 4

var envelopes = []string{"data", "result", "trace"}

func (envelope) claims(members []string) bool {
	return slices.ContainsFunc(envelopes, func(m string) bool { return slices.Contains(members, m) })
}

func (e envelope) decode(doc []byte) (*Document, error) { return e.open(doc, 1) }

func (e envelope) open(doc []byte, depth int) (*Document, error) {
	members := objectMembers(doc)
	d := newDocument("")
	found := 0
	for _, name := range envelopes {
		raw := members[name]
		one := func(inner json.RawMessage) error {
			found++
			return d.take(inner, depth)
		}
		switch {
		case !given(raw):
			continue
		case raw[0] == '[':
			if err := elements(name, raw, one); err != nil {
				return nil, err
			}
		default:
			if err := one(raw); err != nil {
				return nil, in(name, err)
			}
		}
	}
	if found == 0 {
		return nil, emptyAnswer(members)
	}
	return d, nil
}

// take reads one enclosed object and adds what it holds.
func (d *Document) take(inner json.RawMessage, depth int) error {
	if inner[0] != '{' {
		return fmt.Errorf("%w: want an object, found %s", ErrFormat, describe(inner[0]))
	}
	f := formatOf(inner)
	var got *Document
	var err error
	switch _, again := f.(envelope); {
	case f == nil:
		return refuse(memberNames(inner))
	case again && depth == maxEnvelopes:
		return fmt.Errorf("%w: more than %d answers inside one another", ErrFormat, maxEnvelopes)
	case again:
		got, err = envelope{}.open(inner, depth+1)
	default:
		got, err = f.decode(inner)
	}
	if err != nil {
		return err
	}
	if d.Format == "" {
		d.Format = got.Format
	}
	got.Traces.ResourceSpans().MoveAndAppendTo(d.Traces.ResourceSpans())
	got.Logs.ResourceLogs().MoveAndAppendTo(d.Logs.ResourceLogs())
	return nil
}

// emptyAnswer says what a query answered in place of a trace.
func emptyAnswer(members map[string]json.RawMessage) error {
	for _, name := range []string{"errors", "error", "message"} {
		if raw := members[name]; given(raw) && string(raw) != "[]" {
			return fmt.Errorf("%w: the answer of a query without a trace in it: %s", ErrFormat, clip(strings.Join(strings.Fields(string(raw)), " ")))
		}
	}
	return fmt.Errorf("%w: the answer of a query without a trace in it", ErrFormat)
}

// objectMembers are the members of a valid JSON object; the last of a name
// wins.
func objectMembers(doc []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	c := cursor{b: doc}
	for name := range c.object() {
		key := string(name)
		out[key] = c.raw()
	}
	return out
}
