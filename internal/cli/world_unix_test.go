//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func self(t *testing.T, words ...string) []string {
	t.Helper()
	t.Setenv(childEnv, "1")
	return append([]string{"--", os.Args[0]}, words...)
}

func TestAForkRunsTheCommandFromAStep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trials")
	accounts := writeNamed(t, "accounts.yaml", "values: {acme-prod: acme-test}\nmembers: [account]\n")
	words := []string{"run", shopTape(t), "--fork", "2", "--trials", "3", "--isolated", "--allow", "pay", "--allow-side-effects", "--substitute", accounts, "--derive", dir, "--audit", filepath.Join(t.TempDir(), "audit.jsonl")}
	r := tapeCmd(t, "", append(words, self(t,
		"call", "find", `{"q":"a"}`,
		"post", "TAPE_URL", "/v1/call", `{"tool":"pay","args":{"account":"acme-prod","cents":7},"live":true}`,
		"post", "TAPE_URL", "/v1/record", `{"call":"live-1","result":{"paid":7}}`,
		"exit", "4")...)...)
	assert.Equal(t, 4, r.code)
	assert.Contains(t, r.out, `200 {"live":true,"code":"run_live","call":"live-1","args":{"account":"acme-test","cents":7}}`)
	assert.Contains(t, r.out, `200 {"result":{"paid":7}}`)
	assert.Contains(t, r.err, "replay fork of 4bf92f3577b34da6a3ce929d0e0e4736 (2 records): clean\n")
	assert.Contains(t, r.err, "fork at step 2: 3 trials\n  exit code 4: 3 of 3, 100 % (95 % interval 44 to 100 %)\n")
	audit, err := os.ReadFile(words[len(words)-1])
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(audit), `"msg":"replay ran a call live","tool":"pay"`))
	for _, name := range []string{"trial-001.jsonl", "trial-002.jsonl", "trial-003.jsonl"} {
		derived, err := tape.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, 2, derived.Manifest.Parent.Fork)
		require.Len(t, derived.Records, 2)
		assert.JSONEq(t, `{"paid":7}`, string(derived.Records[1].Result))
	}
}

// A command that does not do what was recorded before the fork says nothing about
// what comes after it.
func TestATrialThatDoesNotComeToTheForkIsNoTrial(t *testing.T) {
	r := tapeCmd(t, "", append([]string{"run", shopTape(t), "--fork", "2", "--isolated", "--json"}, self(t, "call", "find", `{"q":"b"}`)...)...)
	assert.Equal(t, 1, r.code)
	var report forkReport
	require.NoError(t, json.Unmarshal([]byte(r.err), &report))
	assert.Equal(t, 1, report.Tally.Diverged)
	assert.Zero(t, report.Tally.Trials)
	assert.Equal(t, 1, report.Reports[0].Stats.DriftEvents)
}

func TestLiveCallsAreRefusedWithASentence(t *testing.T) {
	file := shopTape(t)
	for want, flags := range map[string][]string{
		"say --isolated (Live.Isolated)":       {"--live", "--allow", "pay"},
		"say --allow TOOL":                     {"--live", "--isolated"},
		"say --live, or --fork STEP":           {"--isolated", "--allow", "pay"},
		"name one":                             {"--live", "--fork", "2", "--isolated"},
		"name its step with --fork":            {"--trials", "3"},
		"--trials 0: want 1 or more":           {"--fork", "2", "--trials", "0", "--isolated"},
		"--break stops one run":                {"--fork", "2", "--trials", "2", "--isolated", "--break", "1"},
		"fork at step 9: the tape has 2 steps": {"--fork", "9", "--isolated"},
		"tools are allowed by name":            {"--live", "--isolated", "--allow-kind", "tool"},
		"no such file":                         {"--override", "nowhere.yaml"},
	} {
		r := tapeCmd(t, "", append(append([]string{"run", file}, flags...), self(t, "exit", "0")...)...)
		assert.Equal(t, 2, r.code, want)
		assert.Contains(t, r.err, want)
		oneLineError(t, r)
	}
	r := tapeCmd(t, "", append([]string{"run", file, "--live", "--isolated", "--allow", "pay"}, self(t,
		"call", "find", `{"q":"a"}`, "post", "TAPE_URL", "/v1/call", `{"tool":"pay","args":{},"live":true}`)...)...)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.out, "live_refused")
	assert.Contains(t, r.err, "say --allow-side-effects")
}

func TestOverridesFromAFile(t *testing.T) {
	faults := writeNamed(t, "faults.yaml", "overrides:\n- tool: find\n  error: {code: '503', message: down}\n- step: 2\n  delay: 1ms\n")
	r := tapeCmd(t, "", append([]string{"run", shopTape(t), "--override", faults}, self(t, "call", "find", `{"q":"a"}`)...)...)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.out, `"code":"503"`)
	assert.Contains(t, r.err, "  override of tool find at step 1, find: error 503\n  override of step 2 never applied: delay 1ms\n")
}

// typed is a terminal on which somebody typed.
type typed struct {
	io.Reader
	io.Writer
}

func (typed) Close() error { return nil }

func TestBreaksAskOnTheTerminal(t *testing.T) {
	opened := openTerminal
	t.Cleanup(func() { openTerminal = opened })
	for name, c := range map[string]struct {
		typed     string
		out, term []string
		code      int
	}{
		"continue":     {"\n", []string{`200 {"result":"old"}`}, []string{"break at step 1, call 1: find, find:", `args     {"q":"a"}`, `result   "old"`}, 0},
		"next":         {"n\nc\n", []string{`200 {"result":"old"}`}, []string{"break at step 2, call 2: pay", "before   call 1: step 1, find:"}, 0},
		"a result":     {"r {\"x\": 1}\n", []string{`200 {"result":{"x": 1}}`}, nil, 0},
		"a failure":    {"e 503 it is down\n", []string{`"error":{"code":"503","message":"it is down"`}, nil, 0},
		"not a thing":  {"r {\ndance\nc\n", []string{`200 {"result":"old"}`}, []string{"answer with this result instead"}, 0},
		"quit":         {"q\n", []string{`410 {"error":{"code":"quit"`}, nil, 1},
		"end of input": {"", []string{`410 {"error":{"code":"quit"`}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var screen bytes.Buffer
			openTerminal = func() (io.ReadWriteCloser, error) { return typed{strings.NewReader(c.typed), &screen}, nil }
			r := tapeCmd(t, "", append([]string{"run", shopTape(t), "--break", "1"}, self(t,
				"call", "find", `{"q":"a"}`, "call", "pay", `{"account":"acme-prod","cents":500}`)...)...)
			assert.Equal(t, c.code, r.code, r.err)
			for _, want := range c.out {
				assert.Contains(t, r.out, want)
			}
			for _, want := range c.term {
				assert.Contains(t, screen.String(), want)
			}
		})
	}
	openTerminal = func() (io.ReadWriteCloser, error) { return nil, os.ErrNotExist }
	r := tapeCmd(t, "", append([]string{"run", shopTape(t), "--break", "1"}, self(t, "exit", "0")...)...)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.err, "--break asks on the terminal, and there is none")
}
