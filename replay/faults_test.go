package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// A replay of a file with nothing in it would be clean whatever the program did.
func TestAnEmptyFileCannotBeReplayed(t *testing.T) {
	for name, text := range map[string]string{"no bytes": "", "blank lines": "\n\r\n\n", "a byte order mark": "\ufeff"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "empty.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := Open(path)
			require.ErrorIs(t, err, tape.ErrEmpty)
			assert.ErrorContains(t, err, path)
		})
	}
	// It can be recorded to, as a file that was made beforehand.
	path := filepath.Join(t.TempDir(), "empty.jsonl")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	s, err := Open(path, WithMode(ModeRecord))
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestAnUnknownKindIsNoCall(t *testing.T) {
	s := start(t, parse(t, `{"seq":1,"tool":"t","args":{},"result":1}`))
	_, err := s.Call(ctx, "t", raw(`{}`), never(t), WithKind("banana"))
	require.ErrorContains(t, err, `t: unknown kind "banana", want one of ["tool" "model" "clock" "random"]`)
	assert.Zero(t, s.Stats().Steps)
}

// The nearest record is found wherever on a long tape it is, and of records that
// are equally near an unconsumed one counts.
func TestNearestOnALongTape(t *testing.T) {
	const records = 5000
	lines := make([]string, records)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"seq":%d,"tool":"tool_%d_end","args":{"n":%d},"result":1}`, i+1, i, i)
	}
	s := start(t, parse(t, lines...))
	near := func(tool, args string) *Near {
		_, err := s.Call(ctx, tool, raw(args), never(t))
		var miss *MissError
		require.ErrorAs(t, err, &miss)
		return miss.Nearest
	}
	got := near("other", `{"n":4321}`)
	require.NotNil(t, got)
	assert.Equal(t, 4322, got.Seq)
	assert.Equal(t, "the same arguments for another tool", got.Why)
	got = near("Tool-4999", `{}`)
	require.NotNil(t, got)
	assert.Equal(t, 5000, got.Seq)
	assert.Nil(t, near("to", `{}`), "two letters begin too many names")
}

// A tape of a plain recorder holds what it holds; errors and reports do not.
func TestAMissShowsNoSecretOfTheTape(t *testing.T) {
	s := start(t, parse(t, `{"seq":1,"tool":"t","args":{"password":"hunter2","z":1},"result":1}`))
	_, err := s.Call(ctx, "t", raw(`{"password":"hunter2","z":1}`), never(t))
	require.NoError(t, err)
	_, err = s.Call(ctx, "t", raw(`{"z":1}`), never(t))
	require.ErrorIs(t, err, ErrMiss)
	assert.Contains(t, err.Error(), "password")
	assert.NotContains(t, err.Error(), "hunter2")
	assert.NotContains(t, s.Report().Text(), "hunter2")
}

// Close does not leave calls waiting for answers that nobody will ask for.
func TestCloseLetsOutWhatIsHeldBack(t *testing.T) {
	s := start(t, parse(t,
		`{"seq":1,"tool":"t","args":{"n":1},"result":1,"done":2}`,
		`{"seq":2,"tool":"t","args":{"n":2},"result":2,"done":1}`,
	), WithCompletion(CompletionRecorded, time.Hour))
	ended := make(chan error)
	go func() {
		_, err := s.Call(ctx, "t", raw(`{"n":1}`), never(t))
		ended <- err
	}()
	require.Eventually(t, func() bool { return s.Stats().TapeHits == 1 }, 5*time.Second, time.Millisecond)
	require.ErrorIs(t, s.Close(), ErrUnconsumed)
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(5 * time.Second):
		t.Fatal("the call still waits")
	}
}

// A recording replaces its file at the end, but not a link to it.
func TestRecordingThroughASymbolicLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.jsonl"), filepath.Join(dir, "sub", "link.jsonl")
	require.NoError(t, os.WriteFile(real, nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Dir(link), 0o700))
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	s, err := Open(link, WithMode(ModeRecord))
	require.NoError(t, err)
	_, err = Do(ctx, s, "t", nil, func(context.Context) (int, error) { return 1, nil })
	require.NoError(t, err)
	require.NoError(t, s.Close())
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "the link is a link still")
	text, err := os.ReadFile(real)
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(text), "\n"))
	assert.Contains(t, string(text), `"complete":true`)
}

// Errors of a tape that cannot be replayed name its file.
func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	for name, c := range map[string]struct {
		text    string
		options []Option
		want    string
	}{
		"a time":      {`{"seq":1,"tool":"t","expires":"soon"}`, nil, `record 1: member "expires": `},
		"redaction":   {`{"tape":"1","redaction":{"policy":"x","rules":[1]}}`, nil, "redaction policy of the tape: "},
		"an override": {`{"seq":1,"tool":"t"}`, []Option{OverrideStep(9, AnswerResult(1))}, "override of step 9: there is no such step"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			s, err := Open(path, c.options...)
			require.ErrorContains(t, err, "replay: "+path+": "+c.want)
			assert.Nil(t, s)
		})
	}
}
