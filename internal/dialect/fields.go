package dialect

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// maxAncestors bounds how far above a call its context is looked for.
const maxAncestors = 64

// callContext is what fields found for one node and those above it.
type callContext struct {
	caller map[string]value.Value
	prompt string
}

// contextOf is the context of a node, from its span and those above. What is above
// is looked for once for all calls beside each other.
func (r *run) contextOf(n *node) callContext {
	own := callContext{}
	if n.Span != nil {
		own.take(r.opts.config(), n.Attributes())
	}
	up := n.next()
	if up == nil {
		if n.Span != nil {
			own.take(r.opts.config(), n.Resource.Attributes())
		}
		return own
	}
	above, known := r.above[up]
	if !known {
		above = r.contextFrom(up, maxAncestors-1)
		if r.above == nil {
			r.above = map[*node]callContext{}
		}
		r.above[up] = above
	}
	return own.under(above)
}

// contextFrom is the context of a node from that many spans, itself the first.
func (r *run) contextFrom(n *node, steps int) callContext {
	config := r.opts.config()
	out := callContext{}
	var res pcommon.Resource
	for ; n != nil && steps > 0; steps-- {
		if n.Span != nil {
			res = n.Resource
			out.take(config, n.Attributes())
		}
		n = n.next()
	}
	if res != (pcommon.Resource{}) {
		out.take(config, res.Attributes())
	}
	return out
}

// next is where the context of a node goes on.
func (n *node) next() *node {
	switch {
	case n.Span != nil:
		return n.up
	case n.on != nil:
		return n.on
	}
	return n.near
}

// under is the context with what one above it knows more.
func (c callContext) under(above callContext) callContext {
	pick(&c.prompt, above.prompt)
	if c.caller == nil {
		c.caller = above.caller
		return c
	}
	for name, v := range above.caller {
		if _, known := c.caller[name]; !known {
			c.caller[name] = v
		}
	}
	return c
}

// take adds what is still unknown.
func (c *callContext) take(f *Config, m pcommon.Map) {
	for name, keys := range f.Caller {
		if _, known := c.caller[name]; known {
			continue
		}
		for _, key := range keys {
			if v := fieldOf(m, key); !v.IsNull() {
				if c.caller == nil {
					c.caller = map[string]value.Value{}
				}
				c.caller[name] = v
				break
			}
		}
	}
	if c.prompt == "" {
		c.prompt = firstField(m, f.PromptVersion)
	}
}

// callerJSON is caller_context with its members sorted, nil without any.
func (c *callContext) callerJSON() []byte {
	if len(c.caller) == 0 {
		return nil
	}
	members := make([]value.Member, 0, len(c.caller))
	for name, v := range c.caller {
		members = append(members, value.M(name, v))
	}
	slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
	return value.Obj(members...).Append(nil)
}

// fieldOf is the attribute of that name, or the member of the JSON attribute
// metadata; null for none and for an empty text.
func fieldOf(m pcommon.Map, key string) value.Value {
	if v, ok := m.Get(key); ok {
		if v.AsString() == "" {
			return value.Value{}
		}
		return fromAttr(v)
	}
	name, ok := strings.CutPrefix(key, "metadata.")
	if !ok {
		return value.Value{}
	}
	if v, ok := m.Get("metadata"); ok {
		found := parsed(fromAttr(v)).At(name)
		if found.Kind() == value.String && found.Str() == "" {
			return value.Value{}
		}
		return found
	}
	return value.Value{}
}

func firstField(m pcommon.Map, keys []string) string {
	for _, key := range keys {
		if v := fieldOf(m, key); !v.IsNull() {
			return scalarText(v)
		}
	}
	return ""
}

// ownFields fills what belongs to one call alone.
func (r *run) ownFields(n *node, rec *tape.Record) {
	config := r.opts.config()
	if n.Span != nil {
		m := n.Attributes()
		rec.PolicyResult = firstField(m, config.PolicyResult)
		rec.ApprovalID = firstField(m, config.ApprovalID)
		for _, key := range config.SideEffect {
			if effect, ok := truth(fieldOf(m, key)); ok {
				rec.SideEffect = &effect
				return
			}
		}
	}
	if rec.SideEffect == nil && n.kind == KindTool {
		rec.SideEffect = config.Tools.sideEffect(n.call.Tool)
	}
}

// truth is a boolean, or the text of one.
func truth(v value.Value) (is, ok bool) {
	switch v.Text() {
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	}
	return false, false
}
