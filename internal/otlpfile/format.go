package otlpfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// jsonFormat is one kind of JSON document.
type jsonFormat interface {
	// claims reports whether an object with these members is of this kind. It
	// looks at names alone, so that a faulty document is still recognised and
	// its fault named.
	claims(members []string) bool
	// decode reads a valid JSON object. Errors about a place are *fault.
	decode(doc []byte) (*Document, error)
}

// jsonFormats are asked in order, most specific first.
var jsonFormats = []jsonFormat{
	otlpJSON{}, tempoJSON{}, goSpan{}, jsSpan{}, phoenixRow{}, pythonSpan{},
	jaegerJSON{}, langfuseTrace{}, langfuseObservation{},
}

// formatOf finds the format of an object, nil if it has none. Envelopes come
// last, because their members are common words.
func formatOf(doc []byte) jsonFormat {
	members := memberNames(doc)
	for _, f := range jsonFormats {
		if f.claims(members) {
			return f
		}
	}
	if (envelope{}).claims(members) {
		return envelope{}
	}
	return nil
}

// strangers are objects that people take for traces, and what to say then.
var strangers = []struct {
	members []string
	what    string
}{
	{[]string{"resourceMetrics"}, "OTLP metrics, which hold no calls"},
	{[]string{"tape"}, "a tape"},
	{[]string{"seq", "tool"}, "a tape record"},
}

func decodeJSON(doc []byte) (*Document, error) {
	if !json.Valid(doc) {
		return nil, syntaxFault(doc)
	}
	if f := formatOf(doc); f != nil {
		return f.decode(doc)
	}
	return nil, refuse(memberNames(doc))
}

// syntaxFault says where text stops being JSON.
func syntaxFault(doc []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(doc, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &fault{offset: int(syntax.Offset) - 1, err: fmt.Errorf("not valid JSON: %w", err)}
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// refuse names what a JSON object is that no format claims.
func refuse(members []string) error {
	if len(members) == 0 {
		return fmt.Errorf("%w: an object without members", ErrFormat)
	}
	for _, s := range strangers {
		if !slices.ContainsFunc(s.members, func(m string) bool { return !slices.Contains(members, m) }) {
			return fmt.Errorf("%w: %s", ErrFormat, s.what)
		}
	}
	const most = 5
	list := members[:min(len(members), most)]
	more := ""
	if len(members) > most {
		more = ", …"
	}
	return fmt.Errorf("%w: none that is known has the members %s%s",
		ErrFormat, clipAll(list), more)
}

func clipAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", clip(n))
	}
	return strings.Join(out, ", ")
}

// memberNames lists the members of a valid JSON object.
func memberNames(doc []byte) []string {
	var names []string
	c := cursor{b: doc}
	for name := range c.object() {
		names = append(names, string(name))
		c.skip()
	}
	return names
}
