package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/tape"
)

// Each failure class has an example, from the spans to the manifest.
func TestEachFailureClassIsFoundInSpans(t *testing.T) {
	attributor, err := attribution.New(attribution.Config{ApprovalTools: []string{"pay_*"}})
	require.NoError(t, err)
	config := DefaultConfig()
	config.Tools.SideEffect = []string{"book_*"}
	asked := chat(2, 1, 1, 2, "["+user+"]", finished)
	asked.attrs["gen_ai.tool.definitions"] = `[
		{"name":"search","parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}},
		{"name":"book_table","parameters":{"type":"object"}},{"name":"pay_bill","parameters":{"type":"object"}}]`
	call := func(id byte, name, args, err string, more attrs) sp {
		s := tool(id, 1, 2*int(id), 2*int(id)+1, name, attrs{"gen_ai.tool.call.arguments": args})
		s.err = err
		for k, v := range more {
			s.attrs[k] = v
		}
		return s
	}
	for class, c := range map[string]struct {
		spans    []sp
		evidence string
	}{
		attribution.ToolSelection:    {[]sp{call(3, "cancel_all", `{}`, "boom", nil)}, `the model was not given a tool "cancel_all"`},
		attribution.ArgsGeneration:   {[]sp{call(3, "search", `{"q":7}`, "boom", nil)}, "arguments do not fit the schema: /q: got number, want string"},
		attribution.SchemaMismatch:   {[]sp{call(3, "search", `{"q":"x"}`, "search() got an unexpected keyword argument 'q'", nil)}, `message says "unexpected keyword argument"`},
		attribution.ApprovalMissing:  {[]sp{call(3, "pay_bill", `{}`, "boom", nil)}, `tools like "pay_*" need an approval, and there is no approval_id`},
		attribution.PermissionDenied: {[]sp{call(3, "search", `{"q":"x"}`, "boom", attrs{"http.response.status_code": 403})}, "error code 403"},
		attribution.PolicyRegression: {[]sp{call(3, "search", `{"q":"x"}`, "boom", attrs{"policy.result": "deny"})}, `policy_result is "deny"`},
		attribution.ExternalTimeout:  {[]sp{call(3, "search", `{"q":"x"}`, "boom", attrs{"error.type": "httpx.ReadTimeout"})}, "error type httpx.ReadTimeout"},
		attribution.SideEffectConflict: {[]sp{
			{id: 3, up: 1, from: 6, to: 7, name: "t", attrs: attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "book_table", "gen_ai.tool.call.arguments": `{"n":2}`, "gen_ai.tool.call.result": "booked"}},
			call(4, "book_table", `{"n":2}`, "boom", nil),
		}, "the same write went well at step 2"},
		attribution.ResponseParse: {[]sp{call(3, "search", `{"q":"x"}`, "invalid character '<' looking for beginning of value", nil)}, `message says "invalid character"`},
		attribution.Unattributed:  {[]sp{call(3, "search", `{"q":"x"}`, "boom", nil)}, ""},
	} {
		t.Run(class, func(t *testing.T) {
			tp := oneWith(t, Options{Config: config, Attribution: attributor}, append([]sp{agentSpan(1, 0, 100), asked}, c.spans...)...)
			f := tp.Manifest.Failure
			require.NotNil(t, f)
			assert.Equal(t, class, f.Class)
			assert.Equal(t, class, tp.Records[f.Seq-1].FailureClass)
			assert.Equal(t, class, Row(tp, Facts{}).FailureClass)
			if c.evidence != "" {
				assert.Contains(t, f.Evidence, class+": "+c.evidence)
			}
		})
	}
	assert.Len(t, tape.FailureClasses, 10, "an example for each")
}

// A call may lack an approval and be refused for it, and time out after that: the
// earlier cause is the class, and all are listed.
func TestTheEarlierCauseIsTheClass(t *testing.T) {
	attributor, err := attribution.New(attribution.Config{ApprovalTools: []string{"pay_*"}})
	require.NoError(t, err)
	s := tool(2, 1, 1, 2, "pay_bill", attrs{"gen_ai.tool.call.arguments": "{}", "http.response.status_code": 403})
	s.err = "gave up: the gateway timed out"
	tp := oneWith(t, Options{Attribution: attributor}, agentSpan(1, 0, 9), s)
	assert.Equal(t, attribution.ApprovalMissing, tp.Manifest.Failure.Class)
	assert.Equal(t, []string{
		"status",
		`approval_missing: tools like "pay_*" need an approval, and there is no approval_id`,
		"permission_denied: error code 403",
		`external_timeout: message says "timed out"`,
	}, tp.Manifest.Failure.Evidence)
}
