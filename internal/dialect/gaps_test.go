package dialect

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// The SDK never ends the spans of a tool and a workflow that throw; content is
// on, so its switch is no advice.
func TestALostSpanIsNotBlamedOnTheContentSwitch(t *testing.T) {
	td, ld := recording(t, "traceloop_openai_tools_C")
	m := TranslateWithLogs(td, ld, Options{})[0].Manifest
	require.Len(t, m.Gaps, 2)
	assert.Equal(t, tape.Gap{Seq: 5, What: "result", Why: Unanswered}, m.Gaps[0])
	assert.Equal(t, "root", m.Gaps[1].What)
	assert.Contains(t, m.Gaps[1].Fix, "end the root span")
}

// A model call that is a trace of its own has its answers in the next trace.
func TestARunOfManyTracesIsAdvisedToBeOne(t *testing.T) {
	td, ld := recording(t, "plain_oi_openai_chat_noroot_B")
	gaps := 0
	for _, tp := range TranslateWithLogs(td, ld, Options{}) {
		for _, g := range tp.Manifest.Gaps {
			assert.Equal(t, tape.Gap{Seq: g.Seq, What: "result", Why: Unanswered, Fix: aloneFix}, g)
			gaps++
		}
	}
	assert.Equal(t, 3, gaps)
}

// What no switch can bring has a reason and no advice.
func TestNoAdviceIsBetterThanAdviceThatMendsNothing(t *testing.T) {
	for _, name := range []string{"cagent", "codex", "autogen_core", "fastmcp"} {
		td, ld := recording(t, name)
		gaps := 0
		for _, g := range TranslateWithLogs(td, ld, Options{})[0].Manifest.Gaps {
			if g.What == "args" || g.What == "result" {
				assert.Empty(t, g.Fix, name)
				assert.Regexp(t, "no content|no switch|does not record", g.Why, name)
				gaps++
			}
		}
		assert.Positive(t, gaps, name)
	}
}

func TestGapsNameTheSwitchThatMendsThem(t *testing.T) {
	const capture = genAIFix
	args := attrs{"gen_ai.tool.call.arguments": "{}"}
	whole := okTool(9, 1, 1, 2)
	dropped := tool(2, 1, 3, 4, "x", nil)
	dropped.dropped = 12
	cut := tool(2, 1, 3, 4, "x", attrs{"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": `{"a":`})
	limited := cut
	limited.dropped = 1
	marked := tool(2, 1, 3, 4, "x", attrs{"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": `{"a":1...[TRUNCATED: original length 20000]`})
	for name, c := range map[string]struct {
		spans []sp
		want  []tape.Gap
	}{
		"content is off": {[]sp{tool(2, 1, 3, 4, "x", nil)}, []tape.Gap{
			{Seq: 1, What: "args", Why: "not captured", Fix: capture}, {Seq: 1, What: "result", Why: "not captured", Fix: capture},
		}},
		"only results are off": {[]sp{tool(2, 1, 3, 4, "x", args)}, []tape.Gap{{Seq: 1, What: "result", Why: "not captured", Fix: capture}}},
		"content is on":        {[]sp{whole, tool(2, 1, 3, 4, "x", args)}, []tape.Gap{{Seq: 2, What: "result", Why: "not captured"}}},
		"attributes dropped":   {[]sp{dropped}, []tape.Gap{{Seq: 1, What: "args", Why: whyDropped, Fix: countFix}, {Seq: 1, What: "result", Why: whyDropped, Fix: countFix}}},
		"text cut":             {[]sp{cut}, []tape.Gap{{Seq: 1, What: "result", Why: whyInside, Fix: lengthFix}}},
		"text cut at a limit":  {[]sp{limited}, []tape.Gap{{Seq: 1, What: "result", Why: whyCut, Fix: lengthFix}}},
		"cut by the framework": {[]sp{marked}, []tape.Gap{{Seq: 1, What: "result", Why: "cut by the instrumentation (...[TRUNCATED)"}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, one(t, append([]sp{agentSpan(1, 0, 10)}, c.spans...)...).Manifest.Gaps)
		})
	}
}

func TestHolesInTheTreeAreNamed(t *testing.T) {
	rootless := tape.Gap{What: "root", Why: "no root span was seen", Fix: rootFix}
	holes := tape.Gap{What: "span", Why: whyHoles, Fix: holesFix}
	lost := agentSpan(1, 0, 10)
	lost.up = 40
	for name, c := range map[string]struct {
		spans []sp
		want  []tape.Gap
	}{
		"whole":                       {[]sp{agentSpan(1, 0, 10), okTool(2, 1, 1, 2), okTool(3, 1, 3, 4)}, nil},
		"a parent beside its root":    {[]sp{agentSpan(1, 0, 10), okTool(2, 1, 1, 2), okTool(3, 41, 3, 4)}, []tape.Gap{holes}},
		"the root alone":              {[]sp{lost, okTool(2, 1, 1, 2)}, []tape.Gap{rootless}},
		"the parent of all":           {[]sp{okTool(2, 40, 1, 2), okTool(3, 40, 3, 4)}, []tape.Gap{rootless}},
		"the root and another parent": {[]sp{lost, okTool(2, 1, 1, 2), okTool(3, 41, 3, 4)}, []tape.Gap{rootless, holes}},
		"its own parent":              {[]sp{agentSpan(1, 0, 10), okTool(3, 3, 3, 4)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := one(t, c.spans...).Manifest
			assert.Equal(t, c.want, m.Gaps)
			assert.Equal(t, !slices.ContainsFunc(c.want, func(g tape.Gap) bool { return g.What == "span" }), m.Complete, "a root that is missing keeps no call from replaying")
		})
	}
}

func TestCallsThatAreTextInMessagesAreOneGap(t *testing.T) {
	td, ld := recording(t, "traceloop_crewai")
	tp := TranslateWithLogs(td, ld, Options{})[0]
	assert.Empty(t, toolRecords(tp))
	require.Len(t, tp.Manifest.Gaps, 1)
	assert.Equal(t, "tools", tp.Manifest.Gaps[0].What)
	assert.Equal(t, crewFix, tp.Manifest.Gaps[0].Fix)
	assert.False(t, tp.Manifest.Complete)
}
