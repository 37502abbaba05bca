package recorder

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// BenchmarkAdd is the arrival of one span of an open run.
func BenchmarkAdd(b *testing.B) {
	f := newFixture(b, func(c *Config) { c.Spool.MaxBytes = 1 << 40; c.MaxRunBytes = 1 << 40 })
	td := traces(tool(1, 2, 1))
	b.ReportAllocs()
	b.SetBytes(int64(sizer.TracesSize(td)))
	for b.Loop() {
		if err := f.Add(context.Background(), td); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddMixed is the arrival of a batch of 512 spans of 64 runs.
func BenchmarkAddMixed(b *testing.B) {
	f := newFixture(b, func(c *Config) { c.Spool.MaxBytes = 1 << 40; c.MaxRunBytes = 1 << 40 })
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	ss := rs.ScopeSpans().AppendEmpty()
	for i := range 512 {
		tool(byte(1+i%64), byte(i), 1)(rs, ss.Spans().AppendEmpty())
	}
	b.ReportAllocs()
	b.SetBytes(int64(sizer.TracesSize(td)))
	for b.Loop() {
		if err := f.Add(context.Background(), td); err != nil {
			b.Fatal(err)
		}
	}
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
		if err := f.Add(context.Background(), td); err != nil {
			b.Fatal(err)
		}
		f.pass(f.cfg.RootSettle * 2)
		f.out()
	}
}
