package rebuild_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/archive"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// write stores what a processor sent, as the exporter of a collector does.
func write(t *testing.T, st *store.Store, td ptrace.Traces) {
	t.Helper()
	a := archive.New(st, archive.Options{
		Class:    func(tape.Row) string { return "failures" },
		Scrubber: scrub.New(redact.Default()),
	})
	result := a.Write(t.Context(), td)
	require.NoError(t, result.Err)
	require.NoError(t, result.RefusedErr())
}

// summary is a run of which a collector sent on the row alone.
func summary(t *testing.T, row tape.Row) ptrace.Traces {
	t.Helper()
	td := storetest.AgentRun(t, id, noon)
	td.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.Redaction, "v1:of the test")
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for spans.Len() > 1 {
		n := 0
		spans.RemoveIf(func(ptrace.Span) bool { n++; return n > 1 })
	}
	attr.PutRow(spans.At(0).Attributes(), row)
	spans.At(0).Attributes().PutBool(attr.Summary, true)
	return td
}

func TestAPartThatAnotherCollectorOnlySummarisedIsAGap(t *testing.T) {
	at := func(d time.Duration) string { return noon.Add(d).Format(time.RFC3339Nano) }
	half := tape.Row{TraceID: id, Outcome: tape.OutcomeSucceeded, Trigger: tape.TriggerIdle, Steps: 3, Spans: 4, Decided: at(time.Minute)}
	with := func(change func(*tape.Row)) tape.Row {
		row := half
		change(&row)
		return row
	}
	for name, c := range map[string]struct {
		rows []tape.Row
		gap  bool
	}{
		"nobody":                      {nil, false},
		"another, a minute later":     {[]tape.Row{half}, true},
		"another, in the hour before": {[]tape.Row{with(func(r *tape.Row) { r.Decided = at(-40 * time.Minute) })}, true},
		"another, without calls":      {[]tape.Row{with(func(r *tape.Row) { r.Steps = 0 })}, false},
		"another run of that id, days ago": {
			[]tape.Row{with(func(r *tape.Row) { r.Decided = at(-72 * time.Hour) })}, false,
		},
		"the same collector, before it was asked": {[]tape.Row{half, with(func(r *tape.Row) {
			r.Kept, r.Trigger, r.Decided = true, tape.TriggerAsked, at(2*time.Minute)
		})}, false},
		"the same collector, before a failure came late": {[]tape.Row{half, with(func(r *tape.Row) {
			r.Kept, r.Trigger, r.Decided = true, tape.TriggerLateFailure, at(2*time.Minute)
		})}, false},
		"the same collector, which held it to compare with": {[]tape.Row{half, with(func(r *tape.Row) {
			r.Kept, r.Trigger, r.KeptBecause, r.Decided = true, tape.TriggerRootEnded, tape.KeptLastSuccess, at(2*time.Minute)
		})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t)
			write(t, s, decidedRun(t, id, noon, "{}", "{}"))
			for _, row := range c.rows {
				if row.Kept {
					require.NoError(t, s.AppendRows(t.Context(), []tape.Row{row}))
				} else {
					write(t, s, summary(t, row))
				}
			}
			tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{})
			require.NoError(t, err)
			require.Len(t, tp.Records, 2)
			assert.Equal(t, !c.gap, tp.Manifest.Complete)
			if !c.gap {
				assert.Empty(t, tp.Manifest.Gaps)
				return
			}
			require.Len(t, tp.Manifest.Gaps, 1)
			assert.Equal(t, "span", tp.Manifest.Gaps[0].What)
			assert.Contains(t, tp.Manifest.Gaps[0].Why, "3 calls")
		})
	}
}

// Two collectors on one bucket: that with the failure keeps its half, the other does
// not.
func TestTwoCollectorsOfWhichOneKeepsItsHalf(t *testing.T) {
	server := s3test.Start(t)
	keeps, _ := bucket(t, server, "one-keeps")
	summarises, _ := bucket(t, server, "one-keeps")
	write(t, keeps, decidedRun(t, id, noon, "{}"))
	write(t, summarises, summary(t, tape.Row{
		TraceID: id, Outcome: tape.OutcomeSucceeded, Trigger: tape.TriggerIdle, Steps: 2, Decided: noon.Add(time.Minute).Format(time.RFC3339Nano),
	}))
	reader, proxy := bucket(t, server, "one-keeps")
	for range 2 {
		tp, err := rebuild.Tape(t.Context(), reader, id, rebuild.Options{})
		require.NoError(t, err)
		assert.False(t, tp.Manifest.Complete)
		require.Len(t, tp.Manifest.Gaps, 1)
		assert.Contains(t, tp.Manifest.Gaps[0].Why, "2 calls")
	}
	assert.Equal(t, 1, count(proxy.Requests(), "LIST one-keeps/index/"), "remembered for a moment")
	page, err := reader.Rows(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Len(t, page.Rows, 1, "it is one run")
	assert.Equal(t, tape.OutcomeFailed, page.Rows[0].Outcome)
}

func TestASourceIsCurrentAsLongAsNothingIsAddedOrRemoved(t *testing.T) {
	s, _ := open(t)
	redacted := func(results ...string) ptrace.Traces {
		td := decidedRun(t, id, noon, results...)
		td.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.Redaction, redact.Default().Manifest().Policy)
		return td
	}
	write(t, s, redacted("{}", "{}"))
	source := func() rebuild.Source {
		t.Helper()
		made, err := rebuild.Make(t.Context(), s, id, rebuild.Options{})
		require.NoError(t, err)
		require.True(t, made.Source.Whole)
		return made.Source
	}
	current := func(of rebuild.Source) bool {
		t.Helper()
		is, err := of.Current(t.Context(), s, id)
		require.NoError(t, err)
		return is
	}
	first := source()
	assert.True(t, current(first))
	write(t, s, summary(t, tape.Row{TraceID: id, Outcome: tape.OutcomeSucceeded, Steps: 2, Decided: noon.Format(time.RFC3339Nano)}))
	assert.False(t, current(first), "there is a row more")
	second := source()
	assert.True(t, current(second))
	write(t, s, redacted("{}", "{}", "{}"))
	assert.False(t, current(second), "there is a fragment more")
	third := source()
	require.NoError(t, s.Delete(t.Context(), id))
	assert.False(t, current(third), "it is gone")

	// One with a body hangs on more than its fragments.
	put(t, s, storetest.AgentRun(t, id, noon, calls...))
	made, err := rebuild.Make(t.Context(), s, id, rebuild.Options{})
	require.NoError(t, err)
	assert.False(t, made.Source.Whole)
	assert.False(t, current(made.Source))
}
