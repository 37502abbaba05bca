package tapereceiver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// watching takes in what lies in a directory and does nothing else.
func watching(dir string, change func(*Config)) *Config {
	return quick(func(c *Config) {
		c.Mode = ModeNone
		w := c.Watch.GetOrInsertDefault()
		w.Directory, w.PollInterval, w.Quiet = dir, 5*time.Millisecond, 0
		if change != nil {
			change(c)
		}
	})
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func plain(run string) string {
	return `{"seq":1,"tool":"t","args":{},"result":1,"ms":1,"run_id":"` + run + `"}` + "\n"
}

func (s *sink) count(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(s.all()) >= n }, 5*time.Second, time.Millisecond)
	time.Sleep(20 * time.Millisecond)
	assert.Len(t, s.all(), n)
}

func TestWatchedFilesAreTakenInOnce(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	write(t, dir, "a.jsonl", plain("a"))
	write(t, dir, "b.ndjson.gz", string(zipped(t, plain("b"))))
	write(t, dir, ".c.jsonl", plain("hidden"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "below"), 0o700))
	write(t, filepath.Join(dir, "below"), "d.jsonl", plain("below"))
	f := start(t, componenttest.NewNopHost(), s, watching(dir, nil))
	s.count(t, 2)
	write(t, dir, "e.jsonl", plain("e"))
	s.count(t, 3)
	require.NoError(t, os.Rename(filepath.Join(dir, ".c.jsonl"), filepath.Join(dir, "c.jsonl")))
	s.count(t, 4)
	f.assertTapes(t, "watch", map[string]int64{"accepted": 4})
}

func TestAWatchedTapeWithoutTimesEndedWhenItsFileWasWritten(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	written := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chtimes(write(t, dir, "a.jsonl", plain("a")), written, written))
	start(t, componenttest.NewNopHost(), s, watching(dir, nil))
	s.count(t, 1)
	for _, span := range s.all()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		assert.Equal(t, written, span.EndTimestamp().AsTime(), span.Name())
	}
}

// A file that is being written waits for the end of its last line, although what is
// there of it may be a record already.
func TestAPartialLineWaits(t *testing.T) {
	for name, half := range map[string]string{
		"inside a record": plain("a")[:20],
		"before its end":  strings.TrimSuffix(plain("a"), "\n"),
		"nothing yet":     "",
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := t.TempDir(), &sink{}
			path := write(t, dir, "a.jsonl", half)
			f := start(t, componenttest.NewNopHost(), s, watching(dir, nil))
			f.waitFor(t, "not whole yet")
			time.Sleep(20 * time.Millisecond)
			assert.Equal(t, 1, f.logs.FilterMessageSnippet("not whole yet").Len(), "which is said once")
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = file.WriteString(plain("a")[len(half):])
			require.NoError(t, err)
			require.NoError(t, file.Close())
			s.count(t, 1)
			f.assertTapes(t, "watch", map[string]int64{"accepted": 1})
		})
	}
}

func TestAPartOfACompressedFileWaits(t *testing.T) {
	whole := string(zipped(t, plain("a")))
	for _, n := range []int{0, 5, len(whole) / 2, len(whole) - 1} {
		dir, s := t.TempDir(), &sink{}
		write(t, dir, "a.jsonl.gz", whole[:n])
		f := start(t, componenttest.NewNopHost(), s, watching(dir, nil))
		f.waitFor(t, "not whole yet")
		write(t, dir, "a.jsonl.gz", whole)
		s.count(t, 1)
	}
}

func TestAFileThatChangesWaits(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	path := write(t, dir, "a.jsonl", plain("a"))
	start(t, componenttest.NewNopHost(), s, watching(dir, func(c *Config) { c.Watch.Get().Quiet = time.Hour }))
	time.Sleep(30 * time.Millisecond)
	assert.Empty(t, s.all())
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(path, old, old))
	s.count(t, 1)
}

func TestFilesThatAreNoTapesAreCountedAndNamed(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		result     string
		says       string
	}{
		"unknown suffix":  {"notes.txt", "hello\n", "unknown_suffix", "has a suffix that is none"},
		"not JSON":        {"a.jsonl", "hello\n", "invalid", "is no tape"},
		"a later version": {"a.jsonl", `{"tape":"9"}` + "\n", "invalid", "is no tape"},
		"no record":       {"a.jsonl", `{"tape":"1"}` + "\n", "invalid", "is no tape"},
		"not compressed":  {"a.jsonl.gz", plain("a") + plain("b"), "invalid", "is no tape"},
		"over the size":   {"a.jsonl", strings.Repeat(plain("a"), 100), "too_large", "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := t.TempDir(), &sink{}
			path := write(t, dir, test.file, test.text)
			f := start(t, componenttest.NewNopHost(), s, watching(dir, func(c *Config) {
				if name == "over the size" {
					c.Watch.Get().MaxFileBytes = 1000
				}
			}))
			f.waitFor(t, test.says)
			time.Sleep(20 * time.Millisecond)
			f.assertTapes(t, "watch", map[string]int64{test.result: 1})
			assert.FileExists(t, path)
			assert.Equal(t, test.file, f.logs.FilterMessageSnippet(test.says).All()[0].ContextMap()["file"])

			// Mended, it is taken in.
			write(t, dir, test.file, plain("mended"))
			if test.result == "invalid" && test.file == "a.jsonl" {
				s.count(t, 1)
			}
		})
	}
}

func TestATapeOfExactlyTheSizeIsTaken(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	write(t, dir, "a.jsonl", plain("a"))
	start(t, componenttest.NewNopHost(), s, watching(dir, func(c *Config) { c.Watch.Get().MaxFileBytes = int64(len(plain("a"))) }))
	s.count(t, 1)
}

func TestFilesAreMovedWhenTaken(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	done := filepath.Join(dir, "done")
	write(t, dir, "a.jsonl", plain("a"))
	start(t, componenttest.NewNopHost(), s, watching(dir, func(c *Config) { c.Watch.Get().MoveTo = done }))
	s.count(t, 1)
	assert.FileExists(t, filepath.Join(done, "a.jsonl"))
	assert.NoFileExists(t, filepath.Join(dir, "a.jsonl"))
	write(t, dir, "a.jsonl", plain("another"))
	s.count(t, 2)
	files, err := os.ReadDir(done)
	require.NoError(t, err)
	assert.Len(t, files, 2, "an earlier one of the same name stays")
}

func TestFilesAreRememberedOverRestarts(t *testing.T) {
	dir, h := t.TempDir(), newRemembering()
	config := func() *Config { return watching(dir, checkpointed) }
	write(t, dir, "a.jsonl", plain("a"))
	write(t, dir, "b.jsonl", plain("b"))
	first := &sink{answer: func(n int, _ ptrace.Traces) error {
		if n > 1 {
			return errors.New("queue is full")
		}
		return nil
	}}
	cfg := config()
	cfg.RetryConfig.Enabled = false
	f := start(t, h, first, cfg)
	f.waitFor(t, "was not taken")
	require.NoError(t, f.Shutdown(t.Context()))
	assert.Len(t, first.all(), 1)

	second := &sink{}
	f = start(t, h, second, config())
	second.count(t, 1)
	require.NoError(t, os.Remove(filepath.Join(dir, "a.jsonl")))
	require.Eventually(t, func() bool {
		done := map[string]version{}
		_, err := (&checkpoint{&client{h.memory}}).load(t.Context(), watchKey, &done)
		return err == nil && len(done) == 1
	}, 5*time.Second, time.Millisecond, "what is gone is forgotten")
	require.NoError(t, f.Shutdown(t.Context()))
}

func TestAFileThatIsRefusedForGoodStays(t *testing.T) {
	dir := t.TempDir()
	s := &sink{answer: func(int, ptrace.Traces) error { return consumererror.NewPermanent(errors.New("no")) }}
	path := write(t, dir, "a.jsonl", plain("a"))
	f := start(t, componenttest.NewNopHost(), s, watching(dir, func(c *Config) { c.Watch.Get().MoveTo = filepath.Join(dir, "done") }))
	f.waitFor(t, "was refused")
	time.Sleep(20 * time.Millisecond)
	f.assertTapes(t, "watch", map[string]int64{"refused": 1})
	assert.FileExists(t, path)
}

func TestDirectoriesThatCannotBeWatched(t *testing.T) {
	file := write(t, t.TempDir(), "file", "")
	for dir, want := range map[string]string{
		filepath.Join(t.TempDir(), "missing"): "no such file",
		file:                                  "is no directory",
	} {
		r, err := NewFactory().CreateTraces(t.Context(), nopSettings(), watching(dir, nil), &sink{})
		require.NoError(t, err)
		require.ErrorContains(t, r.Start(t.Context(), componenttest.NewNopHost()), want)
	}
}

func TestADirectoryThatGoesAwayIsWaitedFor(t *testing.T) {
	dir, s := filepath.Join(t.TempDir(), "tapes"), &sink{}
	require.NoError(t, os.Mkdir(dir, 0o700))
	f := start(t, componenttest.NewNopHost(), s, watching(dir, nil))
	require.NoError(t, os.Remove(dir))
	f.waitFor(t, "cannot be read, trying again")
	require.NoError(t, os.Mkdir(dir, 0o700))
	write(t, dir, "a.jsonl", plain("a"))
	s.count(t, 1)
}
