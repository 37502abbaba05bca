package dialect

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"

	"github.com/tapedeck/tapedeck/tape"
)

func text(s string) *string { return &s }

func TestConfigNamesThePlaceOfEveryMistake(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate())
	require.NoError(t, (&Config{}).Validate())
	c := &Config{
		Caller:        map[string][]string{"user": {"a", " "}, "": {"b"}},
		PromptVersion: []string{""}, PolicyResult: []string{""}, ApprovalID: []string{""}, SideEffect: []string{""},
		Tools: ToolPatterns{ReadOnly: []string{"get_["}, SideEffect: []string{""}},
		InBand: []InBandRule{
			{Tool: "["}, {}, {Prefix: "a", Member: "b"}, {Prefix: "a", Equals: text("1")},
			{Member: "b", Equals: text("1"), NotEquals: text("2")}, {Member: "ok"},
			{OK: true}, {Tool: "x", OK: true, Message: "m"}, {Tool: "x", OK: true},
		},
		InBandSigns: []string{SignIsError, "isError"},
		Expires:     []ExpiryRule{{Tool: "price_[", After: 1}, {After: 1}, {Tool: "price"}, {Tool: "price", After: -1}, {Tool: "price", After: 1}},
	}
	err := c.Validate()
	require.Error(t, err)
	for _, want := range []string{
		"caller_context::user[1]: an attribute name is empty", "caller_context: a member has no name",
		"prompt_version[0]", "policy_result[0]", "approval_id[0]", "side_effect[0]",
		`tools::read_only[0]: pattern "get_[": syntax error in pattern`, "tools::side_effect[0]: a pattern is empty",
		`in_band[0]: tool: pattern "[": syntax error in pattern`, "in_band[1]: needs a prefix or a member",
		"in_band[2]: has both a prefix and a member", "in_band[3]: equals and not_equals need a member",
		"in_band[4]: has both equals and not_equals", "in_band[6]: fits every result", "in_band[7]: has a message, but ok: true is no failure",
		`in_band_signs[1]: "isError" is none of ["error_member" "is_error" "error_text" "success_false" "status_error"]`,
		`expires[0]: tool: pattern "price_[": syntax error in pattern`, "expires[1]: tool: a pattern is empty",
		"expires[2]: after must be more than zero", "expires[3]: after must be more than zero",
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.NotContains(t, err.Error(), "expires[4]")
	assert.NotContains(t, err.Error(), "in_band[5]")
	assert.NotContains(t, err.Error(), "in_band[8]")
}

func TestConfigIsReadFromSettings(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"caller_context":   map[string]any{"user": []any{"who"}},
		"prompt_version":   []any{"p"},
		"side_effect":      []any{"writes"},
		"tools":            map[string]any{"read_only": []any{"get_*"}, "side_effect": []any{"book_*"}},
		"tenant_attribute": "tenant",
		"in_band":          []any{map[string]any{"tool": "shell", "member": "exit_code", "not_equals": "0"}},
		"evaluation_scores": []any{
			map[string]any{"evaluation": "faithfulness", "below": 0.7}, map[string]any{"above": 2},
		},
		"expires": []any{map[string]any{"tool": "price_*", "after": "15m"}},
	}).Unmarshal(c))
	require.NoError(t, c.Validate())
	assert.Equal(t, []string{"who"}, c.Caller["user"])
	assert.Equal(t, ToolPatterns{ReadOnly: []string{"get_*"}, SideEffect: []string{"book_*"}}, c.Tools)
	assert.Equal(t, []InBandRule{{Tool: "shell", Member: "exit_code", NotEquals: text("0")}}, c.InBand)
	below, above := 0.7, 2.0
	assert.Equal(t, []ScoreRule{{Evaluation: "faithfulness", Below: &below}, {Above: &above}}, c.EvaluationScores)
	assert.Equal(t, []ExpiryRule{{Tool: "price_*", After: 15 * time.Minute}}, c.Expires)
	assert.Equal(t, DefaultConfig().ApprovalID, c.ApprovalID, "what is not set keeps its default")
	assert.Equal(t, InBandSigns, c.InBandSigns)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"in_band_signs": []any{}}).Unmarshal(c))
	assert.Empty(t, c.InBandSigns, "an empty list switches the signs off")
}

func TestSignsCanBeSwitchedOff(t *testing.T) {
	results := map[string]string{
		SignErrorMember:  `{"error":"quota"}`,
		SignIsError:      `{"is_error":true}`,
		SignErrorText:    `Error: no seats`,
		SignSuccessFalse: `{"success":false}`,
		SignStatusError:  `{"status":"error"}`,
	}
	require.Len(t, results, len(InBandSigns))
	for sign, result := range results {
		t.Run(sign, func(t *testing.T) {
			td := traces(t, agentSpan(1, 0, 9), tool(2, 1, 1, 2, "x", attrs{"gen_ai.tool.call.result": result}))
			rs := td.ResourceSpans().At(1)
			failed := func(c *Config) bool {
				r := Translate(td, Options{Config: c})[0].Records[0]
				assert.Equal(t, r.Failed(), c.Failed(rs.Resource(), rs.ScopeSpans().At(0).Scope(), rs.ScopeSpans().At(0).Spans().At(0)))
				return r.Failed()
			}
			assert.True(t, failed(DefaultConfig()))
			assert.True(t, failed(&Config{InBandSigns: []string{sign}}))
			others := slices.DeleteFunc(slices.Clone(InBandSigns), func(s string) bool { return s == sign })
			assert.False(t, failed(&Config{InBandSigns: others}), "the others do not show it")
			assert.False(t, failed(&Config{}))
		})
	}
}

func TestRulesOverrideTheSignsOfATool(t *testing.T) {
	config := DefaultConfig()
	config.InBand = []InBandRule{
		{Tool: "get_job", Member: "state", Equals: text("crashed"), Message: "why"},
		{Tool: "get_job", OK: true},
		{Tool: "search", Member: "status", Equals: text("error"), OK: true},
		{Tool: "book", Member: "success", Equals: text("false"), Message: "reason"},
	}
	require.NoError(t, config.Validate())
	for name, c := range map[string]struct {
		tool, result string
		want         string
	}{
		"the status of a job is its answer":   {"get_job", `{"status":"error","success":false}`, ""},
		"a rule before the exception":         {"get_job", `{"state":"crashed","why":"disk full"}`, "disk full"},
		"a tool of which one sign is ignored": {"search", `{"status":"error"}`, ""},
		"its other signs hold":                {"search", `{"success":false,"message":"no index"}`, "no index"},
		"other tools have all signs":          {"fetch", `{"status":"error","message":"gone"}`, "gone"},
		"a rule that knows where the text is": {"book", `{"success":false,"reason":"sold out","message":"x"}`, "sold out"},
	} {
		t.Run(name, func(t *testing.T) {
			r := toolRecords(oneWith(t, Options{Config: config}, agentSpan(1, 0, 9), tool(2, 1, 1, 2, c.tool, attrs{"gen_ai.tool.call.result": c.result})))[0]
			require.Equal(t, c.want != "", r.Failed())
			if r.Failed() {
				assert.Equal(t, c.want, r.Error.Message)
			}
		})
	}
	failed := tool(2, 1, 1, 2, "get_job", attrs{"gen_ai.tool.call.result": `{"status":"error"}`})
	failed.err = "timed out"
	r := toolRecords(oneWith(t, Options{Config: config}, agentSpan(1, 0, 9), failed))[0]
	require.True(t, r.Failed(), "what the span itself says is never undone")
	assert.Equal(t, "timed out", r.Error.Message)
}

func TestResultsFailByConfiguredRules(t *testing.T) {
	config := &Config{InBand: []InBandRule{
		{Tool: "shell*", Member: "metadata.exit_code", NotEquals: text("0"), Message: "stderr"},
		{Tool: "job", Member: "state", Equals: text("dead")},
		{Tool: "job", Member: "problems"},
		{Prefix: "FATAL"},
	}}
	for name, c := range map[string]struct {
		tool, result string
		failed       bool
		message      string
		code         string
	}{
		"exit code":              {"shell_run", `{"stdout":"","stderr":" no such file\n","metadata":{"exit_code":2}}`, true, "no such file", "2"},
		"exit code 0":            {"shell_run", `{"metadata":{"exit_code":0}}`, false, "", ""},
		"exit code as text":      {"shell_run", `{"metadata":{"exit_code":"0"}}`, false, "", ""},
		"no exit code":           {"shell_run", `{"metadata":{}}`, false, "", ""},
		"without the message":    {"shell_run", `{"metadata":{"exit_code":1}}`, true, `{"metadata":{"exit_code":1}}`, "1"},
		"a rule of another tool": {"python", `{"metadata":{"exit_code":2}}`, false, "", ""},
		"member equals":          {"job", `{"state":"dead"}`, true, `{"state":"dead"}`, "dead"},
		"member does not equal":  {"job", `{"state":"done"}`, false, "", ""},
		"member is truthy":       {"job", `{"problems":["x"]}`, true, `{"problems":["x"]}`, ""},
		"member is empty":        {"job", `{"problems":[]}`, false, "", ""},
		"prefix of any tool":     {"x", "FATAL: disk full", true, "FATAL: disk full", ""},
		"prefix inside":          {"x", "not FATAL", false, "", ""},
		"cut text is not judged": {"job", `{"state":"dead","log":"…`, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			td := traces(t, agentSpan(1, 0, 9), tool(2, 1, 1, 2, c.tool, attrs{"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": c.result}))
			r := Translate(td, Options{Config: config})[0].Records[0]
			require.Equal(t, c.failed, r.Failed())
			rs := td.ResourceSpans().At(1)
			span := rs.ScopeSpans().At(0)
			assert.Equal(t, c.failed, config.Failed(rs.Resource(), span.Scope(), span.Spans().At(0)))
			assert.False(t, defaultConfig.Failed(rs.Resource(), span.Scope(), span.Spans().At(0)))
			if c.failed {
				assert.Equal(t, c.message, r.Error.Message)
				assert.Equal(t, c.code, r.Error.Code)
				assert.False(t, Translate(td, Options{})[0].Records[0].Failed())
			}
		})
	}
}

// A rule sees the result also where only a later model call tells it.
func TestRulesSeeResultsOfMessages(t *testing.T) {
	turn := asks("c", "shell", `{}`) + "," + answers("c", `{"exit_code":1}`)
	td := traces(t, agentSpan(1, 0, 9), chat(2, 1, 1, 2, "["+user+"]", "["+asks("c", "shell", `{}`)+"]"), chat(3, 1, 3, 4, "["+user+","+turn+"]", finished))
	tp := Translate(td, Options{Config: &Config{InBand: []InBandRule{{Member: "exit_code", NotEquals: text("0")}}}})[0]
	assert.True(t, toolRecords(tp)[0].Failed())
	assert.Equal(t, tape.OutcomeRecovered, tp.Manifest.Outcome)
}

func TestANumberNamedErrorIsAFailureOnlyIfItIsACode(t *testing.T) {
	for result, code := range map[string]string{
		`{"error":0.02,"slope":3}`:         "",
		`{"error":7}`:                      "",
		`{"error":1e3}`:                    "",
		`{"error":404}`:                    "404",
		`{"error":-32601}`:                 "-32601",
		`{"error":7,"message":"no seats"}`: "7",
		`{"error":0,"message":"fine"}`:     "",
		`{"error":0.5,"message":"margin"}`: "",
	} {
		r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.result": result})).Records[0]
		if code == "" {
			assert.Nil(t, r.Error, result)
			continue
		}
		require.NotNil(t, r.Error, result)
		assert.Equal(t, code, r.Error.Code, result)
	}
}

func TestSideEffects(t *testing.T) {
	yes, no := true, false
	config := DefaultConfig()
	config.Tools = ToolPatterns{ReadOnly: []string{"get_*", "book_status"}, SideEffect: []string{"book_*"}}
	defs := chat(2, 1, 1, 2, "["+user+"]", finished)
	defs.attrs["gen_ai.tool.definitions"] = `[
		{"name":"reads","inputSchema":{},"annotations":{"readOnlyHint":true}},
		{"name":"writes","inputSchema":{},"annotations":{"readOnlyHint":false,"destructiveHint":false}},
		{"name":"destroys","inputSchema":{},"annotations":{"destructiveHint":true}},
		{"name":"destroys_nothing","inputSchema":{},"annotations":{"destructiveHint":false}},
		{"name":"get_and_log","inputSchema":{},"annotations":{"readOnlyHint":false}}]`
	for name, c := range map[string]struct {
		tool string
		own  attrs
		want *bool
	}{
		"unknown":                        {"x", nil, nil},
		"annotated read only":            {"reads", nil, &no},
		"annotated as writing":           {"writes", nil, &yes},
		"annotated as destructive":       {"destroys", nil, &yes},
		"destroying nothing says little": {"destroys_nothing", nil, nil},
		"pattern":                        {"get_rate", nil, &no},
		"both patterns":                  {"book_status", nil, &yes},
		"pattern before annotation":      {"get_and_log", nil, &no},
		"attribute before pattern":       {"get_rate", attrs{"tool.side_effect": true}, &yes},
		"attribute as text":              {"book_table", attrs{"langfuse.observation.metadata.side_effect": "false"}, &no},
		"attribute that is no boolean":   {"x", attrs{"tool.side_effect": "maybe"}, nil},
		"metadata as JSON":               {"x", attrs{"metadata": `{"side_effect":true}`}, &yes},
	} {
		t.Run(name, func(t *testing.T) {
			tapes := Translate(traces(t, agentSpan(1, 0, 9), defs, tool(3, 1, 3, 4, c.tool, c.own)), Options{Config: config})
			assert.Equal(t, c.want, toolRecords(tapes[0])[0].SideEffect)
		})
	}
}
