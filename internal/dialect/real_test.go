package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// What is anywhere in the exports of real programs is in their tapes. Counted
// are calls whose content is absent from the tape; each is absent from the
// export too.
func TestNothingInRealExportsIsLeftUnread(t *testing.T) {
	absent := map[string]map[tape.Kind]int{
		"agentevals":    {},
		"openinference": {},
		"packet-panic":  {},
		// The messages of the first model call only.
		"any-agent": {tape.KindModel: 18},
		// BeeAI's answers of models, and one output function that is no tool.
		"langfuse": {tape.KindModel: 3, tape.KindTool: 1},
		// No requests of models, and two calls that end a run.
		"tau-bench": {tape.KindModel: 141, tape.KindTool: 2},
	}
	for name, td := range realTraces(t) {
		require.Contains(t, absent, name)
		got := map[tape.Kind]int{}
		for _, tp := range Translate(td, Options{}) {
			for _, r := range tp.Records {
				if r.Fidelity == tape.FidelityAbsent {
					got[r.KindOf()]++
				}
			}
		}
		assert.Equal(t, absent[name], got, name)
	}
}

// A backend that exports without the scope leaves the vendor's attributes.
func TestADKWithoutItsScope(t *testing.T) {
	tp := one(t, agentSpan(1, 0, 9), sp{id: 2, up: 1, from: 1, to: 2, name: "execute_tool x", attrs: attrs{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "x", "gcp.vertex.agent.tool_call_args": `{"a":1}`, "gcp.vertex.agent.tool_response": `{"result":2}`,
	}})
	assert.Equal(t, "google_adk", tp.Records[0].Dialect)
	assert.JSONEq(t, `{"a":1}`, string(tp.Records[0].Args))
	assert.JSONEq(t, `2`, string(tp.Records[0].Result))
}

// A request written with {} in place of its arguments is still that of the call.
func TestARequestWithEmptyArgumentsIsNoSecondCall(t *testing.T) {
	tp := one(t, agentSpan(1, 0, 20),
		chat(2, 1, 1, 5, "["+user+"]", `[{"role":"assistant","parts":[{"type":"tool_call","name":"search","arguments":{}}]}]`),
		tool(3, 1, 6, 9, "search", attrs{"gen_ai.tool.call.arguments": `{"q":1}`, "gen_ai.tool.call.result": `"r"`}),
	)
	r := toolRecords(tp)
	require.Len(t, r, 1)
	assert.JSONEq(t, `{"q":1}`, string(r[0].Args))
}
