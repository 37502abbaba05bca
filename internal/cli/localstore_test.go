package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/tape"
)

// newStore makes a store with one kept run of a's and one summary of b's.
func newStore(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	backend, err := dir.Open(path)
	require.NoError(t, err)
	fillStore(t, backend)
	return path
}

func fillStore(t *testing.T, backend store.Backend) {
	t.Helper()
	st, err := store.Open(backend, store.Options{})
	require.NoError(t, err)
	defer st.Close()
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(request(toolSpan('a', 1, `{"q":"socks"}`))))
	require.NoError(t, err)
	ctx := t.Context()
	_, err = st.PutFragment(ctx, "failures", strings.Repeat("a", 32), td)
	require.NoError(t, err)
	start := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339Nano)
	require.NoError(t, st.AppendRows(ctx, []tape.Row{
		{TraceID: strings.Repeat("a", 32), Outcome: tape.OutcomeFailed, Service: "shop", Kept: true, Class: "failures", Steps: 1, Start: start, Decided: start},
		{TraceID: strings.Repeat("b", 32), Outcome: tape.OutcomeSucceeded, Service: "shop", Steps: 2, ToolCalls: 2, Start: start, Decided: start},
	}))
}

func TestStoreInPlaceAnswersAsTheServerDoes(t *testing.T) {
	st := newStore(t)
	kept, summarised := strings.Repeat("a", 32), strings.Repeat("b", 32)

	r := tapeCmd(t, "", "--store", st, "ls", "--since", "1h")
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, 3, strings.Count(r.out, "\n"))
	assert.Contains(t, r.out, kept)
	r = tapeCmd(t, "", "--store", st, "ls", "--outcome", "succeeded")
	assert.Contains(t, r.out, summarised)
	assert.NotContains(t, r.out, kept)
	r = tapeCmd(t, "", "--store", st, "ls", "--outcome", "splendid")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)

	r = tapeCmd(t, "", "--store", st, "pull", kept)
	require.Equal(t, exitOK, r.code, r.err)
	tp := readTapeText(t, r.out)
	require.Len(t, tp.Records, 1)
	assert.Equal(t, "search", tp.Records[0].Tool)
	bare := tapeCmd(t, "", "--store", st, "pull", kept, "--bare")
	assert.Nil(t, readTapeText(t, bare.out).Manifest)

	r = tapeCmd(t, "", "--store", st, "show", kept)
	assert.Contains(t, r.out, "search")

	r = tapeCmd(t, "", "--store", st, "pull", summarised)
	assert.Equal(t, exitMissing, r.code)
	assert.Contains(t, r.err, "was not kept, only its summary: succeeded, 2 steps")
	r = tapeCmd(t, "", "--store", st, "pull", strings.Repeat("c", 32))
	assert.Equal(t, result{"", "tape: " + strings.Repeat("c", 32) + " is not known to " + st + "\n", exitMissing}, r)

	r = tapeCmd(t, "", "--store", st, "rm", kept)
	require.Equal(t, exitOK, r.code, r.err)
	r = tapeCmd(t, "", "--store", st, "pull", kept)
	assert.Equal(t, exitMissing, r.code)
}

func TestStoreThatIsNotThere(t *testing.T) {
	file := temp(t, "file", "")
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), file} {
		r := tapeCmd(t, "", "--store", path, "ls")
		oneLineError(t, r)
		assert.Equal(t, exitMissing, r.code)
		assert.Contains(t, r.err, path)
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(file), ".tmp"))
	assert.ErrorIs(t, err, os.ErrNotExist, "reading makes nothing")
}

// A wrong path must not look like a store without runs.
func TestADirectoryThatIsNoStore(t *testing.T) {
	path := t.TempDir()
	r := tapeCmd(t, "", "--store", path, "ls")
	assert.Equal(t, exitMissing, r.code)
	assert.Equal(t, "tape: --store: "+path+" holds no tape store\n", r.err)
	_, err := dir.Open(path)
	require.NoError(t, err)
	r = tapeCmd(t, "", "--store", path, "ls")
	assert.Equal(t, exitOK, r.code, "a store without runs is one")
	assert.Equal(t, "tape: no runs match\n", r.err)
}

func TestRunsOfATenant(t *testing.T) {
	path := t.TempDir()
	backend, err := dir.Open(path)
	require.NoError(t, err)
	st, err := store.Open(backend, store.Options{})
	require.NoError(t, err)
	defer st.Close()
	of, err := st.Tenant("a & b\n")
	require.NoError(t, err)
	id := strings.Repeat("c", 32)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(request(toolSpan('c', 1, `{"q":"socks"}`))))
	require.NoError(t, err)
	_, err = of.PutFragment(t.Context(), "failures", id, td)
	require.NoError(t, err)
	require.NoError(t, of.AppendRows(t.Context(), []tape.Row{{TraceID: id, Outcome: tape.OutcomeFailed, Kept: true}}))

	for name, words := range map[string][]string{
		"flag":     {"--tenant", "a & b\n"},
		"variable": {"TAPE_TENANT=a & b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", append(words, "--store", path, "ls", "--since", "1h")...)
			require.Equal(t, exitOK, r.code, r.err)
			assert.Contains(t, r.out, id)
			r = tapeCmd(t, "", append(words, "--store", path, "pull", id)...)
			assert.Equal(t, exitOK, r.code, r.err)
		})
	}
	for _, words := range [][]string{{}, {"--tenant", "a"}} {
		r := tapeCmd(t, "", append(words, "--store", path, "pull", id)...)
		assert.Equal(t, exitMissing, r.code)
		oneLineError(t, r)
	}
}
