//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// childEnv turns the test binary into a command for tape run.
const childEnv = "TAPE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// child follows its arguments: "call TOOL ARGS" prints the answer, "post NAME PATH BODY" posts to the URL in a variable, "exit N" ends, "die" kills itself, "wait" waits for SIGTERM and exits with 7, "env NAME"
// shows a variable, "remove" deletes a folder, "interrupts" prints how many
// SIGINTs came, "tape" is the command line, "mcp" calls a tool of an MCP server that
// is the command line with the rest, "background" runs the rest in a
// process group of its own and interrupts that.
func child(words []string) int {
	for len(words) > 0 {
		switch words[0] {
		case "call":
			body := fmt.Sprintf(`{"tool":%q,"args":%s}`, words[1], words[2])
			resp, err := http.Post(os.Getenv("TAPE_URL")+"/v1/call", "application/json", strings.NewReader(body))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 99
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			fmt.Printf("%d %s", resp.StatusCode, text)
			words = words[3:]
		case "post":
			resp, err := http.Post(os.Getenv(words[1])+words[2], "application/json", strings.NewReader(words[3]))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 99
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			fmt.Printf("%d %s\n", resp.StatusCode, text)
			words = words[4:]
		case "exit":
			n, _ := strconv.Atoi(words[1])
			return n
		case "die":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		case "wait":
			term := make(chan os.Signal, 1)
			signal.Notify(term, syscall.SIGTERM)
			fmt.Println("waiting")
			<-term
			return 7
		case "env":
			fmt.Printf("%s=%s\n", words[1], os.Getenv(words[1]))
			words = words[2:]
		case "remove":
			_ = os.RemoveAll(words[1])
			words = words[2:]
		case "interrupts":
			got := make(chan os.Signal, 8)
			signal.Notify(got, syscall.SIGINT)
			fmt.Println("waiting")
			n := 0
			for wait := 10 * time.Second; ; wait = 200 * time.Millisecond {
				select {
				case <-got:
					n++
					continue
				case <-time.After(wait):
				}
				fmt.Printf("%d interrupts\n", n)
				return 0
			}
		case "tape":
			return Main(words[1:], OS())
		case "mcp":
			return mcpChild(words[1:])
		case "background":
			return background(words[1:])
		}
	}
	return 0
}

// background runs us again with words, outside the foreground of the terminal.
func background(words []string) int {
	cmd := exec.Command(os.Args[0], words...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return 98
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Println(lines.Text())
		if lines.Text() == "waiting" {
			_ = syscall.Kill(cmd.Process.Pid, syscall.SIGINT)
		}
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

const (
	add12 = `{"b": 2, "a": 1}`
	add22 = `{"a":2,"b":2}`
)

func runTape(t *testing.T, flags []string, words ...string) result {
	t.Helper()
	t.Setenv(childEnv, "1")
	argv := append([]string{"run", "testdata/bare.jsonl"}, flags...)
	return tapeCmd(t, "", append(append(argv, "--", os.Args[0]), words...)...)
}

func TestRunThatIsClean(t *testing.T) {
	both := []string{"call", "add", add22, "call", "add", add12}
	r := runTape(t, nil, both...)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, "200 {\"result\":4}\n200 {\"result\":3}\n", r.out, "the command's output alone")
	golden(t, "run_clean.txt", r.err)

	r = runTape(t, nil, append(both, "exit", "42")...)
	assert.Equal(t, 42, r.code, "the command's own code")
	assert.NotContains(t, r.err, "tape: ")
	r = runTape(t, nil, append(both, "die")...)
	assert.Equal(t, 128+9, r.code)
}

func TestRunThatIsNotClean(t *testing.T) {
	for name, words := range map[string][]string{
		"run_drift.txt":      {"call", "add", `{"a":1,"b":3}`},
		"run_miss.txt":       {"call", "add", add12, "call", "add", add22, "call", "sub", `{}`},
		"run_exhausted.txt":  {"call", "add", add12, "call", "add", add12},
		"run_unconsumed.txt": {"exit", "0"},
		"run_both.txt":       {"call", "add", add12, "exit", "42"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runTape(t, nil, words...)
			assert.Equal(t, exitNo, r.code)
			golden(t, name, r.err)
		})
	}
}

func TestRunReports(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	r := runTape(t, []string{"--json", "--report", file, "--code-version", "v2", "--order", "strict"}, "call", "add", add12)
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, r.err, read(t, file), "standard error holds the JSON and nothing else")
	var report struct {
		Clean       bool   `json:"clean"`
		CodeVersion string `json:"code_version"`
		Policy      struct{ Order string }
		Stats       map[string]any
		Tape        struct{ Path string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.err), &report))
	assert.False(t, report.Clean)
	assert.Equal(t, "v2", report.CodeVersion)
	assert.Equal(t, "strict", report.Policy.Order)
	assert.Equal(t, "testdata/bare.jsonl", report.Tape.Path)
	assert.EqualValues(t, 1, report.Stats["unconsumed"])
	assert.EqualValues(t, 0, report.Stats["live_tool_calls"])
}

// An agent whose model is answered elsewhere still replays its tools cleanly.
func TestRunKinds(t *testing.T) {
	t.Setenv(childEnv, "1")
	file := temp(t, "mixed.jsonl", `{"seq":1,"tool":"chat","kind":"model","args":{"messages":[]},"result":{}}
{"seq":2,"tool":"add","args":`+add12+`,"result":3}
`)
	r := tapeCmd(t, "", "run", file, "--kind", "tool", "--", os.Args[0], "call", "add", add12)
	assert.Equal(t, 0, r.code, r.err)
	assert.Contains(t, r.err, "tool")
	r = tapeCmd(t, "", "run", file, "--", os.Args[0], "call", "add", add12)
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.err, "1 unconsumed: step 1 chat; --kind tool leaves model calls out\n")
	r = tapeCmd(t, "", "run", file, "--", os.Args[0], "exit", "0")
	assert.NotContains(t, r.err, "--kind", "a tool was not asked for either")
}

// TestRunAnswersTheModel where SDKs look for it, and keeps real keys out.
func TestRunAnswersTheModel(t *testing.T) {
	t.Setenv(childEnv, "1")
	t.Setenv("OPENAI_API_KEY", "sk-real")
	file := temp(t, "model.jsonl", `{"seq":1,"tool":"chat","kind":"model","args":{"messages":[{"role":"user","parts":[{"type":"text","content":"hello"}]}]},"result":{"message":{"role":"assistant","parts":[{"type":"text","content":"hi"}]}}}
`)
	for name, request := range map[string][2]string{
		"OPENAI_BASE_URL":        {"/chat/completions", `{"messages":[{"role":"user","content":"hello"}]}`},
		"ANTHROPIC_BASE_URL":     {"/v1/messages", `{"messages":[{"role":"user","content":"hello"}]}`},
		"GOOGLE_GEMINI_BASE_URL": {"/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"hello"}]}]}`},
	} {
		r := tapeCmd(t, "", "run", file, "--", os.Args[0], "env", "OPENAI_API_KEY", "post", name, request[0], request[1])
		require.Equal(t, exitOK, r.code, r.err)
		assert.Contains(t, r.out, `"hi"`, name)
		assert.Contains(t, r.out, "OPENAI_API_KEY=tape-replay")
		assert.Contains(t, r.err, "id and time of the response")
		r = tapeCmd(t, "", "run", file, "--", os.Args[0], "post", name, request[0], strings.Replace(request[1], "hello", "hullo", 1))
		assert.Equal(t, exitNo, r.code)
		assert.Contains(t, r.err, `message 1, text of user "hello" -> "hullo"`)
	}
	// A command that is killed leaves a report that is right.
	r := tapeCmd(t, "", "run", file, "--", os.Args[0], "post", "OPENAI_BASE_URL", "/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"hello"}]}`, "die")
	assert.Equal(t, 128+9, r.code, "%s", r.err)
	assert.Contains(t, r.out, "data: [DONE]")
	assert.Contains(t, r.err, "hits 1")
}

func TestRunUsage(t *testing.T) {
	cut := temp(t, "cut.jsonl", `{"tape":"1"}`+"\n"+`{"seq":1,"to`)
	for name, tt := range map[string]struct {
		words []string
		want  string
	}{
		"no command":      {[]string{"run", "f"}, "call it as: tape run FILE [flags] -- CMD..."},
		"empty command":   {[]string{"run", "f", "--"}, "call it as: tape run FILE [flags] -- CMD..."},
		"no dashes":       {[]string{"run", "f", "python"}, "call it as: tape run FILE [flags] -- CMD..."},
		"no file":         {[]string{"run", "--", "true"}, "call it as: tape run FILE [flags] -- CMD..."},
		"missing file":    {[]string{"run", "testdata/none.jsonl", "--", "true"}, "testdata/none.jsonl"},
		"standard input":  {[]string{"run", "-", "--", "true"}, "the tape must be a file, not standard input"},
		"cut tape":        {[]string{"run", cut, "--", "true"}, "cut.jsonl: line 2: "},
		"cut to serve":    {[]string{"serve", cut}, "cut.jsonl: line 2: "},
		"not a command":   {[]string{"run", "testdata/bare.jsonl", "--", "./no-such-command"}, "the command did not start: "},
		"not a mode":      {[]string{"run", "f", "--mode", "loose", "--", "true"}, `--mode: unknown mode "loose"`},
		"a live mode":     {[]string{"run", "f", "--mode", "record", "--", "true"}, "--mode record: another program's calls can be answered, not run"},
		"not a kind":      {[]string{"serve", "testdata/bare.jsonl", "--kind", "tool,shell"}, `--kind: "shell" is none of`},
		"not an order":    {[]string{"serve", "f", "--order", "any"}, `--order: unknown order "any"`},
		"not completion":  {[]string{"serve", "f", "--completion", "any"}, `--completion: unknown completion "any"`},
		"not loopback":    {[]string{"serve", "testdata/bare.jsonl", "--listen", "0.0.0.0:0"}, "not a loopback address"},
		"not an address":  {[]string{"serve", "testdata/bare.jsonl", "--listen", "here"}, "missing port in address"},
		"an empty tape":   {[]string{"run", os.DevNull, "--", "true"}, os.DevNull + ": empty: there is neither a manifest nor a record in it"},
		"an id":           {[]string{"run", strings.Repeat("a", 32), "--", "true"}, " is not a file; tape pull " + strings.Repeat("a", 32) + " -o FILE makes one"},
		"a directory":     {[]string{"run", "testdata/bare.jsonl", "--report", "testdata", "--", "true"}, "--report: testdata is a directory"},
		"unwritable file": {[]string{"run", "testdata/bare.jsonl", "--report", "none/r.json", "--", "true"}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", tt.words...)
			assert.Equal(t, exitUsage, r.code)
			assert.Contains(t, r.err, tt.want)
			oneLineError(t, r)
		})
	}
}

// A proxy is asked for loopback addresses by most clients but those in Go.
func TestRunKeepsTheProxyOutOfTheWay(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv(childEnv, "1")
	words := []string{"run", "testdata/bare.jsonl", "--no-proxy", "--", os.Args[0], "env", "NO_PROXY", "env", "no_proxy"}
	assert.Equal(t, "NO_PROXY=\nno_proxy=\n", tapeCmd(t, "", words...).out, "nothing is set for nothing")
	r := tapeCmd(t, "", append([]string{"http_proxy=http://proxy:3128", "NO_PROXY=.corp"}, words...)...)
	assert.Equal(t, "NO_PROXY=.corp,127.0.0.1\nno_proxy=.corp,127.0.0.1\n", r.out)
}

// A report that could not be written after all does not hide that the replay was
// not clean.
func TestRunWhoseReportIsLost(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	r := runTape(t, []string{"--report", filepath.Join(folder, "r.json")}, "remove", folder)
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.err, "2 unconsumed")
	assert.Contains(t, r.err, filepath.Join(folder, "r.json")+": no such file or directory")
}

func TestRunPassesSignalsOn(t *testing.T) {
	t.Setenv(childEnv, "1")
	out, in := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- Main([]string{"run", "testdata/bare.jsonl", "--", os.Args[0], "call", "add", add12, "call", "add", add22, "wait"},
			Streams{In: strings.NewReader(""), Out: in, Err: &errs, Env: os.Getenv})
		_ = in.Close()
	}()
	var seen bytes.Buffer
	buf := make([]byte, 256)
	for !strings.Contains(seen.String(), "waiting") {
		n, err := out.Read(buf)
		require.NoError(t, err)
		seen.Write(buf[:n])
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	// To us, the parent, as an init system would send it.
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	assert.Equal(t, 7, <-ended, "the command saw the signal and ended in its own way")
	assert.Contains(t, errs.String(), "clean")
}
