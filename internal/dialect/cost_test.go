package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/plog"
)

func TestTheRowHasWhatModelCallsSayTheyCost(t *testing.T) {
	dollars := func(n float64) *float64 { return &n }
	for name, test := range map[string]struct {
		first, second attrs
		want          *float64
	}{
		"nothing":             {nil, nil, nil},
		"one says it":         {attrs{"gen_ai.usage.cost": 0.25}, nil, dollars(0.25)},
		"both do":             {attrs{"gen_ai.usage.cost": 0.25}, attrs{"llm.cost.total": 0.5}, dollars(0.75)},
		"nothing to pay":      {attrs{"operation.cost": 0.0}, nil, dollars(0)},
		"as text":             {attrs{"cost_usd": "0.5"}, nil, dollars(0.5)},
		"both halves of it":   {attrs{"gen_ai.usage.input_cost": 0.25, "gen_ai.usage.output_cost": 0.5}, nil, dollars(0.75)},
		"a total in JSON":     {attrs{"langfuse.observation.cost_details": `{"total":0.5,"input":0.1}`}, nil, dollars(0.5)},
		"parts in JSON":       {attrs{"langfuse.observation.cost_details": `{"input":0.25,"output":0.5}`}, nil, dollars(0.75)},
		"what is no amount":   {attrs{"gen_ai.usage.cost": "cheap", "llm.cost.total": -1.0}, attrs{"cost_usd": "NaN"}, nil},
		"JSON that is cut":    {attrs{"langfuse.observation.cost_details": `{"total":0.`}, nil, nil},
		"another name for it": {attrs{"gen_ai.usage.cost": true, "operation.cost": 0.5}, nil, dollars(0.5)},
	} {
		t.Run(name, func(t *testing.T) {
			agent := agentSpan(1, 0, 20)
			agent.attrs["gen_ai.usage.cost"] = 9.0 // counts the calls again
			first, second := chat(2, 1, 1, 2, "["+user+"]", finished), chat(3, 1, 3, 4, "["+user+"]", finished)
			for k, v := range test.first {
				first.attrs[k] = v
			}
			for k, v := range test.second {
				second.attrs[k] = v
			}
			row := Runs(traces(t, agent, first, second), plog.NewLogs(), Options{Trigger: tape.TriggerIdle})[0].Row()
			assert.Equal(t, test.want, row.Cost)
		})
	}
}
