// Package policy judges calls by rules that a team writes: whether a call may be
// made at all, and whether somebody must approve it first. Conditions are CEL
// expressions (https://cel.dev) over the call.
//
//	default: allow
//	rules:
//	  - name: refunds over 100
//	    tools: [refund_*]
//	    when: args.amount > 100.0 && caller.role != "manager"
//	    effect: approval
//	    message: a manager must approve this
//
// An expression sees tool and kind (strings), args and caller (the JSON of the
// call), side_effect (true, false, or null when nobody knows) and model (a
// string). What a recorded run was allowed to do is not among them: a recorded
// approval never counts.
//
// It promises that nothing but the call is looked at, that an expression costs a
// bounded number of steps, and that a doubt is never a permission: a rule that
// denies or wants an approval applies when its expression fails, such as for a
// member that is not there, and one that allows does not.
//
// Parsing compiles each expression once, a millisecond or so each; a decision costs
// one parse of the arguments and some microseconds a rule.
package policy

import (
	"errors"
	"fmt"
	"path"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"

	"github.com/tapedeck/tapedeck/internal/yamlfile"
	"github.com/tapedeck/tapedeck/tape"
)

// Effect is what a rule or a policy says of a call.
type Effect string

// The effects, the stronger one first: a call is denied if one rule says so.
const (
	Deny     Effect = "deny"
	Approval Effect = "approval"
	Allow    Effect = "allow"
)

// File is a policy as it is written.
type File struct {
	// Default is what holds where no rule says otherwise: allow, or deny. Allow
	// when empty.
	Default Effect `yaml:"default"`
	Rules   []Rule `yaml:"rules"`
}

// Rule judges the calls that it fits.
type Rule struct {
	Name string `yaml:"name"`
	// Tools are globs of tool names as in path.Match; any tool where there are
	// none.
	Tools []string `yaml:"tools"`
	// When is a CEL expression that gives true or false; true when empty.
	When   string `yaml:"when"`
	Effect Effect `yaml:"effect"`
	// Message says why, for people.
	Message string `yaml:"message"`
}

// Policy is a policy ready to judge. It is safe for concurrent use.
type Policy struct {
	otherwise Effect
	rules     []rule
}

type rule struct {
	Rule
	when cel.Program
}

// costLimit bounds the steps of one expression, in the units of CEL: more than
// any that a person would write, for arguments of any usual size.
const costLimit = 1_000_000

var environment = func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("tool", cel.StringType),
		cel.Variable("kind", cel.StringType),
		cel.Variable("model", cel.StringType),
		cel.Variable("args", cel.DynType),
		cel.Variable("caller", cel.DynType),
		cel.Variable("side_effect", cel.DynType),
		cel.CrossTypeNumericComparisons(true),
		ext.Strings(),
	)
}

// New compiles a policy. The error lists everything that is wrong, each a
// [*yamlfile.FieldError].
func New(f File) (*Policy, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	var faults []error
	add := func(at string, err error) { faults = append(faults, &yamlfile.FieldError{Path: at, Err: err}) }
	p := &Policy{otherwise: f.Default}
	switch f.Default {
	case "":
		p.otherwise = Allow
	case Allow, Deny:
	default:
		add("default", fmt.Errorf("%q is neither %q nor %q", f.Default, Allow, Deny))
	}
	for i, r := range f.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if r.Name == "" {
			add(at, errors.New("a rule needs a name"))
		}
		for j, glob := range r.Tools {
			if _, err := path.Match(glob, ""); err != nil || glob == "" {
				add(fmt.Sprintf("%s.tools[%d]", at, j), fmt.Errorf("%q is no pattern of names", glob))
			}
		}
		switch r.Effect {
		case Allow, Deny, Approval:
		default:
			add(at+".effect", fmt.Errorf("%q is none of %q", r.Effect, []Effect{Deny, Approval, Allow}))
		}
		when, err := compile(env, r.When)
		if err != nil {
			add(at+".when", err)
		}
		p.rules = append(p.rules, rule{r, when})
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return p, nil
}

// compile makes a program of an expression, nil for the empty one.
func compile(env *cel.Env, text string) (cel.Program, error) {
	if text == "" {
		return nil, nil
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		for _, e := range issues.Errors() {
			return nil, fmt.Errorf("column %d: %s", e.Location.Column()+1, e.Message)
		}
		return nil, err
	}
	if t := ast.OutputType(); t != cel.BoolType && t != cel.DynType {
		return nil, fmt.Errorf("gives %s, want true or false", t)
	}
	return env.Program(ast, cel.CostLimit(costLimit))
}

// Call is what a policy judges.
type Call struct {
	Kind tape.Kind
	Tool string
	// Args and Caller are JSON text, empty for null.
	Args, Caller []byte
	SideEffect   *bool
	Model        string
}

// CallOf is the call of a record.
func CallOf(r *tape.Record) Call {
	return Call{Kind: r.KindOf(), Tool: r.Tool, Args: r.Args, Caller: r.CallerContext, SideEffect: r.SideEffect, Model: r.Model}
}
