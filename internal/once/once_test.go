package once_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
)

func clone(td ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	td.CopyTo(out)
	return out
}

func wire(t testing.TB, td ptrace.Traces) []byte {
	t.Helper()
	out, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return out
}

// run is what one run is written and read with.
type run struct {
	scrubber *scrub.Scrubber
	enc      *once.Encoder
	table    once.Table
	dec      *once.Decoder
}

func newRun() *run {
	s := scrub.New(redact.Default())
	return &run{scrubber: s, enc: once.NewEncoder(s, 0), dec: once.NewDecoder()}
}

// trip encodes and decodes, and compares with what the scrubber alone makes.
func (r *run) trip(t testing.TB, td ptrace.Traces) (payload []byte, stats once.Stats) {
	t.Helper()
	want := clone(td)
	wantStats := r.scrubber.Traces(want)
	payload, stats, err := r.enc.Traces(nil, clone(td), &r.table)
	require.NoError(t, err)
	assert.Equal(t, wantStats, stats.Redacted)
	got, err := r.dec.Traces(payload)
	require.NoError(t, err)
	require.Equal(t, wire(t, want), wire(t, got))
	return payload, stats
}

func oneSpan(attrs map[string]any) ptrace.Traces {
	td := ptrace.NewTraces()
	s := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	if err := s.Attributes().FromRaw(attrs); err != nil {
		panic(err)
	}
	return td
}
