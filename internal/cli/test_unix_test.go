//go:build unix

package cli

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/regress"
)

// sumsSet is a set of one tape of two sums, in a directory that is gone to.
func sumsSet(t *testing.T, expect string) {
	t.Helper()
	text := read(t, "testdata/bare.jsonl")
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("tapes", 0o755))
	require.NoError(t, os.WriteFile("tapes/sums.jsonl", []byte(text), 0o600))
	if expect != "" {
		require.NoError(t, os.WriteFile("tapes/sums.expect.yaml", []byte(expect), 0o600))
	}
}

// testTapes runs tape test with the test binary as the command.
func testTapes(t *testing.T, flags []string, words ...string) result {
	t.Helper()
	t.Setenv(childEnv, "1")
	self, err := os.Executable()
	require.NoError(t, err)
	argv := append([]string{"test", "tapes"}, flags...)
	return tapeCmd(t, "", append(append(argv, "--", self), words...)...)
}

var bothSums = []string{"call", "add", add12, "call", "add", add22}

func TestTest(t *testing.T) {
	sumsSet(t, "answer_contains: ['\"result\":3']\n")
	r := testTapes(t, nil, bothSums...)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Empty(t, r.err)
	assert.Regexp(t, `^ok    tapes/sums  .*\npassed: 1 case, 1 passed, 0 failed, 0 errors, in .*\nexperiment code_regression; cannot see: files, processes, `, r.out)

	r = testTapes(t, nil, "call", "add", add12, "call", "add", `{"a":2,"b":3}`, "exit", "4")
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.out, "FAIL  tapes/sums")
	assert.Contains(t, r.out, "exit code 4, want 0")
	assert.Contains(t, r.out, "drift at step 2: add: recorded add:4c7aa83dd9f6, called add:206f7b5543e6: b 2 -> 3")
}

func TestTestReports(t *testing.T) {
	sumsSet(t, "")
	r := testTapes(t, []string{"--format", "junit=j.xml", "--format=sarif=s.json", "--format", "github", "--json", "--code-version", "7"}, "call", "add", add12)
	assert.Equal(t, exitNo, r.code)
	line, rest, _ := strings.Cut(r.out, "\n")
	assert.Equal(t, "::error file=tapes/sums.jsonl,line=2,title=tapes/sums%3A unconsumed::not asked for: step 2, add:4c7aa83dd9f6", line)
	var report regress.Report
	require.NoError(t, json.Unmarshal([]byte(rest), &report))
	assert.Equal(t, regress.Counts{Cases: 1, Failed: 1}, report.Counts)
	assert.Equal(t, "7", report.Results[0].Report.CodeVersion)
	require.NoError(t, xml.Unmarshal([]byte(read(t, "j.xml")), &struct{ XMLName xml.Name }{}))
	assert.Contains(t, read(t, "s.json"), `"ruleId": "tape/unconsumed"`)
}

func TestTestUpdatesWhatItSays(t *testing.T) {
	sumsSet(t, "# two sums\nanswer: old\n")
	r := testTapes(t, nil, bothSums...)
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, "# two sums\nanswer: old\n", read(t, "tapes/sums.expect.yaml"), "nothing is updated unless asked")
	r = testTapes(t, []string{"--update"}, bothSums...)
	assert.Equal(t, exitOK, r.code)
	assert.Contains(t, r.out, `updated: tapes/sums.expect.yaml: answer: "old" -> "200 {`)
	assert.Contains(t, read(t, "tapes/sums.expect.yaml"), "# two sums")
	assert.Equal(t, exitOK, testTapes(t, nil, bothSums...).code)

	before := read(t, "tapes/sums.expect.yaml")
	r = testTapes(t, []string{"--update"}, "call", "add", add12)
	assert.Equal(t, exitNo, r.code, "records not asked for are never approved")
	assert.Contains(t, r.out, "not updated: tapes/sums.expect.yaml: not asked for: step 2")
	assert.Equal(t, before, read(t, "tapes/sums.expect.yaml"))
}

func TestTestKindsRulesAndTimeoutOfACase(t *testing.T) {
	drifting := []string{"call", "add", add12, "call", "add", `{"a":2,"b":3}`}
	sumsSet(t, "rules:\n  - {tool: add, path: b, match: ignore, why: a test}\n")
	r := testTapes(t, nil, drifting...)
	assert.Equal(t, exitOK, r.code, r.out)
	require.NoError(t, os.WriteFile("tapes/sums.expect.yaml", []byte("kinds: [model]\n"), 0o600))
	r = testTapes(t, nil, "exit", "0")
	assert.Equal(t, exitOK, r.code, r.out)
	require.NoError(t, os.WriteFile("tapes/sums.expect.yaml", []byte("timeout: 200ms\n"), 0o600))
	r = testTapes(t, nil, "wait")
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.out, "the command took longer than")
	require.NoError(t, os.WriteFile("tapes/sums.expect.yaml", []byte("timeouts: 1s\n"), 0o600))
	r = testTapes(t, nil, "exit", "0")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, "tapes/sums.expect.yaml: line 1: field timeouts not found")
}

// What a command has started ends with it.
func TestTestKillsTheGroup(t *testing.T) {
	sumsSet(t, "")
	for name, script := range map[string]string{
		"timed out": `sleep 300 & echo $! > pid; wait`,
		"ended":     `sleep 300 & echo $! > pid`,
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", "test", "tapes", "--timeout", "500ms", "--", "sh", "-c", script)
			assert.Equal(t, exitNo, r.code, r.err)
			pid, err := strconv.Atoi(strings.TrimSpace(read(t, "pid")))
			require.NoError(t, err)
			assert.Eventually(t, func() bool { return dead(pid) }, 5*time.Second, 10*time.Millisecond)
		})
	}
}

// dead also takes a process for dead that nobody has reaped.
func dead(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// Secrets that a command prints go to no report and no expectation.
func TestTestRedactsWhatACommandWrites(t *testing.T) {
	sumsSet(t, "")
	const secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
	script := "echo token=" + secret + "; echo " + secret + " >&2; exit 1"
	r := tapeCmd(t, "", "test", "tapes", "--json", "--format", "junit=j.xml", "--", "sh", "-c", script)
	assert.Equal(t, exitNo, r.code)
	assert.NotContains(t, r.out+read(t, "j.xml"), secret)
}

func TestTestUsage(t *testing.T) {
	sumsSet(t, "")
	for name, words := range map[string][]string{
		"no command":          {"test", "tapes"},
		"nothing after --":    {"test", "tapes", "--"},
		"no tapes":            {"test", "--", "true"},
		"unknown format":      {"test", "tapes", "--format", "tap", "--", "true"},
		"two on one stream":   {"test", "tapes", "--format", "junit", "--json", "--", "true"},
		"no jobs":             {"test", "tapes", "-j", "0", "--", "true"},
		"no time":             {"test", "tapes", "--timeout", "0", "--", "true"},
		"no such directory":   {"test", "nowhere", "--", "true"},
		"no such rules":       {"test", "tapes", "--rules", "nowhere", "--", "true"},
		"report to nowhere":   {"test", "tapes", "--format", "junit=/nonexistent/j.xml", "--", "true"},
		"no such order":       {"test", "tapes", "--order", "odd", "--", "true"},
		"no such command":     {"test", "tapes", "--", "no-such-command"},
		"directory, no tapes": {"test", t.TempDir(), "--", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", words...)
			assert.Equal(t, exitUsage, r.code, r.out+r.err)
		})
	}
}
