package walk

import (
	"strconv"
	"strings"
)

// Path says where in a node the walk stands.
type Path struct {
	group string // "events", "links", "entity_refs" or ""
	index int    // in group
	field string
	steps []step
}

// step is one step inside a field: a member, or an element if index >= 0.
type step struct {
	name  string
	key   string
	index int
}

func (p *Path) push(s step) { p.steps = append(p.steps, s) }
func (p *Path) pop()        { p.steps = p.steps[:len(p.steps)-1] }
func (p *Path) top() *step  { return &p.steps[len(p.steps)-1] }

// Depth is 0 at a field, 1 at an attribute, and one more for each map or array
// around the value.
func (p *Path) Depth() int { return len(p.steps) }

// Field is the field of the node, its event or its link: "name",
// "status.message", "attributes", "body" and so on.
func (p *Path) Field() string { return p.field }

// Member is the name of the innermost step as it came in and as the visitor
// replaced it; ok is false at an array element and at a field.
func (p *Path) Member() (key, name string, ok bool) {
	if len(p.steps) == 0 || p.top().index >= 0 {
		return "", "", false
	}
	return p.top().key, p.top().name, true
}

// Attribute is the name of the attribute the walk is in, "" outside of
// attributes.
func (p *Path) Attribute() string {
	if p.field != "attributes" || len(p.steps) == 0 {
		return ""
	}
	return p.steps[0].key
}

// String is the path as text, such as
// "events[2].attributes.exception.message" or "attributes.tool.args.list[0]".
func (p *Path) String() string {
	var b strings.Builder
	if p.group != "" {
		b.WriteString(p.group)
		b.WriteByte('[')
		b.WriteString(strconv.Itoa(p.index))
		b.WriteString("].")
	}
	b.WriteString(p.field)
	for _, s := range p.steps {
		if s.index >= 0 {
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
			continue
		}
		b.WriteByte('.')
		b.WriteString(s.name)
	}
	return b.String()
}
