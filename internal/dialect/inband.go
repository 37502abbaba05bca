package dialect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// InBandRule says that some results of some tools are failures, although
// nothing else shows it. It looks either at how a text begins or at a member:
//
//	{tool: "shell*", member: "exit_code", not_equals: "0", message: "stderr"}
//	{prefix: "Error:"}
//
// A result that was cut, hidden or moved out is never judged.
type InBandRule struct {
	// Tool is a glob over tool names, as path.Match has it; "" is every tool.
	Tool string `mapstructure:"tool"`
	// Prefix begins the text of a failed result, white space aside.
	Prefix string `mapstructure:"prefix"`
	// Member is the dotted path of the member that tells. Without Equals and
	// NotEquals it tells of a failure when it is truthy. A result without the
	// member is no failure.
	Member string `mapstructure:"member"`
	// Equals and NotEquals compare the member's text: 0, "0" and the member 0
	// are the same here.
	Equals    *string `mapstructure:"equals"`
	NotEquals *string `mapstructure:"not_equals"`
	// Message is the dotted path of the member that says what went wrong; the
	// whole result without it.
	Message string `mapstructure:"message"`
}

// Validate says why a rule can never work.
func (r *InBandRule) Validate() error {
	if r.Tool != "" {
		if err := checkGlob(r.Tool); err != nil {
			return fmt.Errorf("tool: %w", err)
		}
	}
	switch {
	case r.Prefix == "" && r.Member == "":
		return errors.New("needs a prefix or a member")
	case r.Prefix != "" && r.Member != "":
		return errors.New("has both a prefix and a member: make two rules of it")
	case r.Member == "" && (r.Equals != nil || r.NotEquals != nil):
		return errors.New("equals and not_equals need a member")
	case r.Equals != nil && r.NotEquals != nil:
		return errors.New("has both equals and not_equals")
	}
	return nil
}

// failure is the failure of the tool's result by this rule, nil for none.
func (r *InBandRule) failure(tool string, c Content) *Failure {
	if c.Body != nil || c.Grade != Exact && c.Grade != Rebuilt || r.Tool != "" && !matches(r.Tool, tool) {
		return nil
	}
	if r.Prefix != "" {
		text := strings.TrimSpace(c.Value.Str())
		if text == "" || !strings.HasPrefix(text, r.Prefix) {
			return nil
		}
		return &Failure{Message: r.message(c), Evidence: "result"}
	}
	m, ok := follow(c.Value, r.Member)
	if !ok || !r.tells(m) {
		return nil
	}
	f := &Failure{Message: r.message(c), Evidence: "result"}
	if m.Kind() == value.Number || m.Kind() == value.String {
		f.Code = m.Text()
	}
	return f
}

func (r *InBandRule) tells(m value.Value) bool {
	switch {
	case r.Equals != nil:
		return scalarText(m) == *r.Equals
	case r.NotEquals != nil:
		return scalarText(m) != *r.NotEquals
	}
	return m.Truthy()
}

func (r *InBandRule) message(c Content) string {
	if m, ok := follow(c.Value, r.Message); ok && r.Message != "" {
		if text := strings.TrimSpace(scalarText(m)); text != "" && !m.IsNull() {
			return text
		}
	}
	return strings.TrimSpace(textOf(c))
}

// scalarText is a scalar as text, "" for null, anything else as JSON.
func scalarText(v value.Value) string {
	switch v.Kind() {
	case value.Null:
		return ""
	case value.String, value.Number, value.Bool:
		return v.Text()
	}
	return v.JSON()
}

// follow is the value at a dotted path of members.
func follow(v value.Value, path string) (value.Value, bool) {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		m, ok := v.Get(name)
		if !ok {
			return value.Value{}, false
		}
		v, path = m, rest
	}
	return v, true
}

// judgeResults applies the configured rules to the tool calls that have not
// failed otherwise.
func (r *run) judgeResults() {
	rules := r.opts.config().InBand
	if len(rules) == 0 {
		return
	}
	for _, n := range r.nodes {
		if n.kind == KindTool && n.fail == nil {
			n.fail = inBandBy(rules, n.call)
		}
	}
}

func inBandBy(rules []InBandRule, c *Call) *Failure {
	for i := range rules {
		if f := rules[i].failure(c.Tool, c.Result); f != nil {
			return f
		}
	}
	return nil
}
