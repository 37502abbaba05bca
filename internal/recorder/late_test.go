package recorder

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/tape"
)

func TestLateSpansFollowTheFirstDecision(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.add(tool(2, 2, 1), agent(2, 1))
	f.pass(6 * time.Second)
	require.Len(t, f.out(), 3)

	f.add(tool(1, 4, 1))
	late := f.out()
	require.Len(t, late, 1, "a kept run's late span goes on at once")
	assert.Equal(t, tape.OutcomeFailed, attr.OutcomeOf(late[0].Attributes()))
	key, ok := late[0].Attributes().Get(attr.Key)
	require.True(t, ok)
	assert.Regexp(t, `^t:`, key.Str())

	f.add(tool(2, 4, 1))
	assert.Empty(t, f.out(), "a summarised run's late span is dropped quietly")
	assert.Equal(t, 2, f.counts.late)
	f.balanced()
}

func TestALateFailureGetsTheWholeRun(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), agent(1, 1))
	f.pass(6 * time.Second)
	require.Len(t, f.out(), 1)

	f.pass(30 * time.Minute)
	f.add(tool(1, 5, 1, failed))
	spans := f.out()
	require.Len(t, spans, 3, "all spans of the run, not just the late one")
	row := only1(t, spans)
	assert.Equal(t, tape.TriggerLateFailure, row.Trigger)
	assert.True(t, row.Kept)
	assert.Equal(t, 3, f.counts.upgraded)
	assert.Zero(t, f.live())

	f.add(tool(1, 6, 1))
	assert.Len(t, f.out(), 1, "from then on the run is a kept one")
	f.balanced()
}

func TestALateFailureAfterTheLookBackIsKeptAlone(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), agent(1, 1))
	f.pass(6 * time.Second)
	require.Len(t, f.out(), 1)
	f.pass(2 * time.Hour)
	assert.Zero(t, f.live(), "look-back spans are let go")

	f.add(tool(1, 5, 1, failed))
	spans := f.out()
	require.Len(t, spans, 1)
	assert.Equal(t, tape.TriggerLateFailure, only1(t, spans).Trigger)
	f.balanced()
}

func TestALateFailureByAConfiguredRuleCounts(t *testing.T) {
	zero := "0"
	cfg := dialect.DefaultConfig()
	cfg.InBand = []dialect.InBandRule{{Tool: "t", Member: "exit_code", NotEquals: &zero}}
	f := newFixture(t, nil)
	deps := f.deps
	deps.Translation = dialect.Options{Config: cfg}
	f.open(f.cfg, deps)
	f.add(tool(1, 2, 1), agent(1, 1))
	f.pass(6 * time.Second)
	require.Len(t, f.out(), 1)
	f.add(tool(1, 3, 1, func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.result", `{"exit_code":3}`) }))
	assert.Equal(t, tape.TriggerLateFailure, only1(t, f.out()).Trigger)
	f.balanced()
}

func TestALateSpanThatIsNotTakenIsTheSendersToRepeat(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.pass(6 * time.Second)
	f.out()
	f.failWith(errRetryable)
	require.ErrorIs(t, f.Add(context.Background(), traces(tool(1, 3, 1))), errRetryable)
	f.failWith(nil)
	f.add(tool(1, 3, 1))
	assert.Len(t, f.out(), 1)
	f.balanced()
}

// What log records say is judged by the same rules as what spans say.
func TestALateLogRecordIsJudgedByTheConfiguredRules(t *testing.T) {
	zero := "0"
	cfg := dialect.DefaultConfig()
	cfg.InBand = []dialect.InBandRule{{Tool: "t", Member: "exit_code", NotEquals: &zero}}
	for code, kept := range map[string]bool{"0": false, "3": true} {
		f := newFixture(t, nil)
		deps := f.deps
		deps.Translation = dialect.Options{Config: cfg}
		f.open(f.cfg, deps)
		f.add(tool(1, 2, 1), agent(1, 1))
		f.pass(6 * time.Second)
		require.False(t, only1(t, f.out()).Kept)

		ld := plog.NewLogs()
		rec := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		rec.SetTraceID(pcommon.TraceID{15: 1})
		rec.SetEventName("codex.tool_result")
		rec.Attributes().PutStr("event.name", "codex.tool_result")
		rec.Attributes().PutStr("tool_name", "t")
		rec.Attributes().PutStr("call_id", "c7")
		rec.Attributes().PutStr("output", `{"exit_code":`+code+`}`)
		require.NoError(t, f.AddLogs(context.Background(), ld))
		spans := f.out()
		if !kept {
			assert.Empty(t, spans)
			continue
		}
		assert.Equal(t, tape.TriggerLateFailure, only1(t, spans).Trigger)
		f.balanced()
	}
}
