package recorder

import (
	"context"
	"encoding/binary"
	"fmt"
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

func TestAShareOfGoodRunsIsKeptByTraceID(t *testing.T) {
	const all = 20_000
	for _, ratio := range []float64{0, 0.1, 0.5, 1} {
		n := 0
		for i := range uint64(all) {
			var id ID
			binary.BigEndian.PutUint64(id[8:], i)
			if chosen(id, ratio) {
				n++
				assert.True(t, chosen(id, min(1, ratio*2)), "a larger share has all of a smaller one")
			}
		}
		assert.InDelta(t, ratio, float64(n)/all, 0.01)
	}

	f := newFixture(t, func(c *Config) { c.Keep.SuccessRatio = 1 })
	f.add(tool(1, 2, 1), agent(1, 1))
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 2)
	assert.Equal(t, tape.KeptSample, only1(t, spans).KeptBecause)
	assert.Equal(t, 1, f.Status().HeldRuns, "a good run may turn out to have failed")

	f.add(tool(1, 3, 1))
	require.Len(t, f.out(), 1, "a late span follows")
	f.add(tool(1, 4, 1, failed))
	spans = f.out()
	require.Len(t, spans, 4, "once more as a failed run, with all that came late")
	row := only1(t, spans)
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
	assert.Equal(t, tape.TriggerLateFailure, row.Trigger)
	assert.Zero(t, f.Status().HeldRuns)
	f.balanced()
}

type conditionFunc func(ptrace.Traces) bool

func (f conditionFunc) Match(_ context.Context, td ptrace.Traces) bool { return f(td) }

func TestConditionsSeeRedactedSpans(t *testing.T) {
	f := newFixture(t, nil)
	f.deps.Conditions = conditionFunc(func(td ptrace.Traces) bool {
		found := false
		forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) {
			if v, ok := s.Attributes().Get("password"); ok {
				found = true
				assert.Equal(t, "[REDACTED:password]", v.Str())
			}
		})
		return found
	})
	f.open(f.cfg, f.deps)
	f.add(tool(1, 2, 1, func(s ptrace.Span) { s.Attributes().PutStr("password", "x1y2z3") }), agent(1, 1))
	f.add(tool(2, 2, 1), agent(2, 1))
	f.pass(6 * time.Second)
	kept := 0
	for _, row := range rows(f.out()) {
		if row.Kept {
			kept++
			assert.Equal(t, tape.KeptCondition, row.KeptBecause)
		}
	}
	assert.Equal(t, 1, kept)
}

func lastSuccess(c *Config) { c.Keep.LastSuccessPer = []string{"service", "agent"} }

func (f *fixture) goodRun(id byte) {
	f.t.Helper()
	f.add(tool(id, 2, 1), agent(id, 1))
	f.pass(6 * time.Second)
}

func TestAFailureBringsTheLastGoodRunOfItsKindAlong(t *testing.T) {
	f := newFixture(t, onDisk(t, lastSuccess))
	f.goodRun(1)
	f.goodRun(2)
	f.goodRun(3)
	f.add(tool(4, 2, 1, func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.name", "other") }),
		agent(4, 1, func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.agent.name", "b") }))
	f.pass(6 * time.Second)
	f.out()
	f.kill()

	f.add(tool(9, 2, 1, failed), agent(9, 1, failed))
	f.pass(6 * time.Second)
	got := map[string]tape.Row{}
	for _, row := range rows(f.out()) {
		got[row.TraceID] = row
	}
	require.Len(t, got, 2, "the failure and the last good run of that agent")
	good := got[pcommon.TraceID{15: 3}.String()]
	assert.True(t, good.Kept)
	assert.Equal(t, tape.KeptLastSuccess, good.KeptBecause)
	assert.Equal(t, tape.OutcomeSucceeded, good.Outcome)
	assert.Equal(t, tape.TriggerRootEnded, good.Trigger)
	f.balanced()

	f.add(tool(10, 2, 1, failed), agent(10, 1, failed))
	f.pass(6 * time.Second)
	assert.Len(t, rows(f.out()), 1, "the good run is there already")
	f.balanced()
}

func TestTheLastGoodRunIsKeptWhenItWouldBeLost(t *testing.T) {
	f := newFixture(t, lastSuccess)
	f.goodRun(1)
	f.goodRun(2)
	f.out()
	f.pass(2 * time.Hour)
	row := only1(t, f.out())
	assert.Equal(t, pcommon.TraceID{15: 2}.String(), row.TraceID)
	assert.Equal(t, tape.KeptLastSuccess, row.KeptBecause)
	assert.Zero(t, f.Status().HeldRuns)
	f.balanced()

	f.goodRun(3)
	f.out()
	require.NoError(t, f.Close(context.Background()))
	assert.Equal(t, tape.KeptLastSuccess, only1(t, f.out()).KeptBecause)
}

func TestAskedFor(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		do      func(*fixture)
		answer  Answer
		trigger tape.Trigger
		spans   int
	}{
		"a summarised run": {
			do:     func(f *fixture) { f.goodRun(1); f.out() },
			answer: Kept, trigger: tape.TriggerAsked, spans: 2,
		},
		"a trace without calls": {
			do:     func(f *fixture) { f.add(span(1, 2, 1), span(1, 1, 0)); f.pass(6 * time.Second) },
			answer: Kept, trigger: tape.TriggerAsked, spans: 2,
		},
		"a kept run":      {do: func(f *fixture) { f.add(tool(1, 2, 1, failed)); f.pass(time.Hour); f.out() }, answer: Unknown},
		"an open run":     {do: func(f *fixture) { f.add(tool(1, 2, 1)) }, answer: Waiting},
		"an unknown run":  {do: func(*fixture) {}, answer: Unknown},
		"a run long gone": {do: func(f *fixture) { f.goodRun(1); f.pass(3 * time.Hour); f.out() }, answer: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			c.do(f)
			answer, err := f.Keep(ctx, pcommon.TraceID{15: 1})
			require.NoError(t, err)
			assert.Equal(t, c.answer, answer)
			spans := f.out()
			assert.Len(t, spans, c.spans)
			if c.spans > 0 {
				row := only1(t, spans)
				assert.Equal(t, c.trigger, row.Trigger)
				assert.Equal(t, tape.KeptAsked, row.KeptBecause)
				assert.NotEmpty(t, attr.OutcomeOf(spans[0].Attributes()))
			}
			f.balanced()
			again, err := f.Keep(ctx, pcommon.TraceID{15: 1})
			require.NoError(t, err)
			if c.spans > 0 {
				assert.Equal(t, Unknown, again, "the next component has it")
			} else {
				assert.Equal(t, c.answer, again)
			}
			assert.Empty(t, f.out(), "once is enough")
		})
	}
}

func TestAskingWhileTheStoreIsAwayIsAnError(t *testing.T) {
	f := newFixture(t, nil)
	f.goodRun(1)
	f.out()
	f.failWith(errRetryable)
	_, err := f.Keep(context.Background(), pcommon.TraceID{15: 1})
	require.ErrorIs(t, err, errRetryable)
	f.failWith(nil)
	answer, err := f.Keep(context.Background(), pcommon.TraceID{15: 1})
	require.NoError(t, err)
	assert.Equal(t, Kept, answer)
	f.balanced()
}

func TestALateCallMakesARunOfWhatWasLetGo(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(span(1, 2, 1), span(1, 3, 1))
	f.pass(time.Hour / 4)
	assert.Equal(t, 2, f.counts.letGo)
	f.kill()
	f.add(tool(1, 4, 1, failed), agent(1, 1, failed))
	f.balanced()
	f.kill()
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 4, "with what came before")
	assert.Equal(t, tape.OutcomeFailed, only1(t, spans).Outcome)
	f.balanced()
}

func TestAFailedEvaluationThatComesLateGetsTheWholeRun(t *testing.T) {
	f := newFixture(t, nil)
	f.goodRun(1)
	f.out()
	f.pass(20 * time.Minute)
	f.add(span(1, 9, 1, func(s ptrace.Span) {
		e := s.Events().AppendEmpty()
		e.SetName("gen_ai.evaluation.result")
		e.Attributes().PutStr("gen_ai.evaluation.name", "Relevance")
		e.Attributes().PutStr("gen_ai.evaluation.score.label", "fail")
	}))
	spans := f.out()
	require.Len(t, spans, 3)
	row := only1(t, spans)
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
	assert.Equal(t, tape.TriggerLateFailure, row.Trigger)
	assert.Contains(t, row.FailureReason, "Relevance")
	f.balanced()
}

// A score is a failure where a rule says so, of a span or of a log record.
func TestAFailedScoreThatComesLateGetsTheWholeRun(t *testing.T) {
	below := 0.7
	cfg := dialect.DefaultConfig()
	cfg.EvaluationScores = []dialect.ScoreRule{{Evaluation: "faithfulness", Below: &below}}
	score := func(m pcommon.Map, score float64) {
		m.PutStr("gen_ai.evaluation.name", "faithfulness")
		m.PutDouble("gen_ai.evaluation.score.value", score)
	}
	for name, late := range map[string]func(*fixture, float64){
		"event of a span": func(f *fixture, value float64) {
			f.add(span(1, 9, 1, func(s ptrace.Span) {
				e := s.Events().AppendEmpty()
				e.SetName("gen_ai.evaluation.result")
				score(e.Attributes(), value)
			}))
		},
		"log record": func(f *fixture, value float64) {
			ld := plog.NewLogs()
			rec := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
			rec.SetTraceID(pcommon.TraceID{15: 1})
			rec.SetTimestamp(pcommon.NewTimestampFromTime(f.time()) + pcommon.Timestamp(10*value))
			rec.SetEventName("gen_ai.evaluation.result")
			score(rec.Attributes(), value)
			require.NoError(f.t, f.AddLogs(context.Background(), ld))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			deps := f.deps
			deps.Translation = dialect.Options{Config: cfg}
			f.open(f.cfg, deps)
			f.goodRun(1)
			f.out()
			f.pass(20 * time.Minute)
			late(f, 0.9)
			assert.Empty(t, f.out(), "good enough")
			late(f, 0.4)
			spans := f.out()
			require.GreaterOrEqual(t, len(spans), 2, "with what came before")
			row := only1(t, spans)
			assert.Equal(t, tape.OutcomeFailed, row.Outcome)
			assert.Equal(t, tape.TriggerLateFailure, row.Trigger)
			assert.Equal(t, "evaluation faithfulness: 0.4 is below 0.7", row.FailureReason)
			f.balanced()
		})
	}
}

// The model is told a schema in each run; the one that fails has another.
func TestAFailureIsComparedWithTheLastGoodRun(t *testing.T) {
	chat := func(trace, id byte, schema string) func(ptrace.ResourceSpans, ptrace.Span) {
		return span(trace, id, 1, func(s ptrace.Span) {
			s.Attributes().PutStr("gen_ai.operation.name", "chat")
			s.Attributes().PutStr("gen_ai.request.model", "m")
			s.Attributes().PutStr("gen_ai.tool.definitions", fmt.Sprintf(`[{"type":"function","name":"t","parameters":%s}]`, schema))
			s.Attributes().PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"go"}]}]`)
		})
	}
	const was = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	const is = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["unit"]}`
	f := newFixture(t, onDisk(t, nil))
	f.add(chat(1, 2, was), tool(1, 3, 1), agent(1, 1))
	f.pass(6 * time.Second)
	f.out()
	f.kill()
	f.add(chat(2, 2, is), tool(2, 3, 1, failed), agent(2, 1, failed))
	f.pass(6 * time.Second)
	spans := f.out()
	assert.Equal(t, "schema_mismatch", only1(t, spans).FailureClass)
	found := false
	for _, s := range spans {
		if v, ok := s.Attributes().Get(attr.FailureClass); ok {
			found = true
			assert.Equal(t, "schema_mismatch", v.Str())
		}
	}
	assert.True(t, found)
}
