package once_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/walk"
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

func newRun() *run { return newRunOf(redact.Default()) }

func newRunOf(p *redact.Policy) *run {
	s := scrub.New(p)
	return &run{scrubber: s, enc: once.NewEncoder(s, 0), dec: once.NewDecoder()}
}

// trip encodes and decodes, and compares with what the scrubber alone makes.
func (r *run) trip(t testing.TB, td ptrace.Traces) (payload []byte, stats once.Stats) {
	t.Helper()
	want := clone(td)
	wantStats := r.scrubber.Traces(want)
	payload, stats, err := r.enc.Traces(nil, clone(td), &r.table)
	require.NoError(t, err)
	if !assert.ObjectsAreEqual(wantStats, stats.Redacted) {
		t.Errorf("redacted %v, wanted %v", stats.Redacted, wantStats)
	}
	got, err := r.dec.Traces(payload)
	require.NoError(t, err)
	if !bytes.Equal(wire(t, want), wire(t, got)) {
		t.Fatal(firstDifference(texts(want), texts(got)))
	}
	return payload, stats
}

// texts gives all strings and bytes of a trace in order, for messages that can
// be read.
func texts(td ptrace.Traces) []string {
	var l lister
	walk.Traces(td, &l)
	return l.out
}

type lister struct{ out []string }

func (l *lister) Enter(walk.Node)       {}
func (l *lister) Leave(walk.Node)       {}
func (l *lister) Renamed(_, _ []string) {}

func (l *lister) Text(at *walk.Path, s string) string {
	l.out = append(l.out, at.String()+"="+s)
	return s
}

func (l *lister) Key(at *walk.Path, s string) string { return l.Text(at, s) }

func (l *lister) Value(at *walk.Path, v pcommon.Value) bool {
	if v.Type() != pcommon.ValueTypeMap && v.Type() != pcommon.ValueTypeSlice {
		l.Text(at, v.AsString())
	}
	return true
}

func firstDifference(want, got []string) string {
	for i := range min(len(want), len(got)) {
		if w, g := want[i], got[i]; w != g {
			n := 0
			for n < min(len(w), len(g)) && w[n] == g[n] {
				n++
			}
			from := max(0, n-60)
			return fmt.Sprintf("%.80q at %d:\nwant %.300q\ngot  %.300q", w, n, w[from:], g[from:])
		}
	}
	return fmt.Sprintf("%d texts, %d wanted", len(got), len(want))
}

func oneSpan(attrs map[string]any) ptrace.Traces {
	td := ptrace.NewTraces()
	s := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	if err := s.Attributes().FromRaw(attrs); err != nil {
		panic(err)
	}
	return td
}
