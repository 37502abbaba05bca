package cli

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type vector struct {
	Name      string `json:"name"`
	Tool      string `json:"tool"`
	ArgsJSON  string `json:"args_json"`
	Canonical string `json:"canonical"`
	Key       string `json:"key"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "key_vectors.jsonl"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var out []vector
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		out = append(out, v)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, out)
	return out
}

func TestKeyOfEveryConformanceVector(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			r := tapeCmd(t, "", "key", v.Tool, v.ArgsJSON)
			assert.Equal(t, result{v.Key + "\n", "", exitOK}, r)
			r = tapeCmd(t, v.ArgsJSON, "key", v.Tool, "-", "--json")
			var got keyReport
			require.NoError(t, json.Unmarshal([]byte(r.out), &got))
			assert.Equal(t, v.Key, got.Key)
			assert.Equal(t, v.Canonical, got.Canonical)
			assert.True(t, strings.HasPrefix(got.ArgsHash, "sha256:"+v.Key[len(v.Tool)+1:]))
		})
	}
}

// The one test that builds the command: the vectors through the real binary.
func TestBuiltBinaryComputesTheVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	bin := filepath.Join(t.TempDir(), "tape")
	build := exec.Command("go", "build", "-o", bin, "../../cmd/tape")
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	for _, v := range vectors(t) {
		out, err := exec.Command(bin, "key", v.Tool, v.ArgsJSON).Output()
		require.NoError(t, err, v.Name)
		assert.Equal(t, v.Key+"\n", string(out), v.Name)
	}
	err = exec.Command(bin, "key", "t", "{").Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitUsage, exit.ExitCode())
}

func TestKeyOfWhatIsNotJSON(t *testing.T) {
	r := tapeCmd(t, "", "key", "t", `{"a":`)
	oneLineError(t, r)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "the arguments: ")
}

func TestKeyOfRedactedArguments(t *testing.T) {
	secret := tapeCmd(t, "", "key", "t", `{"password":"hunter2"}`, "--redact")
	other := tapeCmd(t, "", "key", "t", `{"password":"tr0ub4dor"}`, "--redact")
	assert.Equal(t, secret, other, "the secret is not in the key")
	assert.NotEqual(t, secret.out, tapeCmd(t, "", "key", "t", `{"password":"hunter2"}`).out)
	plain := tapeCmd(t, "", "key", "t", `{"a":1}`)
	assert.Equal(t, plain, tapeCmd(t, "", "key", "t", `{"a":1}`, "--redact"))
}
