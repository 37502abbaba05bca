package recorder

import (
	"context"
	"os"
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

const samples = "../dialect/testdata/samples/"

func sampleTraces(t *testing.T, name string) ptrace.Traces {
	t.Helper()
	text, err := os.ReadFile(samples + name + ".json")
	require.NoError(t, err)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(text)
	require.NoError(t, err)
	return td
}

func sampleLogs(t *testing.T, name string) plog.Logs {
	t.Helper()
	text, err := os.ReadFile(samples + name + ".logs.json")
	require.NoError(t, err)
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
	require.NoError(t, err)
	return ld
}

// keepAll keeps every run, so that its content can be looked at.
func keepAll(c *Config) {
	c.KeepOutcomes = []tape.Outcome{tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete, tape.OutcomeSucceeded}
}

// tapesOf reads the tapes of what was emitted, as whoever stores it would.
func tapesOf(f *fixture) []*tape.Tape {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := ptrace.NewTraces()
	for _, td := range f.emitted {
		td.ResourceSpans().MoveAndAppendTo(all.ResourceSpans())
	}
	f.emitted = nil
	return dialect.Translate(all, dialect.Options{})
}

// calls lists what matters of a tape's tool calls.
func toolCalls(t *tape.Tape) (out []string) {
	for _, rec := range t.Records {
		if rec.KindOf() == tape.KindTool {
			out = append(out, rec.Tool+" "+string(rec.Args)+" "+string(rec.Result))
		}
	}
	return out
}

// Log records join their trace, before the spans, after them or in between, and
// the tape is the one that both together make.
func TestLogRecordsJoinTheirTrace(t *testing.T) {
	for _, name := range []string{"otel_genai_legacy_v136", "claude_code", "gemini_cli", "codex"} {
		want := dialect.TranslateWithLogs(sampleTraces(t, name), sampleLogs(t, name), dialect.Options{})
		require.NotEmpty(t, want)
		for order, do := range map[string]func(*fixture){
			"logs first": func(f *fixture) {
				require.NoError(t, f.AddLogs(context.Background(), sampleLogs(t, name)))
				require.NoError(t, f.Add(context.Background(), sampleTraces(t, name)))
			},
			"spans first": func(f *fixture) {
				require.NoError(t, f.Add(context.Background(), sampleTraces(t, name)))
				require.NoError(t, f.AddLogs(context.Background(), sampleLogs(t, name)))
			},
			"logs twice": func(f *fixture) {
				require.NoError(t, f.AddLogs(context.Background(), sampleLogs(t, name)))
				require.NoError(t, f.Add(context.Background(), sampleTraces(t, name)))
				require.NoError(t, f.AddLogs(context.Background(), sampleLogs(t, name)))
			},
		} {
			t.Run(name+" "+order, func(t *testing.T) {
				f := newFixture(t, keepAll)
				do(f)
				f.pass(6 * time.Second)
				f.pass(11 * time.Minute)
				got := tapesOf(f)
				require.Len(t, got, len(want))
				for i := range want {
					assert.Equal(t, toolCalls(want[i]), toolCalls(got[i]))
					assert.Equal(t, want[i].Manifest.Outcome, got[i].Manifest.Outcome)
				}
				f.balanced()
				assert.Zero(t, f.OpenRuns())
			})
		}
	}
}

func TestAnAgentThatOnlyWritesLogsIsARun(t *testing.T) {
	f := newFixture(t, keepAll)
	require.NoError(t, f.AddLogs(context.Background(), sampleLogs(t, "codex")))
	f.pass(9 * time.Minute)
	assert.Empty(t, f.emitted)
	f.pass(2 * time.Minute)
	got := tapesOf(f)
	require.Len(t, got, 1)
	assert.Len(t, toolCalls(got[0]), 3)
	f.balanced()
}

func TestLateLogRecordsFollowTheDecision(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.add(tool(2, 2, 1), agent(2, 1))
	f.pass(6 * time.Second)
	f.out()
	late := func(trace byte) plog.Logs {
		ld := plog.NewLogs()
		r := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		r.SetTraceID(pcommon.TraceID{15: trace})
		r.SetSpanID(pcommon.SpanID{7: 2})
		r.Body().SetStr("password=hunter2")
		return ld
	}
	require.NoError(t, f.AddLogs(context.Background(), late(1)))
	spans := f.out()
	require.Len(t, spans, 1, "an anchor carries them to the store")
	assert.Equal(t, tape.OutcomeFailed, attr.OutcomeOf(spans[0].Attributes()))
	body, ok := spans[0].Events().At(0).Attributes().Get("tape.log.body")
	require.True(t, ok)
	assert.Equal(t, "password=[REDACTED:password]", body.Str(), "log records are redacted like spans")

	require.NoError(t, f.AddLogs(context.Background(), late(2)))
	assert.Empty(t, f.out())
	f.balanced()
}

func TestLogRecordsThatNameNothingAreCounted(t *testing.T) {
	f := newFixture(t, nil)
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("x")
	require.NoError(t, f.AddLogs(context.Background(), ld))
	require.NoError(t, f.AddLogs(context.Background(), plog.NewLogs()))
	assert.Equal(t, 1, f.counts.logs.dropped)
	assert.Zero(t, f.OpenRuns())
	f.balanced()
}

func TestLogRecordsOfATraceWithoutCallsAreLetGo(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.PassThrough = true })
	ld := plog.NewLogs()
	r := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetTraceID(pcommon.TraceID{15: 1})
	require.NoError(t, f.AddLogs(context.Background(), ld))
	f.add(span(1, 2, 1), span(1, 1, 0))
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 2, "the spans go on as they came")
	for _, s := range spans {
		assert.Zero(t, s.Events().Len())
	}
	f.balanced()
}
