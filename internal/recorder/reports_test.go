package recorder

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// A retry comes when a sampler that waits 30 seconds has long decided, and the root
// minutes later.
func TestARetryAfterAMinuteAndALateRootAreInTheRun(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1))
	f.pass(70 * time.Second)
	f.add(tool(1, 3, 1, failed))
	f.pass(170 * time.Second)
	assert.Empty(t, f.out())
	f.add(agent(1, 1))
	f.pass(6 * time.Second)
	spans := f.out()
	assert.ElementsMatch(t, []byte{1, 2, 3}, spanIDs(spans))
	row := only1(t, spans)
	assert.Equal(t, tape.OutcomeFailed, row.Outcome, "the last call failed and nothing followed it")
	assert.Equal(t, tape.TriggerRootEnded, row.Trigger)
	f.balanced()
}

// Clocks of other machines are behind or ahead: who is whose parent is not a matter
// of time, and times stay as they came.
func TestSkewedClocksAndNegativeDurations(t *testing.T) {
	at := func(start, end time.Duration) func(ptrace.Span) {
		return func(s ptrace.Span) {
			s.SetStartTimestamp(pcommon.NewTimestampFromTime(dawn.Add(start)))
			s.SetEndTimestamp(pcommon.NewTimestampFromTime(dawn.Add(end)))
		}
	}
	skewed := func(more ...func(ptrace.Span)) []func(ptrace.ResourceSpans, ptrace.Span) {
		return []func(ptrace.ResourceSpans, ptrace.Span){
			tool(1, 2, 1, append(more, at(-time.Hour, -time.Hour-time.Minute))...),
			tool(1, 3, 1, at(time.Hour, 2*time.Hour)),
			agent(1, 1, at(time.Minute, -time.Minute)),
		}
	}
	t.Run("kept", func(t *testing.T) {
		f := newFixture(t, keepAll)
		f.add(skewed()...)
		f.pass(6 * time.Second)
		spans := f.out()
		require.Len(t, spans, 3)
		want := traces(skewed()...).ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		for i, s := range spans {
			assert.Equal(t, want.At(i).StartTimestamp(), s.StartTimestamp())
			assert.Equal(t, want.At(i).EndTimestamp(), s.EndTimestamp())
		}
		row := only1(t, spans)
		assert.Equal(t, tape.TriggerRootEnded, row.Trigger)
		assert.Equal(t, tape.OutcomeSucceeded, row.Outcome)
		f.balanced()
	})
	t.Run("summarised", func(t *testing.T) {
		f := newFixture(t, nil)
		f.add(skewed()...)
		f.pass(6 * time.Second)
		spans := f.out()
		require.Len(t, spans, 1)
		assert.LessOrEqual(t, spans[0].StartTimestamp(), spans[0].EndTimestamp())
		assert.GreaterOrEqual(t, only1(t, spans).DurationMS, 0.0)
	})
	t.Run("failed before it began", func(t *testing.T) {
		f := newFixture(t, nil)
		f.add(skewed(failed)...)
		f.pass(6 * time.Second)
		row := only1(t, f.out())
		assert.Equal(t, 1, row.FailedCalls)
		assert.True(t, row.Kept)
	})
}

// An id that is there twice, or not at all, is that span's own affair.
func TestOddIDsAffectNoOtherSpan(t *testing.T) {
	f := newFixture(t, nil)
	other := func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.arguments", `{"n":2}`) }
	noID := func(s ptrace.Span) { s.SetSpanID(pcommon.SpanID{}) }
	f.add(tool(1, 2, 1), tool(1, 2, 1, other), tool(1, 2, 1), tool(1, 3, 1, noID), tool(1, 3, 1, noID),
		tool(0, 9, 1), tool(1, 4, 1, failed), agent(1, 1, failed))
	f.pass(6 * time.Second)
	assert.Equal(t, []byte{2, 2, 0, 0, 4, 1}, spanIDs(f.out()))
	assert.Equal(t, 1, f.counts.dropped[DropDuplicate])
	assert.Equal(t, 1, f.counts.dropped[DropNoTraceID])
	f.balanced()
}

// Parents that were never exported, and calls that are siblings of their agent: the
// trace id is what makes a run.
func TestSpansWithoutAParentInSightAreOneRun(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 77))
	f.add(tool(1, 3, 78, failed))
	f.add(agent(2, 1), tool(2, 2, 0), tool(2, 3, 0, failed))
	f.pass(11 * time.Minute)
	got := map[string]tape.Row{}
	spans := f.out()
	assert.Len(t, spans, 5)
	for _, row := range rows(spans) {
		got[row.TraceID] = row
	}
	require.Len(t, got, 2)
	for id, row := range got {
		assert.Equal(t, 2, row.ToolCalls, id)
		assert.Equal(t, 1, row.FailedCalls, id)
		assert.Equal(t, tape.OutcomeFailed, row.Outcome, id)
	}
	f.balanced()
}

// Names, messages and events can be as large as bodies: what leaves stays below what
// receivers take.
func TestAnEventOfElevenMegabytesLeavesInSmallRequests(t *testing.T) {
	const large = 11 << 20
	f := newFixture(t, func(c *Config) { c.MaxRunBytes, c.Spool.MaxBytes = 64<<20, 256<<20 })
	f.add(tool(1, 2, 1, failed, func(s ptrace.Span) {
		s.Events().AppendEmpty().SetName(strings.Repeat("e", large))
		s.Status().SetMessage(strings.Repeat("m", large))
		s.SetName(strings.Repeat("n", large))
	}), agent(1, 1, failed))
	f.pass(6 * time.Second)
	require.NotEmpty(t, f.emitted)
	for _, td := range f.emitted {
		assert.LessOrEqual(t, sizer.TracesSize(td), 4<<20)
	}
	assert.GreaterOrEqual(t, len(f.bodies), 3)
	assert.Equal(t, []byte{2, 1}, spanIDs(f.out()), "the run is smaller than its bounds")
	assert.Zero(t, f.counts.dropped[DropTruncated])
	f.balanced()
}

func TestEmptyRequestsOfLogRecords(t *testing.T) {
	f := newFixture(t, nil)
	ld := plog.NewLogs()
	require.NoError(t, f.AddLogs(context.Background(), ld))
	ld.ResourceLogs().AppendEmpty()
	require.NoError(t, f.AddLogs(context.Background(), ld))
	ld.ResourceLogs().At(0).ScopeLogs().AppendEmpty()
	require.NoError(t, f.AddLogs(context.Background(), ld))
	assert.Zero(t, f.Status().OpenRuns)
	f.balanced()
}

// What a kill cut off of the spool is missing from its run and from nothing else, and
// is counted.
func TestTheLostTailOfASpoolIsCounted(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(tool(1, 2, 1, failed))
	f.add(tool(1, 3, 1), tool(1, 4, 1))
	require.NoError(t, f.Close(context.Background()))
	truncateSpool(t, f.cfg.Spool.Directory, 40)
	f.open(f.cfg, f.deps)
	assert.EqualValues(t, 2, f.Status().Spool.Damage.Lost())
	assert.Equal(t, 1, f.Status().OpenRuns)
	f.pass(11 * time.Minute)
	assert.Equal(t, []byte{2}, spanIDs(f.out()))
}

// truncateSpool cuts bytes off the end of the only segment.
func truncateSpool(t *testing.T, dir string, bytes int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	require.NoError(t, os.Truncate(files[0], info.Size()-bytes))
}
