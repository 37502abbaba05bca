package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const failedTape = "testdata/failed.jsonl"

func TestShow(t *testing.T) {
	for name, words := range map[string][]string{
		"show.txt":          {"show", failedTape},
		"show_narrow.txt":   {"COLUMNS=80", "show", failedTape},
		"show_full.txt":     {"show", "--full", failedTape},
		"show_step.txt":     {"show", "--step", "5", failedTape},
		"show_bare.txt":     {"show", "testdata/bare.jsonl"},
		"show.json":         {"show", "--json", "testdata/bare.jsonl"},
		"show_step_raw.txt": {"show", "--step", "2", "--json", "testdata/bare.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", words...)
			require.Equal(t, exitOK, r.code, r.err)
			assert.Empty(t, r.err)
			assert.NotContains(t, r.out, "\x1b", "neither colours nor what a tape smuggles in")
			golden(t, name, r.out)
		})
	}
}

func TestShowKeepsWithinTheWidth(t *testing.T) {
	r := tapeCmd(t, "", "COLUMNS=100", "show", failedTape)
	table := strings.Split(r.out, "\n\n")[1]
	for line := range strings.SplitSeq(table, "\n") {
		assert.LessOrEqual(t, cells(line), 100, line)
	}
}

func TestShowMarksTheFailingStepAlone(t *testing.T) {
	r := tapeCmd(t, "", "show", failedTape)
	var marked []string
	for line := range strings.SplitSeq(r.out, "\n") {
		if strings.HasPrefix(line, ">") {
			marked = append(marked, line)
		}
	}
	require.Len(t, marked, 1)
	assert.Contains(t, marked[0], "book_table")
}

func TestShowReadsStandardInput(t *testing.T) {
	r := tapeCmd(t, read(t, failedTape), "show", "-")
	assert.Equal(t, tapeCmd(t, "", "show", failedTape), r)
}

func TestShowJSONHoldsTheWholeTape(t *testing.T) {
	r := tapeCmd(t, "", "show", "--json", failedTape)
	var got struct {
		Manifest map[string]any   `json:"manifest"`
		Records  []map[string]any `json:"records"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	assert.Equal(t, "failed", got.Manifest["outcome"])
	assert.Len(t, got.Records, 5)
}

func TestShowFaults(t *testing.T) {
	tests := map[string]struct {
		words []string
		stdin string
		code  int
		want  string
	}{
		"no such step":    {[]string{"show", "--step", "9", failedTape}, "", exitMissing, failedTape + " has no step 9; it has 5 steps"},
		"cut":             {[]string{"show", "-"}, `{"seq":1,"to`, exitUsage, "standard input: line 1: "},
		"unknown version": {[]string{"show", "-"}, `{"tape":"9"}`, exitUsage, "standard input: line 1: "},
		"a directory":     {[]string{"show", "testdata"}, "", exitUsage, "testdata"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, tt.stdin, tt.words...)
			oneLineError(t, r)
			assert.Equal(t, tt.code, r.code)
			assert.Contains(t, r.err, tt.want)
			assert.Empty(t, r.out)
		})
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	a := &app{Streams: Streams{Env: func(string) string { return "" }}}
	assert.False(t, a.terminal(&strings.Builder{}).colour)
	painted := terminal{width: 80, colour: true}
	assert.Equal(t, "\x1b[31mx\x1b[0m", painted.paint(red, "x"))
	assert.Equal(t, "x", terminal{}.paint(red, "x"))
}

func TestTextFitsCells(t *testing.T) {
	assert.Equal(t, 4, cells("東京"))
	assert.Equal(t, 1, cells("e\u0301"))
	assert.Equal(t, "東…", clip("東京都", 4))
	assert.Equal(t, "abc", clip("abc", 3))
	assert.Equal(t, `a\u202eb\x1b\u2028`, clean("a\u202eb\x1b\u2028"))
	assert.Equal(t, "\ufffd", clean("\xff"))
}
