//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/triage"
	"github.com/tapedeck/tapedeck/internal/trim"
	"github.com/tapedeck/tapedeck/tape"
)

// bookings is a run that failed: the third step takes an id from the first.
const bookings = `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","service":"travel-agent","code_version":"1.2","outcome":"failed","failure":{"seq":3,"reason":"timed out"},"complete":true,"tools":[{"name":"book","schema":{"type":"object","required":["id"]}}]}
{"seq":1,"tool":"look","key":"look:44136fa355b3","args":{},"result":{"id":42},"ms":1,"side_effect":false,"clock":null}
{"seq":2,"tool":"weather","key":"weather:44136fa355b3","args":{},"result":"cold","ms":1,"side_effect":false,"clock":null}
{"seq":3,"tool":"book","key":"book:17b4db064e17","args":{"id":42},"result":null,"ms":1,"side_effect":true,"clock":null,"error":{"message":"timed out"}}
{"seq":4,"tool":"sorry","key":"sorry:44136fa355b3","args":{},"result":null,"ms":1,"side_effect":false,"clock":null}
`

// against runs a verb on the failed bookings with the test binary as the command.
func against(t *testing.T, verb string, flags []string, words ...string) result {
	t.Helper()
	t.Setenv(childEnv, "1")
	argv := append([]string{verb, temp(t, "failed.jsonl", bookings)}, flags...)
	if len(words) > 0 {
		argv = append(append(argv, "--", os.Args[0]), words...)
	}
	return tapeCmd(t, "", argv...)
}

var (
	lookAndBook = []string{"call", "look", `{}`, "call", "book", `{"id":42}`, "exit", "3"}
	wholeWay    = []string{"call", "look", `{}`, "call", "weather", `{}`, "call", "book", `{"id":42}`, "exit", "3"}
)

func TestTrim(t *testing.T) {
	r := against(t, "trim", nil)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, `kept 2 of 4 steps for the failure at step 3
  +    1  tool   look: step 3 takes "42" from it
  +    3  tool   book: failed
  -    2  tool   weather: nothing needed comes from it
  -    4  tool   sorry: came after the failure
`, r.err)
	small := readTapeText(t, r.out)
	require.Len(t, small.Records, 2)
	assert.Empty(t, tape.Verify(small))
	assert.Equal(t, 3, small.Records[1].Seq)

	r = against(t, "trim", []string{"--step", "2", "--json", "-o", filepath.Join(t.TempDir(), "x.jsonl")})
	require.Equal(t, exitOK, r.code, r.err)
	var report trim.Report
	require.NoError(t, json.Unmarshal([]byte(r.err), &report))
	assert.Equal(t, 2, report.Seq)
	assert.Empty(t, r.out)

	r = tapeCmd(t, "", "trim", "testdata/bare.jsonl")
	assert.Equal(t, exitNo, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, "nothing failed on this tape: name a step with --step")
	assert.Equal(t, exitMissing, against(t, "trim", []string{"--step", "9"}).code)
}

func TestTrimTriesTheTape(t *testing.T) {
	r := against(t, "trim", []string{"--check"}, lookAndBook...)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "fails the same way on it (2 runs of the command)")
	assert.Len(t, readTapeText(t, r.out).Records, 2)

	r = against(t, "trim", []string{"--check"}, wholeWay...)
	assert.Equal(t, exitNo, r.code)
	assert.Empty(t, r.out, "a tape that does not do is not written")
	assert.Contains(t, r.err, "a call that the whole tape answers: miss weather:44136fa355b3; --minimise finds what the command needs")

	r = against(t, "trim", []string{"--minimise"}, wholeWay...)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Len(t, readTapeText(t, r.out).Records, 3)
	assert.Contains(t, r.err, "+    2  tool   weather: the command asks for it")

	r = against(t, "trim", []string{"--minimise", "--runs", "3"}, wholeWay...)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "--runs 3 was not enough")

	r = against(t, "trim", []string{"--check"}, "exit", "3")
	assert.Equal(t, exitNo, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, "does not ask for step 3 on the whole tape")

	assert.Equal(t, exitUsage, against(t, "trim", []string{"--check"}).code)
	assert.Equal(t, exitUsage, against(t, "trim", nil, "exit", "0").code)
}

func TestTriage(t *testing.T) {
	good := temp(t, "good.jsonl", strings.NewReplacer(
		`"failed"`, `"succeeded"`, `"failure":{"seq":3,"reason":"timed out"},`, "", `,"error":{"message":"timed out"}`, "", "4bf92f35", "5bf92f35",
	).Replace(bookings))
	tools := temp(t, "tools.json", `[{"name":"book","input_schema":{"type":"object","required":["id","party_size"]}}]`)
	r := against(t, "triage", []string{"--good", good, "--tools", tools}, wholeWay...)
	assert.Equal(t, exitNo, r.code, "step 4 was not asked for")
	assert.Empty(t, r.err)
	for _, want := range []string{
		"run 4bf92f3577b34da6a3ce929d0e0e4736  failed  4 steps\n",
		"  code       1.2\n",
		"  the run failed at step 3: external_timeout\n",
		"  dry: every step is answered: 4 of 4 from the tape\n    1 call: arguments do not fit the schema of now\n",
		", exit code 3\n",
		"not asked for: step 4, sorry:44136fa355b3\n",
		"  first divergence: A step 3 book, B step 3 book\n",
		"    tools.book.schema.required[1]: (absent) -> \"party_size\"\n",
		"\ncannot see: files, processes, ",
		" --step 3\n      the failing call, whole\n",
	} {
		assert.Contains(t, r.out, want)
	}

	r = against(t, "triage", []string{"--json"})
	assert.Equal(t, exitOK, r.code, r.err)
	var report triage.Report
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.Contains(t, report.NoGood, "not looked for")
	assert.Nil(t, report.Mock)
	assert.NotEmpty(t, report.Next)
}

func TestTriageSaves(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set")
	all := slices.Concat(wholeWay[:len(wholeWay)-2], []string{"call", "sorry", `{}`, "exit", "3"})
	r := against(t, "triage", []string{"--save", set}, all...)
	require.Equal(t, exitOK, r.code, r.out+r.err)
	name := filepath.Join(set, "travel-agent-external_timeout-4bf92f35")
	assert.Contains(t, r.out, "saved: "+name+".jsonl")
	assert.Contains(t, read(t, name+".expect.yaml"), "exit_code: 3\n")
	r = tapeCmd(t, "", append([]string{"test", set, "--", os.Args[0]}, all...)...)
	assert.Equal(t, exitOK, r.code, r.out+r.err)

	r = against(t, "triage", []string{"--save", set})
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "is there already")
	r = against(t, "triage", []string{"--save", set, "--name", "other"})
	assert.Equal(t, exitOK, r.code, r.err)
	assert.NotContains(t, read(t, filepath.Join(set, "other.expect.yaml")), "exit_code", "nothing is expected that was not seen")
}

func TestTriageOfAStoredRun(t *testing.T) {
	store := newStore(t)
	r := tapeCmd(t, "", "--store", store, "triage", strings.Repeat("a", 32))
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "last good run\n  no earlier good run is kept of service")
	assert.Contains(t, r.out, "tape pull "+strings.Repeat("a", 32)+" -o "+strings.Repeat("a", 32)+".jsonl\n")
	r = tapeCmd(t, "", "--store", store, "triage", strings.Repeat("b", 32))
	assert.Equal(t, exitMissing, r.code)
	oneLineError(t, r)
}
