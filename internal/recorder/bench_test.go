package recorder

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// roomy holds what a benchmark of some seconds adds.
func roomy(b *testing.B) func(*Config) {
	return onDisk(b, func(c *Config) {
		c.MaxRunBytes, c.MaxRunSpans, c.Spool.MaxBytes, c.Spool.SegmentBytes = 1<<40, 1<<40, 16<<30, 32<<20
	})
}

// addAgain adds the same spans again and again. Add takes them apart, so that it is
// given copies; to make these is not counted.
func addAgain(b *testing.B, f *fixture, td ptrace.Traces) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(sizer.TracesSize(td)))
	for b.Loop() {
		b.StopTimer()
		one := ptrace.NewTraces()
		td.CopyTo(one)
		b.StartTimer()
		if err := f.Add(context.Background(), one); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*td.SpanCount()), "ns/span")
}

// BenchmarkAdd is the arrival of one span of an open run.
func BenchmarkAdd(b *testing.B) {
	addAgain(b, newFixture(b, roomy(b)), traces(tool(1, 2, 1)))
}

// BenchmarkAddMixed is the arrival of a batch of 512 spans of 64 runs.
func BenchmarkAddMixed(b *testing.B) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	ss := rs.ScopeSpans().AppendEmpty()
	for i := range 512 {
		tool(byte(1+i%64), byte(i), 1)(rs, ss.Spans().AppendEmpty())
	}
	addAgain(b, newFixture(b, roomy(b)), td)
}

// BenchmarkAddLight is that of a batch of 500 light spans of 50 runs.
func BenchmarkAddLight(b *testing.B) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "svc")
	ss := rs.ScopeSpans().AppendEmpty()
	for i := range uint64(500) {
		light(ss.Spans().AppendEmpty(), i/10, i)
	}
	addAgain(b, newFixture(b, roomy(b)), td)
}

// BenchmarkDecide is a run of 100 spans from arrival to summary.
func BenchmarkDecide(b *testing.B) {
	f := newFixture(b, func(c *Config) { c.Lookback = 0 })
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	ss := rs.ScopeSpans().AppendEmpty()
	agent(1, 1)(rs, ss.Spans().AppendEmpty())
	for i := range 99 {
		tool(1, byte(2+i), 1)(rs, ss.Spans().AppendEmpty())
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		id := pcommon.TraceID{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 1}
		forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) { s.SetTraceID(id) })
		one := ptrace.NewTraces()
		td.CopyTo(one)
		if err := f.Add(context.Background(), one); err != nil {
			b.Fatal(err)
		}
		f.pass(f.cfg.RootSettle * 2)
		f.out()
	}
}
