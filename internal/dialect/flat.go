package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// unflatten rebuilds the value that an instrumentation spread over attributes
// of indexed names, such as llm.input_messages.0.message.role. It is one pass
// over the attributes; null if none has the prefix.
func unflatten(s *Span, prefix string) value.Value {
	if m := s.attrMemo(); m != nil {
		if v, ok := m.unflatten(s.Attributes(), prefix); ok {
			return v
		}
	}
	root := &flatNode{}
	for k, v := range s.Attributes().All() {
		if rest, ok := strings.CutPrefix(k, prefix); ok {
			root.put(rest, fromAttr(v))
		}
	}
	if root.names == nil {
		return value.Value{}
	}
	return root.value()
}

// flatNode is one level of an indexed name.
type flatNode struct {
	names []string
	next  map[string]*flatNode
	leaf  value.Value
}

func (n *flatNode) put(path string, v value.Value) {
	for range value.MaxDepth {
		name, rest, more := strings.Cut(path, ".")
		if n.next == nil {
			n.next = map[string]*flatNode{}
		}
		child := n.next[name]
		if child == nil {
			child = &flatNode{}
			n.next[name] = child
			n.names = append(n.names, name)
		}
		n = child
		if !more {
			break
		}
		path = rest
	}
	n.leaf = v
}

func (n *flatNode) value() value.Value {
	if n.names == nil {
		return n.leaf
	}
	if order, ok := n.indices(); ok {
		items := make([]value.Value, 0, len(order))
		for _, name := range order {
			items = append(items, n.next[name].value())
		}
		return value.List(items...)
	}
	members := make([]value.Member, 0, len(n.names))
	for _, name := range n.names {
		members = append(members, value.M(name, n.next[name].value()))
	}
	return value.Obj(members...)
}

// indices are the names in numeric order, if all are numbers. Gaps close: an
// instrumentation may leave out what it has no content for.
func (n *flatNode) indices() ([]string, bool) {
	for _, name := range n.names {
		if _, err := strconv.ParseUint(name, 10, 32); err != nil {
			return nil, false
		}
	}
	order := slices.Clone(n.names)
	slices.SortFunc(order, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return order, true
}
