package dialect

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// An SDK that drops the oldest attributes at its limit of 128 loses gen_ai.*
// to the schemas of the tools, which are written one attribute each. What the
// spans lack is a gap that names the limit, no failure.
func TestSchemasThatPushedOutTheContentLeaveAGap(t *testing.T) {
	schemas := func(keep attrs) attrs {
		all := attrs{}
		for i := range 128 - len(keep) {
			all[fmt.Sprintf("llm.request.functions.%d.parameters", i)] = `{"type":"object"}`
		}
		for k, v := range keep {
			all[k] = v
		}
		return all
	}
	for name, c := range map[string]struct {
		model, tool attrs
	}{
		"all of gen_ai":     {schemas(nil), schemas(nil)},
		"all but the names": {schemas(attrs{"gen_ai.operation.name": "chat"}), schemas(attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"})},
	} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, c.model, 128)
			tp := one(t, agentSpan(1, 0, 9),
				sp{id: 2, up: 1, from: 1, to: 2, name: "chat m", kind: ptrace.SpanKindClient, dropped: 40, attrs: c.model},
				sp{id: 3, up: 1, from: 3, to: 4, name: "execute_tool search", dropped: 40, attrs: c.tool},
			)
			require.Len(t, tp.Records, 2)
			for i, kind := range []tape.Kind{tape.KindModel, tape.KindTool} {
				r := tp.Records[i]
				assert.Equal(t, kind, r.KindOf())
				assert.False(t, r.Failed())
				assert.Nil(t, r.Error)
				assert.Equal(t, tape.FidelityAbsent, r.Fidelity)
			}
			assert.Equal(t, "search", tp.Records[1].Tool)
			assert.Equal(t, tape.OutcomeSucceeded, tp.Manifest.Outcome)
			assert.False(t, tp.Manifest.Complete)
			missing := map[int][]string{}
			for _, g := range tp.Manifest.Gaps {
				missing[g.Seq] = append(missing[g.Seq], g.What)
				assert.Equal(t, whyDropped, g.Why)
				assert.Equal(t, countFix, g.Fix)
			}
			assert.Len(t, missing, 2, "both calls have one")
			assert.Equal(t, []string{"args", "result"}, missing[2])
		})
	}
}
