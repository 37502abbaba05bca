package dialect

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Fields name the attributes that fill the record members which no dialect has
// of its own. Of several present on one span the first named is taken.
type Fields struct {
	// Caller are the members of caller_context, such as "user", each with its
	// attributes. Like PromptVersion they are also looked for on the spans
	// above the call, the nearest first, and on the resource.
	Caller        map[string][]string
	PromptVersion []string
	// PolicyResult and ApprovalID belong to one call and are looked for on its
	// own span alone.
	PolicyResult []string
	ApprovalID   []string
}

// DefaultFields are the names of OpenTelemetry, OpenInference, Langfuse,
// LangSmith, OpenLLMetry and Vercel.
func DefaultFields() *Fields {
	return &Fields{
		Caller: map[string][]string{
			"user": {
				"user.id", "enduser.id", "langfuse.user.id", "langsmith.metadata.user_id",
				"traceloop.association.properties.user_id", "ai.telemetry.metadata.userId",
			},
			"tenant":      {"tenant.id", "organization.id", "enduser.organization.id"},
			"role":        {"user.roles", "enduser.role"},
			"permissions": {"enduser.scope"},
		},
		PromptVersion: []string{
			"gen_ai.prompt.version", "llm.prompt_template.version", "langfuse.observation.prompt.version",
			"langsmith.metadata.prompt_version", "traceloop.prompt.version", "ai.telemetry.metadata.promptVersion",
		},
		PolicyResult: []string{"policy.result", "gen_ai.tool.policy.result"},
		ApprovalID:   []string{"approval.id", "gen_ai.tool.approval.id"},
	}
}

// defaultFields is shared; nothing writes to it.
var defaultFields = DefaultFields()

// maxAncestors bounds how far above a call its context is looked for.
const maxAncestors = 64

// callContext is what fields found for one node and those above it.
type callContext struct {
	caller map[string]value.Value
	prompt string
}

// contextOf is the context of a node, from its span and those above.
func (r *run) contextOf(n *node) callContext {
	fields := r.opts.fields()
	out := callContext{caller: map[string]value.Value{}}
	var res pcommon.Resource
	for steps := 0; n != nil && steps < maxAncestors; steps++ {
		if n.Span == nil {
			n = n.near
			continue
		}
		res = n.Resource
		out.take(fields, n.Attributes())
		n = n.up
	}
	if res != (pcommon.Resource{}) {
		out.take(fields, res.Attributes())
	}
	return out
}

// take adds what is still unknown.
func (c *callContext) take(f *Fields, m pcommon.Map) {
	for name, keys := range f.Caller {
		if _, known := c.caller[name]; known {
			continue
		}
		for _, key := range keys {
			if v, ok := m.Get(key); ok && v.AsString() != "" {
				c.caller[name] = fromAttr(v)
				break
			}
		}
	}
	if c.prompt == "" {
		c.prompt = firstAttr(m, f.PromptVersion)
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

func firstAttr(m pcommon.Map, keys []string) string {
	for _, key := range keys {
		if v, ok := m.Get(key); ok && v.AsString() != "" {
			return v.AsString()
		}
	}
	return ""
}
