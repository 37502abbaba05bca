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
	c.Keep.Outcomes = []tape.Outcome{tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete, tape.OutcomeSucceeded}
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
				assert.Zero(t, f.Status().OpenRuns)
			})
		}
	}
}

// shifted is a sample in another trace, session time and call ids of its own.
func shifted(t *testing.T, name string, trace byte, by time.Duration, callSuffix, service string) (ptrace.Traces, plog.Logs) {
	t.Helper()
	td, ld := sampleTraces(t, name), sampleLogs(t, name)
	rename := func(m pcommon.Map) {
		for k, v := range m.All() {
			if k == "call_id" {
				v.SetStr(v.Str() + callSuffix)
			}
		}
	}
	for _, rs := range td.ResourceSpans().All() {
		rs.Resource().Attributes().PutStr("service.name", service)
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				s.SetTraceID(pcommon.TraceID{trace})
				s.SetStartTimestamp(s.StartTimestamp() + pcommon.Timestamp(by))
				s.SetEndTimestamp(s.EndTimestamp() + pcommon.Timestamp(by))
				rename(s.Attributes())
				for _, e := range s.Events().All() {
					rename(e.Attributes())
				}
			}
		}
	}
	for _, rl := range ld.ResourceLogs().All() {
		rl.Resource().Attributes().PutStr("service.name", service)
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				r.SetTimestamp(r.Timestamp() + pcommon.Timestamp(by))
				r.SetObservedTimestamp(r.ObservedTimestamp() + pcommon.Timestamp(by))
				r.Attributes().Remove("event.timestamp")
				rename(r.Attributes())
			}
		}
	}
	return td, ld
}

// Two turns of one session are two traces; each gets its own log records, however
// the four requests come, and also when the second turn's spans come last of all.
func TestTurnsOfOneSessionKeepTheirLogRecords(t *testing.T) {
	for name, suffix := range map[string]string{"ids of their own": "-2", "ids again": ""} {
		for order, do := range map[string]func(f *fixture, send [4]func()){
			"as they happen":    func(_ *fixture, s [4]func()) { s[0](); s[1](); s[2](); s[3]() },
			"spans first":       func(_ *fixture, s [4]func()) { s[1](); s[3](); s[0](); s[2]() },
			"logs first":        func(_ *fixture, s [4]func()) { s[0](); s[2](); s[1](); s[3]() },
			"a turn in between": func(f *fixture, s [4]func()) { s[0](); s[2](); s[1](); f.pass(6 * time.Second); s[3]() },
			"logs after all": func(f *fixture, s [4]func()) {
				s[1]()
				s[3]()
				f.pass(6 * time.Second)
				s[0]()
				s[2]()
			},
		} {
			t.Run(name+" "+order, func(t *testing.T) {
				t1, l1 := shifted(t, "codex", 1, 0, "", "codex")
				t2, l2 := shifted(t, "codex", 2, 4*time.Second, suffix, "codex")
				want := []*tape.Tape{
					dialect.TranslateWithLogs(t1, l1, dialect.Options{})[0],
					dialect.TranslateWithLogs(t2, l2, dialect.Options{})[0],
				}
				f := newFixture(t, keepAll)
				send := func(fn func() error) func() { return func() { require.NoError(t, fn()) } }
				ctx := context.Background()
				do(f, [4]func(){
					send(func() error { return f.AddLogs(ctx, l1) }), send(func() error { return f.Add(ctx, t1) }),
					send(func() error { return f.AddLogs(ctx, l2) }), send(func() error { return f.Add(ctx, t2) }),
				})
				f.pass(6 * time.Second)
				f.pass(11 * time.Minute)
				got := tapesOf(f)
				require.Len(t, got, 2)
				for i := range want {
					assert.Equal(t, toolCalls(want[i]), toolCalls(got[i]), "turn %d", i+1)
					assert.Equal(t, want[i].Manifest.Outcome, got[i].Manifest.Outcome)
				}
				f.balanced()
				assert.Zero(t, f.Status().OpenRuns)
				assert.Empty(t, f.kinship.byLogCall)
			})
		}
	}
}

// A session id that two services share does not mix their runs.
func TestServicesThatShareASessionKeepTheirLogRecords(t *testing.T) {
	td, ld := shifted(t, "codex", 1, 0, "", "codex")
	other := sampleTraces(t, "cagent")
	want := dialect.Translate(other, dialect.Options{})
	f := newFixture(t, keepAll)
	require.NoError(t, f.Add(context.Background(), other))
	require.NoError(t, f.Add(context.Background(), td))
	require.NoError(t, f.AddLogs(context.Background(), ld))
	f.pass(6 * time.Second)
	f.pass(11 * time.Minute)
	for _, got := range tapesOf(f) {
		if got.Manifest.TraceID == want[0].Manifest.TraceID {
			assert.Equal(t, toolCalls(want[0]), toolCalls(got))
		} else {
			assert.Len(t, toolCalls(got), 3)
		}
	}
	f.balanced()
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
	assert.Zero(t, f.Status().OpenRuns)
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
