package logfold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func read(t *testing.T, base string) (ptrace.Traces, plog.Logs) {
	t.Helper()
	text, err := os.ReadFile(base + ".json")
	require.NoError(t, err)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(text)
	require.NoError(t, err)
	text, err = os.ReadFile(base + ".logs.json")
	require.NoError(t, err)
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
	require.NoError(t, err)
	return td, ld
}

func tracesJSON(t *testing.T, td ptrace.Traces) string {
	t.Helper()
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return string(text)
}

func logsJSON(t *testing.T, ld plog.Logs) string {
	t.Helper()
	text, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	return string(text)
}

// withTrace gives every record of the sample a trace id, as the recorder does for
// records that name only a session.
func withTrace(ld plog.Logs, id pcommon.TraceID) {
	for _, rl := range ld.ResourceLogs().All() {
		rl.SetSchemaUrl("")
		for _, sl := range rl.ScopeLogs().All() {
			sl.SetSchemaUrl("")
			for _, r := range sl.LogRecords().All() {
				r.SetFlags(0)
				if r.TraceID().IsEmpty() {
					r.SetTraceID(id)
				}
			}
		}
	}
}

func TestUnfoldGivesBackWhatFoldGot(t *testing.T) {
	samples, err := filepath.Glob("../dialect/testdata/samples/*.logs.json")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, file := range samples {
		t.Run(filepath.Base(file), func(t *testing.T) {
			td, ld := read(t, strings.TrimSuffix(file, ".logs.json"))
			withTrace(ld, pcommon.TraceID{9})
			wantSpans, wantLogs := tracesJSON(t, td), logsJSON(t, ld)
			assert.Zero(t, Fold(td, ld))
			assert.NotEqual(t, wantSpans, tracesJSON(t, td))
			before := tracesJSON(t, td)
			spans, logs := Unfold(td)
			assert.Equal(t, before, tracesJSON(t, td), "the folded trace is not changed")
			assert.JSONEq(t, wantSpans, tracesJSON(t, spans))
			assert.JSONEq(t, wantLogs, logsJSON(t, logs))
		})
	}
}

func TestRecordsWithoutTheirSpanHangOnAnAnchor(t *testing.T) {
	ld := plog.NewLogs()
	sl := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	for i := range 3 {
		r := sl.LogRecords().AppendEmpty()
		r.SetTraceID(pcommon.TraceID{1})
		r.SetTimestamp(pcommon.Timestamp(10 * (3 - i)))
		r.Body().SetStr("x")
		if i == 1 {
			r.SetSpanID(pcommon.SpanID{7})
		}
	}
	sl.LogRecords().AppendEmpty().Body().SetStr("no trace")
	td := ptrace.NewTraces()
	assert.Equal(t, 1, Fold(td, ld), "a record without a trace id is left out")
	require.Equal(t, 1, td.SpanCount())
	span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, AnchorID(pcommon.TraceID{1}), span.SpanID())
	assert.EqualValues(t, 10, span.StartTimestamp())
	assert.EqualValues(t, 30, span.EndTimestamp())
	assert.Equal(t, 3, span.Events().Len())

	spans, logs := Unfold(td)
	assert.Zero(t, spans.SpanCount(), "the anchor is no span of the run")
	require.Equal(t, 3, logs.LogRecordCount())
	assert.Equal(t, pcommon.SpanID{7}, logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(1).SpanID())
}

// The same delivery twice, and parts of a run that are folded apart.
func TestEachRecordComesBackOnce(t *testing.T) {
	td, ld := read(t, "../dialect/testdata/samples/claude_code")
	withTrace(ld, pcommon.TraceID{9})
	want := logsJSON(t, ld)
	Fold(td, ld)
	Fold(td, ld)
	_, logs := Unfold(td)
	assert.JSONEq(t, want, logsJSON(t, logs))
}

// TestRecordsWithoutTimeAreToldApart: two evaluations of one span came one by one,
// each twice, and nothing but what they say tells them apart.
func TestRecordsWithoutTimeAreToldApart(t *testing.T) {
	td := ptrace.NewTraces()
	for _, name := range []string{"faithfulness", "toxicity", "faithfulness", "toxicity"} {
		ld := plog.NewLogs()
		r := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		r.SetTraceID(pcommon.TraceID{1})
		r.SetSpanID(pcommon.SpanID{2})
		r.Attributes().PutStr("gen_ai.evaluation.name", name)
		assert.Zero(t, Fold(td, ld))
	}
	_, logs := Unfold(td)
	assert.Equal(t, 2, logs.LogRecordCount())
}

func TestATraceWithoutRecordsIsItself(t *testing.T) {
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().Events().AppendEmpty().SetName("e")
	spans, logs := Unfold(td)
	assert.Equal(t, td, spans)
	assert.Zero(t, logs.LogRecordCount())
}

func TestForgedMarksDoNotPanic(t *testing.T) {
	td := ptrace.NewTraces()
	e := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().Events().AppendEmpty()
	e.Attributes().PutBool(Mark, true)
	for _, name := range []string{Body, Name, Severity, Observed, Group, Index, Scope, Resource, Span} {
		e.Attributes().PutEmptySlice(name)
	}
	_, logs := Unfold(td)
	assert.Equal(t, 1, logs.LogRecordCount())
}
