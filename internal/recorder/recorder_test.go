package recorder

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func only1(t *testing.T, spans []ptrace.Span) tape.Row {
	t.Helper()
	got := rows(spans)
	require.Len(t, got, 1, "exactly one span carries the row")
	return got[0]
}

func TestAFailedRunIsKeptWhole(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1))
	f.add(tool(1, 3, 1, failed))
	f.add(agent(1, 1, failed))
	f.pass(4 * time.Second)
	assert.Empty(t, f.out(), "the root settles first")
	f.pass(2 * time.Second)

	spans := f.out()
	require.Len(t, spans, 3)
	row := only1(t, spans)
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
	assert.Equal(t, tape.TriggerRootEnded, row.Trigger)
	assert.True(t, row.Kept)
	assert.Equal(t, "failures", row.Class)
	assert.Equal(t, 2, row.ToolCalls)
	assert.Equal(t, 1, row.FailedCalls)
	for _, s := range spans {
		assert.Equal(t, tape.OutcomeFailed, attr.OutcomeOf(s.Attributes()))
		if strings.HasPrefix(s.Name(), "execute_tool") {
			key, ok := s.Attributes().Get(attr.Key)
			require.True(t, ok)
			assert.Regexp(t, `^t:[0-9a-f]{12}$`, key.Str())
			_, ok = s.Attributes().Get(attr.Seq)
			assert.True(t, ok)
		}
	}
	assert.Zero(t, f.live())
	f.balanced()
}

func TestAGoodRunBecomesOneSummarySpan(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), tool(1, 3, 1), agent(1, 1))
	f.pass(6 * time.Second)

	spans := f.out()
	require.Len(t, spans, 1)
	s := spans[0]
	row := only1(t, spans)
	assert.True(t, attr.IsSummary(s.Attributes()))
	assert.Equal(t, tape.OutcomeSucceeded, row.Outcome)
	assert.False(t, row.Kept)
	assert.Equal(t, 2, row.ToolCalls)
	assert.Equal(t, []string{"t"}, row.Tools)
	assert.Equal(t, "invoke_agent a", s.Name())
	assert.True(t, s.ParentSpanID().IsEmpty())
	assert.False(t, s.SpanID().IsEmpty())
	assert.GreaterOrEqual(t, s.EndTimestamp(), s.StartTimestamp())
	_, leaked := s.Attributes().Get("gen_ai.tool.call.arguments")
	assert.False(t, leaked, "a summary holds no content")
	f.balanced()
}

func TestAPauseShorterThanTheIdleTimeoutNeverSplitsARun(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1))
	f.pass(70 * time.Second)
	f.add(tool(1, 3, 1, failed))
	for range 20 {
		f.pass(9 * time.Minute)
		f.add(tool(1, 4, 1))
	}
	f.pass(240 * time.Second)
	assert.Empty(t, f.out())
	f.add(agent(1, 1))
	f.pass(6 * time.Second)
	row := only1(t, f.out())
	assert.Equal(t, tape.OutcomeRecovered, row.Outcome)
	f.balanced()
}

func TestTriggers(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Config)
		do      func(*fixture)
		trigger tape.Trigger
		outcome tape.Outcome
	}{
		"a local root counts when the run goes idle": {
			do: func(f *fixture) {
				f.add(tool(1, 2, 1), span(1, 1, 9, func(s ptrace.Span) { s.SetEndTimestamp(s.StartTimestamp() + 1e12) }))
				f.pass(11 * time.Minute)
			},
			trigger: tape.TriggerIdle, outcome: tape.OutcomeSucceeded,
		},
		"no root at max age is incomplete, not a success": {
			do: func(f *fixture) {
				for range 200 {
					f.add(tool(1, 2, 1))
					f.pass(8 * time.Minute)
				}
			},
			trigger: tape.TriggerMaxAge, outcome: tape.OutcomeIncomplete,
		},
		"shutdown": {
			do: func(f *fixture) {
				f.add(tool(1, 2, 1))
				require.NoError(f.t, f.Close(context.Background()))
			},
			trigger: tape.TriggerShutdown, outcome: tape.OutcomeIncomplete,
		},
		"size": {
			change: func(c *Config) { c.MaxRunSpans = 32 },
			do: func(f *fixture) {
				for i := range 40 {
					f.add(tool(1, byte(2+i), 1))
				}
				f.add(agent(1, 1))
				f.pass(6 * time.Second)
			},
			trigger: tape.TriggerSize, outcome: tape.OutcomeSucceeded,
		},
		"evicted": {
			change: func(c *Config) { c.Spool.MaxBytes = 64 << 10 },
			do: func(f *fixture) {
				f.add(tool(1, 2, 1))
				for i := range 200 {
					f.add(tool(2, byte(2+i), 1))
				}
			},
			trigger: tape.TriggerEvicted, outcome: tape.OutcomeIncomplete,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.change)
			c.do(f)
			got := rows(f.out())
			require.NotEmpty(t, got)
			assert.Equal(t, c.trigger, got[0].Trigger)
			assert.Equal(t, c.outcome, got[0].Outcome)
			f.balanced()
		})
	}
}

func TestBackgroundSpansDoNotKeepAnEndedRunOpenForEver(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), agent(1, 1))
	for i := range 200 {
		f.add(span(1, byte(3+i%200), 1))
		f.pass(4 * time.Second)
	}
	assert.NotEmpty(t, f.out())
	f.balanced()
}

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

func TestRunsWithoutCallsAreLetGoOrPassedOn(t *testing.T) {
	f := newFixture(t, nil)
	f.add(span(1, 2, 1), span(1, 1, 0))
	f.pass(6 * time.Second)
	assert.Empty(t, f.out())
	assert.Equal(t, 2, f.counts.letGo)
	f.add(span(1, 3, 1))
	assert.Empty(t, f.out())
	f.balanced()

	f.add(tool(1, 4, 1, failed), agent(1, 9, failed))
	f.pass(6 * time.Second)
	assert.Len(t, rows(f.out()), 1, "a call makes it a run after all")
	f.balanced()

	f = newFixture(t, func(c *Config) { c.PassThrough = true })
	f.add(span(1, 2, 1), span(1, 1, 0, func(s ptrace.Span) { s.Attributes().PutStr("password", "hunter2") }))
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 2)
	for _, s := range spans {
		assert.Empty(t, attr.OutcomeOf(s.Attributes()))
		if v, ok := s.Attributes().Get("password"); ok {
			assert.Equal(t, "[REDACTED:password]", v.Str(), "what is passed on is redacted too")
		}
	}
	f.add(span(1, 3, 1))
	assert.Len(t, f.out(), 1)
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

func TestADecisionSaysHowFarItsTapeReplays(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), agent(1, 1))
	f.add(tool(2, 2, 1, func(s ptrace.Span) { s.Attributes().Remove("gen_ai.tool.call.result") }), agent(2, 1))
	f.add(span(3, 1, 0))
	f.pass(6 * time.Second)
	assert.Equal(t, 2, f.counts.examined, "a trace without calls has no tape")
	assert.Equal(t, 1, f.counts.replays)
}

func TestMarksThatCameWithTheSpansAreNotBelieved(t *testing.T) {
	forged := func(s ptrace.Span) {
		attr.PutRow(s.Attributes(), tape.Row{TraceID: "x", Outcome: tape.OutcomeSucceeded})
		s.Attributes().PutBool(attr.Summary, true)
		s.Attributes().PutStr(attr.Outcome, "succeeded")
		s.Attributes().PutStr(attr.Key, "t:000000000000")
		s.Attributes().PutStr("secret", "hunter2")
	}
	f := newFixture(t, nil)
	td := traces(tool(1, 2, 1, forged, failed), agent(1, 1, forged, failed))
	td.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.Redaction, f.policy)
	require.NoError(t, f.Add(context.Background(), td))
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 2)
	assert.Equal(t, tape.OutcomeFailed, only1(t, spans).Outcome)
	for _, s := range spans {
		assert.False(t, attr.IsSummary(s.Attributes()))
		secret, _ := s.Attributes().Get("secret")
		assert.Equal(t, "[REDACTED:secret]", secret.Str())
		if key, ok := s.Attributes().Get(attr.Key); ok {
			assert.NotEqual(t, "t:000000000000", key.Str())
		}
	}
}

func TestRulesTravelWithTheSpansWhereThereIsNoStore(t *testing.T) {
	policy, err := redact.New(redact.Config{Keys: []string{"pin"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		policy *redact.Policy
		carry  bool
		want   bool
	}{
		"default": {redact.Default(), true, false},
		"custom":  {policy, true, true},
		"stored":  {policy, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			deps := f.deps
			deps.Scrubber, deps.CarryPolicy = scrub.New(c.policy), c.carry
			f.open(f.cfg, deps)
			f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
			f.pass(6 * time.Second)
			require.Len(t, f.emitted, 1)
			res := f.emitted[0].ResourceSpans().At(0).Resource().Attributes()
			id, ok := res.Get(attr.Redaction)
			require.True(t, ok)
			assert.Equal(t, c.policy.Manifest().Policy, id.Str())
			rules, ok := res.Get(attr.RedactionRules)
			require.Equal(t, c.want, ok)
			if ok {
				assert.JSONEq(t, string(c.policy.Manifest().Rules), rules.Str())
			}
		})
	}
}

func TestSpansWithoutTraceIDAreCounted(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(0, 1, 0), tool(1, 2, 1))
	assert.Equal(t, 1, f.counts.dropped[DropNoTraceID])
	f.balanced()
}

func TestEmptyRequests(t *testing.T) {
	f := newFixture(t, nil)
	td := ptrace.NewTraces()
	require.NoError(t, f.Add(context.Background(), td))
	td.ResourceSpans().AppendEmpty()
	require.NoError(t, f.Add(context.Background(), td))
	td.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
	require.NoError(t, f.Add(context.Background(), td))
	assert.Zero(t, f.Status().OpenRuns)
}

func TestTheNextComponentRefuses(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.failWith(errRetryable)
	f.pass(6 * time.Second)
	assert.Equal(t, 1, f.Status().OpenRuns, "a decision that is not taken is not lost")
	assert.True(t, f.Pending(pcommon.TraceID{15: 1}))
	f.add(tool(1, 3, 1))
	f.failWith(nil)
	f.pass(31 * time.Second)
	spans := f.out()
	assert.Len(t, spans, 3)
	assert.Equal(t, tape.TriggerRootEnded, only1(t, spans).Trigger, "the trigger is that of the decision")
	f.balanced()

	f.add(tool(2, 2, 1, failed), agent(2, 1, failed))
	f.failWith(errPermanent)
	f.pass(6 * time.Second)
	assert.Zero(t, f.Status().OpenRuns)
	assert.Equal(t, 2, f.counts.dropped[DropRefused])
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

func TestAFullBufferRefusesWithARetryableError(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Spool.MaxBytes = 64 << 10 })
	f.failWith(errRetryable)
	var err error
	for i := range 1000 {
		if err = f.Add(context.Background(), traces(tool(byte(i%200+1), byte(2+i/200), 1))); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, ErrBusy)
	assert.LessOrEqual(t, f.Status().Spool.Bytes, int64(64<<10))
	f.balanced()
	f.failWith(nil)
	f.pass(time.Minute)
	require.NoError(t, f.Add(context.Background(), traces(tool(200, 2, 1))))

	big := traces(tool(201, 2, 1, func(s ptrace.Span) { s.SetName(strings.Repeat("x", 70_000)) }))
	require.ErrorIs(t, f.Add(context.Background(), big), ErrTooLarge)
	f.balanced()
}

func TestCloseCountsWhatNobodyTakes(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), tool(2, 2, 1))
	f.failWith(errRetryable)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, f.Close(ctx), context.DeadlineExceeded)
	assert.Equal(t, 2, f.counts.dropped[DropShutdown])
	require.NoError(t, f.Close(context.Background()), "a second time is fine")
	require.ErrorIs(t, f.Add(context.Background(), traces(tool(3, 2, 1))), ErrClosed)
	f.balanced()
}

func TestLargeBodiesLeaveForTheStore(t *testing.T) {
	big := strings.Repeat("a long text ", 10_000)
	body := func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.result", big) }
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, body), agent(1, 1, failed))
	f.pass(6 * time.Second)
	for _, s := range f.out() {
		if v, ok := s.Attributes().Get("gen_ai.tool.call.result"); ok {
			assert.Less(t, len(v.Str()), 200)
			assert.True(t, strings.HasPrefix(v.Str(), "tape-blob:sha256:"))
		}
	}
	assert.Len(t, f.bodies, 1)
	assert.Equal(t, 1, f.counts.bodies)

	f.noBody = true
	f.add(tool(2, 2, 1, body), agent(2, 1, failed))
	f.pass(6 * time.Second)
	inline := false
	for _, s := range f.out() {
		if v, ok := s.Attributes().Get("gen_ai.tool.call.result"); ok {
			inline = v.Str() == big
		}
	}
	assert.True(t, inline, "a body the store does not take stays in the trace")
	assert.Equal(t, 1, f.counts.bodyFailures)
}

func TestARunLargerThanARequestLeavesInSeveral(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MaxRequestBytes = 2000 })
	f.add(agent(1, 1, failed))
	for i := range 40 {
		f.add(tool(1, byte(2+i), 1))
	}
	f.pass(6 * time.Second)
	require.Greater(t, len(f.emitted), 2)
	total := 0
	for i, td := range f.emitted {
		assert.LessOrEqual(t, sizer.TracesSize(td), 2000)
		total += td.SpanCount()
		forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) {
			if _, ok := attr.RowFrom(s.Attributes()); ok {
				assert.Equal(t, len(f.emitted)-1, i, "the row comes last")
			}
		})
	}
	assert.Equal(t, 41, total)
	only1(t, f.out())
}

func TestAnyOrderOfTheSameRequestsGivesTheSameRow(t *testing.T) {
	parts := []func(ptrace.ResourceSpans, ptrace.Span){agent(1, 1), tool(1, 2, 1), tool(1, 3, 1, failed), tool(1, 4, 1), tool(1, 5, 1)}
	var want tape.Row
	for i := range 50 {
		f := newFixture(t, nil)
		order := rand.New(rand.NewPCG(uint64(i), 1)).Perm(len(parts))
		for _, p := range order {
			f.add(parts[p])
			if i%7 == 0 {
				f.add(parts[p])
			}
		}
		f.pass(6 * time.Second)
		row := only1(t, f.out())
		if i == 0 {
			want = row
		}
		row.Spans, row.Decided = want.Spans, want.Decided
		assert.Equal(t, want, row, "order %v", order)
	}
}

var manyRuns = flag.Int("many-runs", 10_000, "runs that TestManyRunsThroughASmallSpoolReturnToTheStart lets through")

func TestManyRunsThroughASmallSpoolReturnToTheStart(t *testing.T) {
	f := newFixture(t, onDisk(t, func(c *Config) {
		c.DecidedRuns, c.Spool.MaxBytes, c.Spool.SegmentBytes = 800, 1<<20, 1<<16
	}))
	through := func(from, to int) {
		for i := from; i < to; i++ {
			id := pcommon.TraceID{0: 1, 12: byte(i >> 24), 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}
			f.add(func(rs ptrace.ResourceSpans, s ptrace.Span) { tool(1, 2, 1)(rs, s); s.SetTraceID(id) })
			if i%100 == 0 {
				f.out()
			}
		}
		assert.LessOrEqual(t, f.Status().Spool.Bytes, int64(1<<20))
		f.pass(time.Hour)
		f.pass(2 * time.Hour)
		f.atTheStart()
		f.balanced()
		f.out()
		f.counts.rows = nil
	}
	// What it needs once is there after the first.
	through(0, 2000)
	before := heapBytes()
	through(2000, 2000+*manyRuns)
	assert.Less(t, int64(heapBytes())-int64(before), int64(1<<20))
}

// atTheStart checks that nothing is left but decisions.
func (f *fixture) atTheStart() {
	f.t.Helper()
	st := f.Status()
	assert.Zero(f.t, st.OpenRuns)
	assert.Zero(f.t, st.HeldRuns)
	assert.Zero(f.t, st.TextBytes)
	// Compaction may be at work.
	assert.Eventually(f.t, func() bool { return f.live() == 0 }, 5*time.Second, time.Millisecond)
	for _, s := range f.shards {
		assert.Empty(f.t, s.runs)
		assert.Empty(f.t, s.due)
		assert.LessOrEqual(f.t, len(s.gone), f.decidedPerShard())
	}
}

func TestCapacityOneWithASlowNextComponentFinishes(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Spool.MaxBytes, c.DecidedRuns = 64<<10, 1 })
	slow := f.deps.Emit
	f.deps.Emit = func(ctx context.Context, td ptrace.Traces) error {
		time.Sleep(100 * time.Microsecond)
		return slow(ctx, td)
	}
	stop := make(chan struct{})
	var ticker sync.WaitGroup
	ticker.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				f.pass(time.Second)
			}
		}
	})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				more := []func(ptrace.Span){}
				if i%5 == 0 {
					more = append(more, failed)
				}
				err := f.Add(context.Background(), traces(tool(byte(1+(w*31+i)%11), byte(2+i), 1, more...), agent(byte(1+i%7), 1)))
				if err != nil {
					assert.ErrorIs(t, err, ErrBusy)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	ticker.Wait()
	require.NoError(t, f.Close(context.Background()))
	f.balanced()
}

func TestSplitKeepsResourcesAndScopes(t *testing.T) {
	td := ptrace.NewTraces()
	for r := range 2 {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutInt("r", int64(r))
		rs.SetSchemaUrl(fmt.Sprint("r", r))
		for s := range 2 {
			ss := rs.ScopeSpans().AppendEmpty()
			ss.Scope().SetName(fmt.Sprint("s", s))
			ss.SetSchemaUrl(fmt.Sprint("s", s))
			for id := range 4 {
				tool(byte(1+id%2), byte(1+r*8+s*4+id), 0)(rs, ss.Spans().AppendEmpty())
			}
		}
	}
	pieces, err := newFixture(t, nil).split(td)
	require.NoError(t, err)
	require.Len(t, pieces, 2)
	for i, p := range pieces {
		assert.Equal(t, ID{15: byte(i + 1)}, p.id)
		assert.Equal(t, 8, p.amount.Spans)
		require.Equal(t, 2, p.td.ResourceSpans().Len())
		for r, rs := range p.td.ResourceSpans().All() {
			assert.Equal(t, fmt.Sprint("r", r), rs.SchemaUrl())
			require.Equal(t, 2, rs.ScopeSpans().Len())
			for s, ss := range rs.ScopeSpans().All() {
				assert.Equal(t, fmt.Sprint("s", s), ss.Scope().Name())
				assert.Equal(t, 2, ss.Spans().Len())
			}
		}
	}
}
