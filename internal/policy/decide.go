package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
)

// Decision is what a policy says of a call.
type Decision struct {
	Effect Effect `json:"effect"`
	// Rules are those that fit and say so; none where the default holds.
	Rules []Reason `json:"rules,omitempty"`
}

// Reason is a rule that fits a call.
type Reason struct {
	Rule    string `json:"rule"`
	Message string `json:"message,omitempty"`
	// Doubt is set when the rule could not be decided, and why.
	Doubt string `json:"doubt,omitempty"`
}

// Decide judges a call. The error says that the call itself cannot be read.
func (p *Policy) Decide(c Call) (Decision, error) {
	seen, err := c.variables()
	if err != nil {
		return Decision{}, err
	}
	fits := map[Effect][]Reason{}
	for i := range p.rules {
		r := &p.rules[i]
		if !r.isOf(c.Tool) {
			continue
		}
		yes, doubt := r.holds(seen)
		if doubt != "" {
			yes = r.Effect != Allow
		}
		if yes {
			fits[r.Effect] = append(fits[r.Effect], Reason{r.Name, r.Message, doubt})
		}
	}
	for _, effect := range []Effect{Deny, Approval, Allow} {
		if len(fits[effect]) > 0 {
			return Decision{effect, fits[effect]}, nil
		}
	}
	return Decision{Effect: p.otherwise}, nil
}

func (r *rule) isOf(tool string) bool {
	return len(r.Tools) == 0 || slices.ContainsFunc(r.Tools, func(glob string) bool {
		ok, _ := path.Match(glob, tool)
		return ok
	})
}

// holds evaluates a rule, or says why that is not possible.
func (r *rule) holds(seen map[string]any) (yes bool, doubt string) {
	if r.when == nil {
		return true, ""
	}
	value, _, err := r.when.Eval(seen)
	if err != nil {
		return false, err.Error()
	}
	yes, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Sprintf("the expression gives %v, want true or false", value.Type())
	}
	return yes, ""
}

func (c *Call) variables() (map[string]any, error) {
	args, err := decode(c.Args)
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	caller, err := decode(c.Caller)
	if err != nil {
		return nil, fmt.Errorf("caller context: %w", err)
	}
	var effect any
	if c.SideEffect != nil {
		effect = *c.SideEffect
	}
	return map[string]any{
		"tool": c.Tool, "kind": string(c.Kind), "model": c.Model,
		"args": args, "caller": caller, "side_effect": effect,
	}, nil
}

// decode reads JSON with whole numbers as such, so that an amount of 100 is an
// int to an expression and keeps all its digits.
func decode(text []byte) (any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one JSON value")
	}
	return numbers(v), nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = numbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		// One that is out of range is infinite.
		f, _ := v.Float64()
		return f
	}
	return v
}
