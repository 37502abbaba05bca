package dialect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// InBandRule says of some results of some tools that they are failures although
// nothing else shows it, or that they are none although they look like one. It
// looks at how a text begins, at a member, or at nothing but the tool:
//
//	{tool: "shell*", member: "exit_code", not_equals: "0", message: "stderr"}
//	{prefix: "Error:"}
//	{tool: "get_job", ok: true}
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
	// OK makes the results that fit no failures: neither a later rule nor a sign
	// is asked. It never undoes what the span itself says, such as its status.
	OK bool `mapstructure:"ok"`
}

// Validate says why a rule can never work.
func (r *InBandRule) Validate() error {
	if r.Tool != "" {
		if err := checkGlob(r.Tool); err != nil {
			return fmt.Errorf("tool: %w", err)
		}
	}
	switch {
	case r.OK && r.Message != "":
		return errors.New("has a message, but ok: true is no failure")
	case r.Prefix == "" && r.Member == "" && r.OK && r.Tool == "":
		return errors.New("fits every result: name a tool, a prefix or a member, or take the signs out of in_band_signs")
	case r.Prefix == "" && r.Member == "" && !r.OK:
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

// fits reports whether the rule speaks of the tool's result, and the member that
// shows it.
func (r *InBandRule) fits(tool string, c Content) (shown value.Value, fits bool) {
	switch {
	case r.Tool != "" && !matches(r.Tool, tool):
		return value.Value{}, false
	case r.Prefix != "":
		text := strings.TrimSpace(c.Value.Str())
		return value.Value{}, text != "" && strings.HasPrefix(text, r.Prefix)
	case r.Member == "":
		return value.Value{}, true
	}
	m, ok := follow(c.Value, r.Member)
	return m, ok && r.tells(m)
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

// inBand is the failure that a result of a tool tells by itself, nil for none:
// by the first rule that fits, else by one of the signs.
func (c *Config) inBand(tool string, result Content) *Failure {
	if result.Body == nil && (result.Grade == Exact || result.Grade == Rebuilt) {
		for i := range c.InBand {
			r := &c.InBand[i]
			shown, fits := r.fits(tool, result)
			switch {
			case !fits:
				continue
			case r.OK:
				return nil
			}
			f := &Failure{Message: r.message(result), Evidence: "result"}
			if shown.Kind() == value.Number || shown.Kind() == value.String {
				f.Code = shown.Text()
			}
			return f
		}
	}
	return bySign(c.InBandSigns, result)
}

// judge adds what the result of a tool call tells to what is known of its failure.
func (c *Config) judge(f *Failure, call *Call) *Failure {
	// A framework that says the call went well has seen the result itself.
	if !call.OK || !call.Result.FromMessages {
		f = f.merge(c.inBand(call.Tool, call.Result))
	}
	if f != nil && f.Message == "" {
		out := *f
		out.Message = textOf(call.Result)
		f = &out
	}
	return f
}

// judgeResults judges the results of tool calls, once it is known which result
// and which name each call has.
func (r *run) judgeResults() {
	config := r.opts.config()
	for _, n := range r.nodes {
		if n.kind == KindTool {
			n.fail = config.judge(n.fail, n.call)
		}
	}
}
