package once_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/otlpfile"
)

// realFiles are the exports of instrumentations that the repository has.
func realFiles(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"captures/*.otlp.jsonl", "real/*/otlp*.jsonl*", "samples/*.json", "described/*.json"} {
		names, err := filepath.Glob("../dialect/testdata/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, names, pattern)
		out = append(out, names...)
	}
	return out
}

func documents(t testing.TB, name string) []*otlpfile.Document {
	t.Helper()
	r, err := otlpfile.Open(name)
	require.NoError(t, err)
	defer func() { assert.NoError(t, r.Close()) }()
	var out []*otlpfile.Document
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, otlpfile.ErrNoSpans) {
			return out
		}
		require.NoError(t, err, name)
		out = append(out, d)
	}
}

// spans gives each span of a trace in a request of its own, as exporters that do
// not batch send them.
func spans(td ptrace.Traces) []ptrace.Traces {
	var out []ptrace.Traces
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				one := ptrace.NewTraces()
				r := one.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(r.Resource())
				sc := r.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(sc.Scope())
				s.CopyTo(sc.Spans().AppendEmpty())
				out = append(out, one)
			}
		}
	}
	return out
}

func TestRealExportsComeBackAsTheScrubberLeavesThem(t *testing.T) {
	var size, payloads int
	for _, name := range realFiles(t) {
		whole, apart := newRun(), newRun()
		for _, d := range documents(t, name) {
			whole.trip(t, d.Traces)
			whole.tripLogs(t, d.Logs)
			for _, one := range spans(d.Traces) {
				p, _ := apart.trip(t, one)
				payloads += len(p)
				size += len(wire(t, one))
			}
		}
		assert.Zero(t, whole.dec.Holes()+apart.dec.Holes(), name)
	}
	t.Logf("%d bytes of OTLP became %d", size, payloads)
	assert.Less(t, payloads, size*2/3)
}

func (r *run) tripLogs(t testing.TB, ld plog.Logs) {
	t.Helper()
	want, in := plog.NewLogs(), plog.NewLogs()
	ld.CopyTo(want)
	ld.CopyTo(in)
	wantStats := r.scrubber.Logs(want)
	payload, stats, err := r.enc.Logs(nil, in, &r.table)
	require.NoError(t, err)
	assert.Equal(t, wantStats, stats.Redacted)
	got, err := r.dec.Logs(payload)
	require.NoError(t, err)
	m := plog.ProtoMarshaler{}
	a, err := m.MarshalLogs(want)
	require.NoError(t, err)
	b, err := m.MarshalLogs(got)
	require.NoError(t, err)
	require.Equal(t, a, b)
}
