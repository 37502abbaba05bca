package replay

import (
	"encoding/json"
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// TestReport has one of everything.
func TestReport(t *testing.T) {
	deck := parse(t,
		`{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","outcome":"failed","code_version":"1.0","gaps":[{"seq":5,"what":"result","why":"content capture is off","fix":"CAPTURE=1"}]}`,
		`{"seq":1,"tool":"fetch","args":{"url":"https://example.com"},"result":"page"}`,
		`{"seq":2,"tool":"quote","args":{},"result":"[REDACTED:email]","redacted":["result"],"expires":"2020-01-01T00:00:00Z"}`,
		`{"seq":3,"tool":"summarise","args":{"max_words":120},"result":"short"}`,
		`{"seq":4,"tool":"fetch","args":{"url":"https://example.org"},"result":"page 2"}`,
		`{"seq":5,"tool":"scan","args":{}}`,
		`{"seq":6,"tool":"write","args":{"name":"a"}}`,
	)
	s := start(t, deck, WithCodeVersion("1.1"), OverrideStep(1, AnswerError("500", "down")), WithCompletion(CompletionRecorded, time.Second))
	for _, c := range []struct{ tool, args string }{
		{"fetch", `{"url":"https://example.org"}`}, {"fetch", `{"url":"https://example.com"}`}, {"fetch", `{"url":"https://example.com"}`},
		{"quote", `{}`}, {"summarise", `{"max_words":80}`}, {"scan", `{}`}, {"wipe", `{"name":"a"}`},
	} {
		_, _ = s.Call(ctx, c.tool, raw(c.args), never(t))
	}
	require.ErrorIs(t, s.Close(), ErrUnclean)
	report := s.Report()
	report.Policy.Redaction = "default"
	text, err := json.MarshalIndent(report, "", "  ")
	require.NoError(t, err)
	golden(t, "report.json", string(text)+"\n")
	golden(t, "report.txt", report.Text())
	var back Report
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, report.Stats, back.Stats)
	assert.Equal(t, report.Policy, back.Policy)
}

func TestExperiment(t *testing.T) {
	deck := parse(t, `{"tape":"1","code_version":"1.0"}`)
	for want, options := range map[Experiment][]Option{
		Historical:     {WithCodeVersion("1.0")},
		CodeRegression: {WithCodeVersion("1.1")},
		Recording:      {WithMode(ModeRecord)},
		ChangedWorld:   {WithMode(ModeRecord), WithExperiment(ChangedWorld)},
	} {
		assert.Equal(t, want, start(t, deck, options...).Report().Experiment)
	}
	assert.Equal(t, CodeRegression, start(t, nil).Report().Experiment, "nobody says that the code is the same")
}

// TestManyCallsTakeNoMemory: what a session keeps of its calls is bounded.
func TestManyCallsTakeNoMemory(t *testing.T) {
	s := start(t, parse(t, `{"tool":"t","args":1}`, `{"tool":"u","args":1}`))
	call := func(n int) uint64 {
		for range n {
			_, _ = s.Call(ctx, "t", 1, nil) // a hit, then exhausted
			_, _ = s.Call(ctx, "u", 2, nil) // drift
			_, _ = s.Call(ctx, "v", 1, nil) // miss
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := call(1000)
	after := call(20_000)
	assert.Less(t, after, before+256<<10)
	report := s.Report()
	assert.Len(t, report.Events, maxListed)
	assert.Equal(t, 63_000-1-maxListed, report.EventsLeftOut)
	assert.Contains(t, report.Text(), "and 62899 more")
}

// A report of drifts in long prompts stays short; the errors have all of it.
func TestReportsCutLongValues(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	s := start(t, parse(t, `{"tool":"t","args":{"short":1,"text":"`+long+`a"},"result":1}`))
	_, err := s.Call(ctx, "t", map[string]any{"short": 2, "text": long + "b"}, nil)
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	require.Len(t, drift.Differences, 2)
	assert.Greater(t, len(drift.Differences[1].Live), len(long))
	assert.False(t, drift.Differences[1].Cut)
	event := s.Report().Events[0]
	assert.Equal(t, Difference{Path: "short", Recorded: raw("1"), Live: raw("2")}, event.Differences[0])
	assert.True(t, event.Differences[1].Cut)
	text, err := json.Marshal(s.Report())
	require.NoError(t, err, "still JSON")
	assert.Less(t, len(text), 16<<10)
	assert.NotContains(t, string(text), "\ufffd")
}
