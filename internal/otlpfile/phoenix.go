package otlpfile

import (
	"slices"
	"strings"
)

// phoenixRow is a row of a Phoenix data frame written as JSON: the members of a
// span with the path to them as their names.
type phoenixRow struct{}

func (phoenixRow) claims(members []string) bool { return slices.Contains(members, "context.trace_id") }

func (phoenixRow) decode(doc []byte) (*Document, error) {
	var s pythonSpanJSON
	if err := read(doc, &s); err != nil {
		return nil, err
	}
	d := newDocument("Phoenix data frame")
	_, scope := d.newScope()
	span := scope.Spans().AppendEmpty()
	c := cursor{b: doc}
	for name := range c.object() {
		member := string(name)
		raw := c.raw()
		key, attribute := strings.CutPrefix(member, "attributes.")
		switch {
		case member == "context.trace_id":
			s.Context.TraceID = raw
		case member == "context.span_id":
			s.Context.SpanID = raw
		case attribute:
			flattenInto(span.Attributes(), key, raw, 0)
		}
	}
	return d, s.put(span)
}
