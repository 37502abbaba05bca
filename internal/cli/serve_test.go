package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// served is tape serve with the words of flags. It returns what posts to it, and what
// ends it and returns its exit code and its report.
func served(t *testing.T, words ...string) (post func(path, body string) (int, string), end func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	out, in := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- mainWith(ctx, append([]string{"serve"}, words...), Streams{In: strings.NewReader(""), Out: in, Err: &errs, Env: func(string) string { return "" }})
	}()
	buf := make([]byte, 256)
	n, err := out.Read(buf)
	require.NoError(t, err)
	url := strings.TrimSpace(string(buf[:n]))
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, url)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	post = func(path, body string) (int, string) {
		resp, err := client.Post(url+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, string(text)
	}
	return post, func() (int, string) {
		cancel()
		code := <-ended
		return code, errs.String()
	}
}

func TestServe(t *testing.T) {
	post, end := served(t, "testdata/bare.jsonl")
	for _, args := range []string{`{"b": 2, "a": 1}`, `{"a":2,"b":2}`} {
		status, _ := post("/v1/call", `{"tool":"add","args":`+args+`}`)
		assert.Equal(t, http.StatusOK, status)
	}
	code, report := end()
	assert.Equal(t, exitOK, code, report)
	assert.Contains(t, report, "hits 2")
}

// A program that somebody else starts can be told to run calls, and be given other
// answers, as one that tape run starts.
func TestServeHasCallsRun(t *testing.T) {
	const (
		find   = `{"tool":"find","args":{"q":"a"}}`
		pay    = `{"tool":"pay","args":{"account":"acme-prod","cents":7},"live":true}`
		paid   = `{"call":"live-1","result":{"paid":7}}`
		runPay = `{"live":true,"code":"run_live","call":"live-1","args":{"account":"acme-test","cents":7}}` + "\n"
	)
	accounts := writeNamed(t, "accounts.yaml", "values: {acme-prod: acme-test}\n")
	for name, kind := range map[string][]string{"a fork": {"--fork", "2"}, "a live replay": {"--live"}} {
		t.Run(name, func(t *testing.T) {
			derived := filepath.Join(t.TempDir(), "derived.jsonl")
			audit := filepath.Join(t.TempDir(), "audit.jsonl")
			post, end := served(t, append([]string{shopTape(t), "--isolated", "--allow", "pay", "--allow-side-effects", "--substitute", accounts, "--derive", derived, "--audit", audit}, kind...)...)
			_, got := post("/v1/call", find)
			assert.Equal(t, "{\"result\":\"old\"}\n", got)
			_, got = post("/v1/call", pay)
			assert.Equal(t, runPay, got)
			_, got = post("/v1/record", paid)
			assert.Equal(t, "{\"result\":{\"paid\":7}}\n", got)
			code, report := end()
			assert.Equal(t, exitOK, code, report)
			assert.Contains(t, report, "live calls 1, real side effects 1")
			made, err := tape.ReadFile(derived)
			require.NoError(t, err)
			require.Len(t, made.Records, 2)
			assert.JSONEq(t, `{"paid":7}`, string(made.Records[1].Result))
			assert.FileExists(t, audit)
		})
	}
	t.Run("an override", func(t *testing.T) {
		faults := writeNamed(t, "faults.yaml", "overrides:\n- tool: find\n  error: {code: '503', message: down}\n")
		post, end := served(t, shopTape(t), "--override", faults)
		_, got := post("/v1/call", find)
		assert.Contains(t, got, `"code":"503"`)
		code, report := end()
		assert.Equal(t, exitNo, code, "pay was not asked for")
		assert.Contains(t, report, "override of tool find at step 1")
	})
}

func TestServeRefusesWhatTapeRunRefuses(t *testing.T) {
	for want, flags := range map[string][]string{
		"say --isolated (Live.Isolated)": {"--live", "--allow", "pay"},
		"say --live, or --fork STEP":     {"--isolated", "--allow", "pay"},
		"unknown flag: --trials":         {"--fork", "2", "--trials", "3"},
	} {
		r := tapeCmd(t, "", append([]string{"serve", shopTape(t)}, flags...)...)
		assert.Equal(t, exitUsage, r.code, want)
		assert.Contains(t, r.err, want)
		oneLineError(t, r)
	}
}
