package once_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/walk"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

func TestWhatComesBackIsWhatTheScrubberLeaves(t *testing.T) {
	custom, err := redact.New(redact.Config{
		Keys: []string{"parts"}, AllowKeys: []string{"password"}, Disable: []string{"email"}, Allow: []string{"0123456789"},
		Rules: []redact.Rule{{Type: "rain", Keywords: []string{"rain"}, Expression: `rain in`}},
	})
	require.NoError(t, err)
	surrogates, err := redact.New(redact.Config{Surrogate: &redact.Surrogate{Key: "0123456789abcdef0123456789abcdef"}})
	require.NoError(t, err)
	policies := []*redact.Policy{redact.Default(), redact.Default(), custom, surrogates}
	cut := 0
	for seed := range uint64(40) {
		m, r := newMaker(seed), newRunOf(policies[seed%4])
		for range 6 {
			td := m.trace()
			payload, stats := r.trip(t, td)
			if stats.Saved > 0 {
				cut++
			}
			scrubbed := clone(td)
			r.scrubber.Traces(scrubbed)
			if !bytes.Contains(wire(t, scrubbed), []byte(walktest.Mark)) {
				assert.NotContains(t, string(payload), walktest.Mark, "seed %d", seed)
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		assert.Zero(t, r.dec.Holes())
	}
	assert.Greater(t, cut, 40, "much comes again")
}

// mutant changes the string values of real spans.
type mutant struct {
	*maker
	walk.Visitor
}

func (mutant) Enter(walk.Node)                     {}
func (mutant) Leave(walk.Node)                     {}
func (mutant) Renamed(_, _ []string)               {}
func (mutant) Text(_ *walk.Path, s string) string  { return s }
func (mutant) Key(_ *walk.Path, key string) string { return key }

func (m mutant) Value(_ *walk.Path, v pcommon.Value) bool {
	if v.Type() != pcommon.ValueTypeStr || v.Str() == "" || m.IntN(3) > 0 {
		return true
	}
	s := v.Str()
	i := m.IntN(len(s))
	j := i + m.IntN(len(s)-i+1)
	switch m.IntN(6) {
	case 0:
		s = s[:i] + m.text() + s[i:]
	case 1:
		s = s[:i] + s[j:]
	case 2:
		s = s[:j] + s[i:]
	case 3:
		s = s[:i] + m.pick(`"`, `,`, `]`, `}`, `{`, `\`, " ", `"password":`, `"--token",`) + s[i:]
	case 4:
		s = `{"` + m.key() + `":` + s + `}`
	case 5:
		s = `[` + s + `,` + s + `]`
	}
	v.SetStr(s)
	return true
}

func TestRealExportsComeBackHoweverTheyAreChanged(t *testing.T) {
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for i, name := range realFiles(t) {
		r := newRun()
		m := mutant{maker: newMaker(uint64(i))}
		for _, d := range documents(t, name) {
			if d.Traces.SpanCount() > 200 {
				continue
			}
			for range rounds {
				td := clone(d.Traces)
				walk.Traces(td, m)
				r.trip(t, td)
			}
			require.False(t, t.Failed(), name)
		}
	}
}

func TestNoCanaryIsInAPayload(t *testing.T) {
	r := newRun()
	td, planted := walktest.Traces()
	payload, _ := r.trip(t, td)
	assert.Empty(t, walktest.Leaks(payload, planted))
	ld, planted := walktest.Logs()
	in := plog.NewLogs()
	ld.CopyTo(in)
	payload, _, err := r.enc.Logs(nil, in, &r.table)
	require.NoError(t, err)
	assert.Empty(t, walktest.Leaks(payload, planted))
	r.tripLogs(t, ld)
}

func TestEmptyBatches(t *testing.T) {
	r := newRun()
	td := ptrace.NewTraces()
	r.trip(t, td)
	td.ResourceSpans().AppendEmpty()
	r.trip(t, td)
	td.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
	r.trip(t, td)
	r.tripLogs(t, plog.NewLogs())
	assert.Zero(t, r.table.Size(), "nobody needed the table")
}
