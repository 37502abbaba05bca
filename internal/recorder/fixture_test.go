package recorder

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

var (
	errRetryable = errors.New("try again")
	errPermanent = errors.New("never")
)

// fixture is a recorder on a clock that the test moves, with everything it
// emitted and counted.
type fixture struct {
	*Recorder
	t testing.TB

	mu      sync.Mutex
	now     time.Time
	emitted []ptrace.Traces
	fail    error
	counts  counts
	// tenants are the bodies of each tenant.
	tenants map[string][]string
	bodies  map[string][]byte
	noBody  bool
}

func newFixture(t testing.TB, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), bodies: map[string][]byte{}}
	cfg := Config{
		IdleTimeout:      10 * time.Minute,
		MaxAge:           24 * time.Hour,
		RootSettle:       5 * time.Second,
		Lookback:         time.Hour,
		MaxRunBytes:      16 << 20,
		MaxRunSpans:      100_000,
		MaxRequestBytes:  3 << 20,
		DecidedRuns:      8000,
		Keep:             Keep{Outcomes: []tape.Outcome{tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete}},
		OffloadThreshold: 64 << 10,
		Spool:            Spool{MaxBytes: 64 << 20, SegmentBytes: 1 << 20, CacheBytes: 16 << 20},
	}
	if change != nil {
		change(&cfg)
	}
	f.open(cfg, Deps{
		Scrubber:  scrub.New(redact.Default()),
		Bodies:    f,
		Emit:      f.emit,
		Permanent: func(err error) bool { return errors.Is(err, errPermanent) },
		Telemetry: &f.counts,
		Now:       f.time,
		Logs:      true,
	})
	return f
}

// open makes the recorder, in place of the one before if there is one.
func (f *fixture) open(cfg Config, deps Deps) {
	f.t.Helper()
	r, err := Open(cfg, deps)
	require.NoError(f.t, err)
	f.Recorder = r
	f.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = r.Close(ctx)
	})
}

func (f *fixture) time() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// pass moves the clock and lets the recorder notice, a second at a time where
// that can make a difference.
func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	f.now = f.now.Add(d)
	f.mu.Unlock()
	f.Tick(context.Background())
}

func (f *fixture) emit(_ context.Context, td ptrace.Traces) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return f.fail
	}
	f.emitted = append(f.emitted, td)
	return nil
}

func (f *fixture) failWith(err error) {
	f.mu.Lock()
	f.fail = err
	f.mu.Unlock()
}

func (f *fixture) Class(row tape.Row) string {
	if row.Kept {
		return "failures"
	}
	return "other"
}

func (f *fixture) PutBody(_ context.Context, tenant, _ string, _ time.Time, b offload.Body) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.noBody {
		return errRetryable
	}
	f.bodies[b.SHA256] = append([]byte(nil), b.Data...)
	if f.tenants == nil {
		f.tenants = map[string][]string{}
	}
	f.tenants[tenant] = append(f.tenants[tenant], b.SHA256)
	return nil
}

func (f *fixture) add(spans ...func(ptrace.ResourceSpans, ptrace.Span)) {
	f.t.Helper()
	require.NoError(f.t, f.Add(context.Background(), traces(spans...)))
}

// out lists the emitted spans, and forgets them.
func (f *fixture) out() []ptrace.Span {
	f.mu.Lock()
	defer f.mu.Unlock()
	var spans []ptrace.Span
	for _, td := range f.emitted {
		forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) { spans = append(spans, s) })
	}
	f.emitted = nil
	return spans
}

// rows lists the rows on the given spans.
func rows(spans []ptrace.Span) (out []tape.Row) {
	for _, s := range spans {
		if row, ok := attr.RowFrom(s.Attributes()); ok {
			out = append(out, row)
		}
	}
	return out
}

// balanced checks that no span is unaccounted for.
func (f *fixture) balanced() {
	f.t.Helper()
	c := &f.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	open, openLogs := 0, 0
	for _, sh := range f.shards {
		sh.mu.Lock()
		for rn := sh.open.first; rn != nil; rn = rn.next {
			open += int(rn.spans)
			openLogs += int(rn.logs)
		}
		sh.mu.Unlock()
	}
	dropped := 0
	for _, n := range c.dropped {
		dropped += n
	}
	require.Equal(f.t, c.recovered+c.received+c.upgraded, c.kept+c.summarised+c.letGo+c.passed+dropped+open,
		"recovered %d + received %d + upgraded %d = kept %d + summarised %d + let go %d + passed %d + dropped %v + open %d",
		c.recovered, c.received, c.upgraded, c.kept, c.summarised, c.letGo, c.passed, c.dropped, open)
	l := c.logs
	require.Equal(f.t, l.recovered+l.received+l.upgraded, l.kept+l.summarised+l.letGo+l.passed+l.dropped+openLogs, "log records: %+v, open %d", l, openLogs)
}

func traces(spans ...func(ptrace.ResourceSpans, ptrace.Span)) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "svc")
	ss := rs.ScopeSpans().AppendEmpty()
	for _, fn := range spans {
		fn(rs, ss.Spans().AppendEmpty())
	}
	return td
}

var dawn = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func span(trace, id, parent byte, more ...func(ptrace.Span)) func(ptrace.ResourceSpans, ptrace.Span) {
	return func(_ ptrace.ResourceSpans, s ptrace.Span) {
		s.SetTraceID(pcommon.TraceID{15: trace})
		s.SetSpanID(pcommon.SpanID{7: id})
		if parent != 0 {
			s.SetParentSpanID(pcommon.SpanID{7: parent})
		}
		s.SetName("span")
		s.SetStartTimestamp(pcommon.NewTimestampFromTime(dawn.Add(time.Duration(id) * time.Second)))
		s.SetEndTimestamp(s.StartTimestamp() + 1e6)
		for _, fn := range more {
			fn(s)
		}
	}
}

// agent is a root span of an agent, tool a tool call below it.
func agent(trace, id byte, more ...func(ptrace.Span)) func(ptrace.ResourceSpans, ptrace.Span) {
	return span(trace, id, 0, append([]func(ptrace.Span){func(s ptrace.Span) {
		s.SetName("invoke_agent a")
		s.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
		s.Attributes().PutStr("gen_ai.agent.name", "a")
		s.SetEndTimestamp(s.StartTimestamp() + 1e12)
	}}, more...)...)
}

func tool(trace, id, parent byte, more ...func(ptrace.Span)) func(ptrace.ResourceSpans, ptrace.Span) {
	return span(trace, id, parent, append([]func(ptrace.Span){func(s ptrace.Span) {
		s.SetName("execute_tool t")
		s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		s.Attributes().PutStr("gen_ai.tool.name", "t")
		s.Attributes().PutStr("gen_ai.tool.call.arguments", `{"n":1}`)
		s.Attributes().PutStr("gen_ai.tool.call.result", `{"ok":true}`)
	}}, more...)...)
}

func failed(s ptrace.Span) {
	s.Status().SetCode(ptrace.StatusCodeError)
	s.Status().SetMessage("it broke")
	s.Attributes().PutStr("error.type", "TimeoutError")
}

// counts is a Telemetry that remembers.
type counts struct {
	mu                                                        sync.Mutex
	recovered                                                 int
	saved                                                     int64
	rows                                                      []tape.Row
	took                                                      int
	received, upgraded, kept, summarised, letGo, passed, late int
	logs                                                      struct{ recovered, received, upgraded, kept, summarised, letGo, passed, late, dropped int }
	dropped                                                   map[string]int
	decided                                                   map[string]int
	redacted                                                  map[string]int
	bodies, bodyFailures, retried                             int
	examined, replays                                         int
}

func (c *counts) add(p *int, a Amount, records *int) {
	c.mu.Lock()
	*p += a.Spans
	*records += a.Records
	c.mu.Unlock()
}

func (c *counts) Recovered(a Amount)  { c.add(&c.recovered, a, &c.logs.recovered) }
func (c *counts) Received(a Amount)   { c.add(&c.received, a, &c.logs.received) }
func (c *counts) Upgraded(a Amount)   { c.add(&c.upgraded, a, &c.logs.upgraded) }
func (c *counts) Kept(a Amount)       { c.add(&c.kept, a, &c.logs.kept) }
func (c *counts) Summarised(a Amount) { c.add(&c.summarised, a, &c.logs.summarised) }
func (c *counts) LetGo(a Amount)      { c.add(&c.letGo, a, &c.logs.letGo) }
func (c *counts) Passed(a Amount)     { c.add(&c.passed, a, &c.logs.passed) }
func (c *counts) Late(a Amount)       { c.add(&c.late, a, &c.logs.late) }
func (c *counts) Retried()            { c.add(&c.retried, Amount{Spans: 1}, new(int)) }

func (c *counts) Dropped(reason string, a Amount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dropped == nil {
		c.dropped = map[string]int{}
	}
	c.dropped[reason] += a.Spans
	c.logs.dropped += a.Records
}

func (c *counts) Took(time.Duration) { c.add(&c.took, Amount{Spans: 1}, new(int)) }

func (c *counts) Saved(n int64) {
	c.mu.Lock()
	c.saved += n
	c.mu.Unlock()
}

func (c *counts) Decided(row tape.Row) {
	o, tr := row.Outcome, row.Trigger
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, row)
	if c.decided == nil {
		c.decided = map[string]int{}
	}
	c.decided[string(o)+" "+string(tr)]++
}

func (c *counts) Examined(r doctor.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.examined++
	if r.Replays {
		c.replays++
	}
}

func (c *counts) Redacted(m map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.redacted == nil {
		c.redacted = map[string]int{}
	}
	for k, n := range m {
		c.redacted[k] += n
	}
}

func (c *counts) Offloaded(n int, _ int64, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies += n
	c.bodyFailures += failed
}

// live is what the spool holds.
func (f *fixture) live() int64 { return f.Status().Spool.LiveBytes }
