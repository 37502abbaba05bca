package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

const refunds = `
default: allow
rules:
  - name: small refunds
    tools: ["refund_*"]
    when: args.amount <= 100
    effect: allow
  - name: large refunds
    tools: ["refund_*"]
    when: args.amount > 100 && caller.role != "manager"
    effect: approval
    message: a manager must approve this
  - name: no writes for guests
    when: side_effect != false && has(caller.role) && caller.role == "guest"
    effect: deny
`

func parse(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := Parse([]byte(text))
	require.NoError(t, err)
	return p
}

func TestDecide(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		call Call
		want Effect
		rule string
	}{
		"the default":                {Call{Tool: "search", Args: []byte(`{}`), Caller: []byte(`{}`)}, Allow, ""},
		"a rule that allows":         {Call{Tool: "refund_card", Args: []byte(`{"amount":100}`), Caller: []byte(`{}`)}, Allow, "small refunds"},
		"a whole number and a float": {Call{Tool: "refund_card", Args: []byte(`{"amount":100.5}`), Caller: []byte(`{"role":"clerk"}`)}, Approval, "large refunds"},
		"for whom it does not apply": {Call{Tool: "refund_card", Args: []byte(`{"amount":200}`), Caller: []byte(`{"role":"manager"}`)}, Allow, ""},
		"deny is stronger":           {Call{Tool: "refund_card", Args: []byte(`{"amount":200}`), Caller: []byte(`{"role":"guest"}`)}, Deny, "no writes for guests"},
		"a known side effect":        {Call{Tool: "send", Args: []byte(`{}`), Caller: []byte(`{"role":"guest"}`), SideEffect: &yes}, Deny, "no writes for guests"},
		"known to have none":         {Call{Tool: "read", Args: []byte(`{}`), Caller: []byte(`{"role":"guest"}`), SideEffect: &no}, Allow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parse(t, refunds).Decide(c.call)
			require.NoError(t, err)
			assert.Equal(t, c.want, d.Effect)
			if c.rule == "" {
				assert.Empty(t, d.Rules)
			} else {
				require.NotEmpty(t, d.Rules)
				assert.Equal(t, c.rule, d.Rules[0].Rule)
			}
		})
	}
}

// A member that is not there leaves a rule undecided: what would allow does not
// then, and what would hold the call back does.
func TestADoubtIsNoPermission(t *testing.T) {
	p := parse(t, refunds)
	d, err := p.Decide(Call{Tool: "refund_card", Args: []byte(`{}`), Caller: []byte(`{}`)})
	require.NoError(t, err)
	assert.Equal(t, Approval, d.Effect)
	assert.Contains(t, d.Rules[0].Doubt, "no such key: amount")

	p = parse(t, "default: deny\nrules: [{name: a, when: args.ok, effect: allow}]")
	for args, want := range map[string]Effect{`{"ok":true}`: Allow, `{"ok":false}`: Deny, `{"ok":"yes"}`: Deny, `{}`: Deny, `null`: Deny, ``: Deny} {
		d, err := p.Decide(Call{Tool: "t", Args: []byte(args)})
		require.NoError(t, err)
		assert.Equal(t, want, d.Effect, args)
	}
}

// An expression that would run for hours is undecided.
func TestAnExpressionCostsABoundedNumberOfSteps(t *testing.T) {
	p := parse(t, `rules: [{name: long, effect: deny, when: 'args.all(a, args.all(b, args.all(c, a + b + c >= 0)))'}]`)
	args := []byte("[0")
	for range 1000 {
		args = append(args, ",1"...)
	}
	d, err := p.Decide(Call{Tool: "t", Args: append(args, ']')})
	require.NoError(t, err)
	assert.Equal(t, Deny, d.Effect)
	assert.Contains(t, d.Rules[0].Doubt, "cost limit")
}

func TestFaultsNameThePlace(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an effect":      {"rules:\n- name: a\n  effect: refuse\n", `line 3: rules[0].effect: "refuse" is none of ["deny" "approval" "allow"]`},
		"a default":      {"default: approval\n", `line 1: default: "approval" is neither "allow" nor "deny"`},
		"no name":        {"rules:\n- effect: deny\n", `line 2: rules[0]: a rule needs a name`},
		"an expression":  {"rules:\n- name: a\n  effect: deny\n  when: tool ==\n", `line 4: rules[0].when: column 8: Syntax error`},
		"a misspelt one": {"rules:\n- name: a\n  effect: deny\n  when: tol == 'a'\n", `line 4: rules[0].when: column 1: undeclared reference to 'tol'`},
		"a number":       {"rules:\n- name: a\n  effect: deny\n  when: size(tool)\n", `line 4: rules[0].when: gives int, want true or false`},
		"a pattern":      {"rules:\n- name: a\n  effect: deny\n  tools: ['[']\n", `line 4: rules[0].tools[0]: "[" is no pattern of names`},
		"a field":        {"rules:\n- nam: a\n", `line 2: field nam not found`},
		"nothing":        {"", "there is nothing in it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	p := parse(t, refunds)
	_, err := p.Decide(Call{Tool: "t", Args: []byte(`{"a"`)})
	require.ErrorContains(t, err, "arguments: ")
	_, err = p.Decide(Call{Tool: "t", Caller: []byte(`{} {}`)})
	require.ErrorContains(t, err, "caller context: more than one JSON value")
}

func TestCallOfLeavesTheApprovalOut(t *testing.T) {
	c := CallOf(&tape.Record{Tool: "t", ApprovalID: "a-1", Args: []byte(`{}`)})
	assert.Equal(t, Call{Kind: tape.KindTool, Tool: "t", Args: []byte(`{}`)}, c)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(refunds))
	f.Add([]byte("rules: [{name: a, effect: deny, when: 'args[0]'}]"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if p, err := Parse(text); err == nil {
			_, _ = p.Decide(Call{Tool: "t", Args: []byte(`{"a":[1]}`)})
		}
	})
}
