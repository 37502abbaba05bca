package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// result is what a command line did.
type result struct {
	out, err string
	code     int
}

// tapeCmd runs a command line in process. Env is name=value pairs in front of
// the arguments, as in a shell.
func tapeCmd(t *testing.T, stdin string, words ...string) result {
	t.Helper()
	env := map[string]string{}
	for len(words) > 0 && strings.Contains(words[0], "=") {
		name, value, _ := strings.Cut(words[0], "=")
		env[name] = value
		words = words[1:]
	}
	var out, errs bytes.Buffer
	code := Main(words, Streams{
		In: strings.NewReader(stdin), Out: &out, Err: &errs,
		Env: func(name string) string { return env[name] },
	})
	return result{out.String(), errs.String(), code}
}

// policyID changes with every redaction rule, which is not what these tests
// are about.
var policyID = regexp.MustCompile(`redaction v\d+:[0-9a-f]+`)

// golden compares text with a file of testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = policyID.ReplaceAllString(got, "redaction POLICY")
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// oneLineError asserts the form of every error.
func oneLineError(t *testing.T, r result) {
	t.Helper()
	assert.True(t, strings.HasPrefix(r.err, "tape: "), "%q begins with tape:", r.err)
	assert.Equal(t, 1, strings.Count(r.err, "\n"), "%q is one line", r.err)
	assert.NotContains(t, r.err, "\x1b")
}

func temp(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestBadUsageIsOneLineAndExitCode2(t *testing.T) {
	for name, tt := range map[string]struct {
		words []string
		want  string
	}{
		"no such verb":             {[]string{"frobnicate"}, `"frobnicate" is not a verb; tape --help lists them`},
		"help of no verb":          {[]string{"help", "frobnicate"}, `"frobnicate" is not a verb; tape --help lists them`},
		"an empty tape":            {[]string{"show", os.DevNull}, os.DevNull + ": empty: there is neither a manifest nor a record in it"},
		"missing argument":         {[]string{"key", "t"}, "call it as: tape key TOOL ARGS_JSON [flags]"},
		"too many":                 {[]string{"show", "a", "b"}, "call it as: tape show FILE|ID [flags]"},
		"unknown flag":             {[]string{"key", "--loud"}, "key: unknown flag: --loud"},
		"bad flag value":           {[]string{"show", "--step", "x", "f"}, `show: invalid argument "x" for "--step" flag: strconv.ParseInt: parsing "x": invalid syntax`},
		"server and store":         {[]string{"--server", "http://x", "--store", "y", "ls"}, "if any flags in the group [server store] are set none of the others can be; [server store] were all set"},
		"neither file nor id":      {[]string{"show", "nothing"}, `"nothing" is neither a file nor a trace id, which has 32 hex digits`},
		"control characters in it": {[]string{"show", "no\x1b[31m\nthing"}, `"no\x1b[31m\nthing" is neither a file nor a trace id, which has 32 hex digits`},
		"malformed id":             {[]string{"pull", "xyz"}, `"xyz" is not a trace id, which has 32 hex digits`},
		"an id of zeros":           {[]string{"pull", strings.Repeat("0", 32)}, `"` + strings.Repeat("0", 32) + `" is not a trace id, which is never all zeros`},
		"malformed id to rm":       {[]string{"rm", strings.Repeat("a", 32), "xyz"}, `"xyz" is not a trace id, which has 32 hex digits`},
		"bad bodies":               {[]string{"pull", strings.Repeat("a", 32), "--bodies", "maybe"}, `--bodies is inline or ref, not "maybe"`},
		"bad server":               {[]string{"--server", "ftp://x", "ls"}, `"ftp://x" is not the URL of a server, such as http://127.0.0.1:4380`},
		"bad server from env":      {[]string{"TAPE_SERVER=:", "ls"}, `"http://:" is not the URL of a server, such as http://127.0.0.1:4380`},
		"a store that is none":     {[]string{"--store", "gs://bucket/prefix", "ls"}, "--store takes a directory or s3://bucket/prefix, and gs://… is neither: name a server that has that store with --server"},
		"bad time":                 {[]string{"ls", "--since", "yesterday"}, `--since: "yesterday" is neither an RFC 3339 time nor a span such as 24h`},
		"bad limit":                {[]string{"ls", "--limit", "0"}, "--limit is 1 or more, not 0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", tt.words...)
			assert.Equal(t, "tape: "+tt.want+"\n", r.err)
			assert.Equal(t, exitUsage, r.code)
			assert.Empty(t, r.out)
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	r := tapeCmd(t, "", "--help")
	assert.Equal(t, exitOK, r.code)
	assert.Contains(t, r.out, "Exit codes: 0 good; 1")
	for _, words := range [][]string{{"version"}, {"--version"}} {
		r = tapeCmd(t, "", words...)
		assert.Regexp(t, `^tape \S+ \(go\S+, \w+/\w+\)\n$`, r.out)
		assert.Equal(t, exitOK, r.code)
	}
	r = tapeCmd(t, "", "version", "--json")
	assert.Contains(t, r.out, `"platform"`)
}

func TestHelp(t *testing.T) {
	help := tapeCmd(t, "", "help", "pull")
	assert.Equal(t, exitOK, help.code)
	assert.Empty(t, help.err)
	assert.Equal(t, tapeCmd(t, "", "pull", "--help").out, help.out)
	assert.Equal(t, tapeCmd(t, "", "--help").out, tapeCmd(t, "", "help").out)
}

// shopTape writes a tape of a search and a payment.
func shopTape(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","outcome":"failed","tools":[{"name":"pay","schema":{"type":"object","required":["cents"]}}]}
{"seq":1,"tool":"find","args":{"q":"a"},"result":"old"}
{"seq":2,"tool":"pay","args":{"account":"acme-prod","cents":500},"result":"old","side_effect":true,"approval_id":"ap-7"}
`), 0o600))
	return path
}

func writeNamed(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
