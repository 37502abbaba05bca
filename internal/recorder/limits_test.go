package recorder

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/tape"
)

// huge writes texts into everything that a summary takes over.
func huge(rs ptrace.ResourceSpans, s ptrace.Span) {
	long := strings.Repeat("ä", 100_000)
	s.SetName(long)
	s.Status().SetMessage(long)
	s.Attributes().PutStr("gen_ai.agent.name", long)
	m := rs.Resource().Attributes()
	m.PutStr("service.name", long)
	m.PutStr(long, "x")
	m.PutEmptyBytes("bytes").FromRaw([]byte(long))
	m.PutEmptyMap("map").PutStr("long", long)
	m.PutEmptyMap("small map").PutStr("short", "x")
	for i := range 1000 {
		m.PutStr("attribute "+strings.Repeat("x", i%50)+string(rune('a'+i%26)), "value")
	}
}

func TestASummaryIsSmallWhateverTheRunWrote(t *testing.T) {
	f := newFixture(t, nil)
	f.add(agent(1, 1), tool(1, 2, 1, func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.name", strings.Repeat("t", 10_000)) }),
		func(rs ptrace.ResourceSpans, s ptrace.Span) { agent(1, 3)(rs, s); huge(rs, s) },
		func(rs ptrace.ResourceSpans, s ptrace.Span) { agent(1, 1)(rs, s); huge(rs, s) })
	f.pass(6 * time.Second)
	require.Len(t, f.emitted, 1)
	assert.Less(t, sizer.TracesSize(f.emitted[0]), 64<<10)
	resource := f.emitted[0].ResourceSpans().At(0).Resource().Attributes()
	for _, name := range []string{"service.name", "small map", attr.Redaction} {
		_, ok := resource.Get(name)
		assert.True(t, ok, name)
	}
	row := only1(t, f.out())
	assert.Equal(t, 3, row.Spans)
	assert.LessOrEqual(t, len(row.Service), attr.MaxText+len("…"))
	assert.True(t, strings.HasPrefix(row.Service, "ä"))
}

func TestMarksStayHoweverSmallTheThreshold(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.OffloadThreshold = 1 })
	f.add(agent(1, 1, failed), tool(1, 2, 1, failed))
	f.pass(6 * time.Second)
	f.add(tool(1, 3, 1))
	require.Len(t, f.emitted, 2)
	for _, td := range f.emitted {
		for _, rs := range td.ResourceSpans().All() {
			policy, ok := rs.Resource().Attributes().Get(attr.Redaction)
			require.True(t, ok)
			assert.Equal(t, f.policy, policy.Str())
		}
	}
	spans := f.out()
	for _, s := range spans {
		assert.Equal(t, tape.OutcomeFailed, attr.OutcomeOf(s.Attributes()))
	}
	assert.Equal(t, "svc", only1(t, spans).Service)
}

func TestWhatIsPassedOnStaysUnderTheLimitOfARequest(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.PassThrough, c.MaxRequestBytes = true, 2000 })
	for i := range 60 {
		f.add(span(1, byte(2+i), 1))
	}
	f.add(span(1, 1, 0))
	f.pass(6 * time.Second)
	require.Greater(t, len(f.emitted), 2)
	for _, td := range f.emitted {
		assert.LessOrEqual(t, sizer.TracesSize(td), 2000)
	}
	assert.Len(t, f.out(), 61)
	f.balanced()
}

// underOneResource puts spans below a resource of many bytes.
func underOneResource(bytes int, spans ...func(ptrace.ResourceSpans, ptrace.Span)) ptrace.Traces {
	td := traces(spans...)
	m := td.ResourceSpans().At(0).Resource().Attributes()
	for m.Len()*60_000 < bytes {
		m.PutStr("attribute "+strings.Repeat("x", m.Len()), strings.Repeat("r", 60_000))
	}
	return td
}

func TestALargeResourceIsNotMultiplied(t *testing.T) {
	t.Run("by requests", func(t *testing.T) {
		f := newFixture(t, func(c *Config) { c.MaxRequestBytes = 1 << 20 })
		spans := []func(ptrace.ResourceSpans, ptrace.Span){agent(1, 1, failed)}
		for i := range 200 {
			spans = append(spans, tool(1, byte(2+i), 1))
		}
		td := underOneResource(2<<20, spans...)
		require.NoError(t, f.Add(context.Background(), td))
		f.pass(6 * time.Second)
		total := 0
		for _, out := range f.emitted {
			total += sizer.TracesSize(out)
		}
		assert.Less(t, total, 3*sizer.TracesSize(td))
		assert.Len(t, f.out(), 201)
	})
	t.Run("by traces", func(t *testing.T) {
		f := newFixture(t, nil)
		var spans []func(ptrace.ResourceSpans, ptrace.Span)
		for i := range 200 {
			spans = append(spans, tool(byte(i+1), 2, 1))
		}
		require.ErrorIs(t, f.Add(context.Background(), underOneResource(2<<20, spans...)), ErrTooLarge)
		assert.Zero(t, f.live())
	})
}

func TestTheStartOfARunIsItsEarliestKnownOne(t *testing.T) {
	f := newFixture(t, nil)
	unknown := func(s ptrace.Span) { s.SetStartTimestamp(0) }
	f.add(agent(1, 1), tool(1, 2, 1, unknown), tool(1, 3, 1))
	f.add(tool(2, 2, 0, unknown))
	f.pass(6 * time.Second)
	starts := map[pcommon.TraceID]pcommon.Timestamp{}
	for _, s := range f.out() {
		starts[s.TraceID()] = s.StartTimestamp()
	}
	assert.Equal(t, pcommon.NewTimestampFromTime(dawn.Add(time.Second)), starts[pcommon.TraceID{15: 1}])
	assert.Zero(t, starts[pcommon.TraceID{15: 2}], "nobody knows")
}

func TestARunWhoseEvictionFailedGoesOnWhenThereIsRoomAgain(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Spool.MaxBytes = 64 << 10 })
	f.failWith(errRetryable)
	var err error
	for i := 0; err == nil; i++ {
		err = f.Add(context.Background(), traces(tool(byte(i%250+1), byte(2+i/250), 1)))
	}
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorIs(t, err, errRetryable)
	f.failWith(nil)
	f.pass(time.Minute)
	assert.Empty(t, f.out(), "there is room for all that came in, so none is cut short")
	f.pass(10 * time.Minute)
	for _, row := range rows(f.out()) {
		assert.Equal(t, tape.TriggerIdle, row.Trigger)
	}
	f.balanced()
}

func TestSpansThatComeWhileARunWaitsForItsTurnKeepItOpen(t *testing.T) {
	f := newFixture(t, nil)
	for i := range 100 {
		f.add(tool(byte(i+1), 2, 1))
	}
	emit := f.deps.Emit
	f.deps.Emit = func(ctx context.Context, td ptrace.Traces) error {
		// Every run gets another span while the first ones are handed on.
		for i := range 100 {
			id := ID{15: byte(i + 1)}
			if sh := f.shard(id); sh.mu.TryLock() {
				rn := sh.runs[id]
				open := rn != nil && rn.state == stateOpen && !rn.busy
				sh.mu.Unlock()
				if open {
					f.add(tool(byte(i+1), 3, 1))
				}
			}
		}
		return emit(ctx, td)
	}
	f.pass(11 * time.Minute)
	f.deps.Emit = emit
	assert.Greater(t, f.Status().OpenRuns, 50, "a run that goes on is not idle")
	f.pass(11 * time.Minute)
	assert.Zero(t, f.Status().OpenRuns)
	f.balanced()
}

func TestCloseGivesASlowNextComponentItsTime(t *testing.T) {
	f := newFixture(t, nil)
	for i := range 6 {
		f.add(tool(byte(i+1), 2, 1))
	}
	n := 0
	emit := f.deps.Emit
	f.deps.Emit = func(ctx context.Context, td ptrace.Traces) error {
		f.mu.Lock()
		n++
		full := n%3 != 0
		f.mu.Unlock()
		if full {
			return errRetryable
		}
		return emit(ctx, td)
	}
	require.NoError(t, f.Close(context.Background()))
	assert.Len(t, f.out(), 6)
	f.balanced()
}

func TestCloseSaysWhatIsLost(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), tool(1, 3, 1), tool(2, 2, 1))
	f.failWith(errRetryable)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("no time"))
	err := f.Close(ctx)
	require.ErrorContains(t, err, "3 spans of 2 open runs")
	require.ErrorContains(t, err, "no time")
	f.balanced()
}

func TestAConversationThatGrowsStaysInItsSpans(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.OffloadThreshold, c.MaxRequestBytes, c.MaxRunBytes = 2000, 1<<20, 1<<20 })
	f.add(agent(1, 1, failed))
	said := ""
	for i := range byte(20) {
		said += strings.Repeat(string('a'+rune(i)), 1024)
		history := said
		f.add(tool(1, 2+i, 1, failed, func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.result", history) }))
	}
	f.pass(6 * time.Second)
	assert.LessOrEqual(t, len(f.bodies), 2, "each is little more than the one before it")
	f.balanced()
}
