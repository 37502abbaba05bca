//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/diff"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/tape"
)

// edited is the failed tape of testdata as another run: booked after all, with a
// step less.
func edited(t *testing.T) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(read(t, "testdata/failed.jsonl")), "\n")
	var out []string
	for _, line := range lines {
		if strings.Contains(line, `"tool":"get_rate"`) {
			continue
		}
		line = strings.ReplaceAll(line, `"temp":24.5`, `"temp":19`)
		out = append(out, strings.ReplaceAll(line, `"code_version":"1.2.0"`, `"code_version":"1.3.0"`))
	}
	return temp(t, "edited.jsonl", strings.Join(out, "\n")+"\n")
}

func TestDiff(t *testing.T) {
	other := edited(t)
	r := tapeCmd(t, "", "COLUMNS=100", "diff", "testdata/failed.jsonl", other)
	assert.Equal(t, exitNo, r.code)
	assert.Empty(t, r.err)
	golden(t, "diff.txt", strings.ReplaceAll(r.out, other, "edited.jsonl"))
	assert.NotContains(t, r.out, "\x1b")

	same := tapeCmd(t, read(t, "testdata/failed.jsonl"), "diff", "testdata/failed.jsonl", "-")
	assert.Equal(t, exitOK, same.code, same.err)
	assert.Contains(t, same.out, "no difference")

	page := filepath.Join(t.TempDir(), "diff.html")
	r = tapeCmd(t, "", "diff", "testdata/failed.jsonl", other, "--json", "--html", page)
	assert.Equal(t, exitNo, r.code)
	var report diff.Report
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.Equal(t, 1, report.Counts.Missing)
	assert.Contains(t, read(t, page), "The runs differ")

	toOut := tapeCmd(t, "", "diff", "testdata/failed.jsonl", other, "--html", "-")
	assert.True(t, strings.HasPrefix(toOut.out, "<!DOCTYPE html>"))
	assert.NotContains(t, toOut.out, "they differ:")
}

func TestDiffWithTheReportOfAReplay(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.json")
	run := runTape(t, []string{"--report", report}, "call", "add", `{"a":1,"b":2}`, "call", "add", `{"a":9,"b":9}`)
	require.Equal(t, exitNo, run.code)
	r := tapeCmd(t, "", "diff", "testdata/bare.jsonl", report)
	assert.Equal(t, exitNo, r.code, r.err)
	assert.Contains(t, r.out, "experiment code_regression\n")
	assert.Contains(t, r.out, "~ changed A step 2 add\n")
	assert.Contains(t, r.out, "    args.a: 2 -> 9\n")
	assert.NotContains(t, r.out, "- missing", "it drifted, so it is not missing")

	other := temp(t, "other.jsonl", `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}`+"\n"+`{"tool":"x"}`)
	text := strings.Replace(read(t, report), `"tape": {`, `"tape": {"id":"00000000000000000000000000000001",`, 1)
	require.NoError(t, os.WriteFile(report, []byte(text), 0o600))
	r = tapeCmd(t, "", "diff", other, report)
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, "the report is about another tape")
}

func TestDiffWithTheLastGoodRun(t *testing.T) {
	path := t.TempDir()
	backend, err := dir.Open(path)
	require.NoError(t, err)
	st, err := store.Open(backend, store.Options{})
	require.NoError(t, err)
	defer st.Close()
	began := time.Date(2026, 8, 20, 9, 0, 0, 0, time.UTC)
	var rows []tape.Row
	for i, args := range map[byte]string{'a': `{"q":"then"}`, 'b': `{"q":"before"}`, 'c': `{"q":"after"}`} {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(request(toolSpan(i, 1, args))))
		require.NoError(t, err)
		id := strings.Repeat(string(i), 32)
		_, err = st.PutFragment(t.Context(), "good", id, td)
		require.NoError(t, err)
		start := began.Add(map[byte]time.Duration{'a': 0, 'b': 30 * time.Minute, 'c': 2 * time.Hour}[i]).Format(time.RFC3339Nano)
		rows = append(rows, tape.Row{TraceID: id, Outcome: tape.OutcomeSucceeded, Service: "travel-agent", Agent: "planner", Kept: true, Class: "good", Start: start, Decided: start})
	}
	require.NoError(t, st.AppendRows(t.Context(), rows))

	r := tapeCmd(t, "", "--store", path, "diff", "testdata/failed.jsonl", "--good")
	assert.Equal(t, exitNo, r.code, r.err)
	assert.Contains(t, r.out, "A  the last good run  "+strings.Repeat("b", 32), "the one that began last before it")

	r = tapeCmd(t, "", "--store", path, "diff", temp(t, "x.jsonl", `{"tape":"1","service":"other"}`+"\n"+`{"tool":"x"}`), "--good")
	assert.Equal(t, exitMissing, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, `no earlier good run is kept of service "other"`)

	r = tapeCmd(t, "", "diff", "testdata/bare.jsonl", "--good")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "names neither service nor agent")
}

func TestDiffUsage(t *testing.T) {
	for name, words := range map[string][]string{
		"one tape":             {"diff", "testdata/bare.jsonl"},
		"two tapes and --good": {"diff", "testdata/bare.jsonl", "testdata/bare.jsonl", "--good"},
		"standard input twice": {"diff", "-", "-"},
		"unknown kind":         {"diff", "testdata/bare.jsonl", "testdata/bare.jsonl", "--kind", "x"},
		"negative threshold":   {"diff", "testdata/bare.jsonl", "testdata/bare.jsonl", "--timing", "-1s"},
		"not a tape":           {"diff", "testdata/bare.jsonl", "nothing"},
		"page in no directory": {"diff", "testdata/bare.jsonl", "testdata/bare.jsonl", "--html", "/nonexistent/x.html"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", words...)
			assert.Equal(t, exitUsage, r.code)
			oneLineError(t, r)
			assert.Empty(t, r.out)
		})
	}
}

func TestAroundShowsWhereLongValuesPart(t *testing.T) {
	head := strings.Repeat("x", 200)
	a, b := around(head+"left", head+"right")
	assert.Equal(t, "…"+head[:24]+"left", a)
	assert.Equal(t, "…"+head[:24]+"right", b)
	a, _ = around("left", "right")
	assert.Equal(t, "left", a)
}
