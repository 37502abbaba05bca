package recorder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// The tape of a kept run that is made again from the store says why the run failed
// in the words of the decision, which had the last good run beside it.
func TestATapeMadeAgainKeepsClassReasonAndEvidence(t *testing.T) {
	schema := func(trace, id byte, schema string, more ...func(ptrace.Span)) func(ptrace.ResourceSpans, ptrace.Span) {
		return span(trace, id, 1, func(s ptrace.Span) {
			s.Attributes().PutStr("gen_ai.operation.name", "chat")
			s.Attributes().PutStr("gen_ai.request.model", "m")
			s.Attributes().PutStr("gen_ai.tool.definitions", fmt.Sprintf(`[{"type":"function","name":"t","parameters":%s}]`, schema))
			for _, fn := range more {
				fn(s)
			}
		})
	}
	const before = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	const after = `{"type":"object","properties":{"m":{"type":"integer"}},"required":["m"]}`
	// asked asks for a call that has no span, told is told that it failed.
	asked := func(s ptrace.Span) {
		s.Attributes().PutStr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"t","arguments":{"n":1}}]}]`)
	}
	told := func(s ptrace.Span) {
		s.Attributes().PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"do it"}]},`+
			`{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"t","arguments":{"n":1}}]},`+
			`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","is_error":true,"result":"no member n"}]}]`)
	}
	type spans = []func(ptrace.ResourceSpans, ptrace.Span)
	for name, c := range map[string]struct {
		spans spans
		class string
		// at begins the name of the span with the evidence.
		at string
		// evidence is in one of the texts.
		evidence string
	}{
		"a call that timed out": {
			spans: spans{tool(9, 3, 1, failed), agent(9, 1, failed)},
			class: attribution.ExternalTimeout, at: "execute_tool", evidence: "TimeoutError",
		},
		"a schema that the last good run did not have": {
			spans: spans{schema(9, 2, after), tool(9, 3, 1, failed), agent(9, 1, failed)},
			class: attribution.SchemaMismatch, at: "execute_tool", evidence: "schema_mismatch: ",
		},
		"a failure that only the root tells": {
			spans: spans{tool(9, 3, 1), agent(9, 1, failed, func(s ptrace.Span) { s.Status().SetMessage("permission denied") })},
			class: attribution.PermissionDenied, at: "invoke_agent", evidence: "permission denied",
		},
		"a call without a span of its own": {
			spans: spans{schema(9, 3, after, asked), schema(9, 4, after, told), agent(9, 1)},
			class: attribution.SchemaMismatch, at: "invoke_agent", evidence: "schema_mismatch: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.add(schema(1, 2, before), tool(1, 3, 1), agent(1, 1))
			f.pass(6 * time.Second)
			f.out()
			f.add(c.spans...)
			f.pass(6 * time.Second)
			require.Len(t, f.emitted, 1)
			td := f.emitted[0]
			out := f.out()
			row := only1(t, out)
			require.Equal(t, c.class, row.FailureClass)

			var evidence []string
			for _, s := range out {
				if v, ok := s.Attributes().Get(attr.FailureEvidence); ok {
					require.Nil(t, evidence, "on one span")
					assert.True(t, strings.HasPrefix(s.Name(), c.at), s.Name())
					for _, e := range v.Slice().All() {
						evidence = append(evidence, e.Str())
					}
				}
			}
			assert.True(t, slices.ContainsFunc(evidence, func(text string) bool { return strings.Contains(text, c.evidence) }), "%q", evidence)

			tp := storedAndRebuilt(t, td, row)
			require.NotNil(t, tp.Manifest.Failure)
			assert.Equal(t, row.FailureClass, tp.Manifest.Failure.Class)
			assert.Equal(t, row.FailureReason, tp.Manifest.Failure.Reason)
			assert.Equal(t, evidence, tp.Manifest.Failure.Evidence)
			report := (*attribution.Attributor)(nil).Examine(tp, nil)
			require.NotNil(t, report.Run)
			assert.Equal(t, row.FailureClass, report.Run.Class, "tape attribute says the same")
		})
	}
}

// storedAndRebuilt stores a kept run and makes its tape.
func storedAndRebuilt(t *testing.T, td ptrace.Traces, row tape.Row) *tape.Tape {
	t.Helper()
	st, err := store.Open(storetest.NewMemory(), store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	_, err = st.PutFragment(context.Background(), "failures", row.TraceID, td)
	require.NoError(t, err)
	tp, err := rebuild.Tape(context.Background(), st, row.TraceID, rebuild.Options{})
	require.NoError(t, err)
	return tp
}
