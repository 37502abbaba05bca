// Package replaytest replays tapes in Go tests.
//
//	func TestRefund(t *testing.T) {
//		session := replaytest.Open(t) // testdata/TestRefund.jsonl
//		err := agent(t.Context(), session)
//		…
//	}
//
// It promises that the replay is strict, so that nothing runs live, and that a test
// fails at its end for every call that was not a hit, also one whose error the
// program swallowed, and for records that were never asked for; what differs is in
// the test's log. A tape is only written where that is asked for, with [Record] or
// TAPE_RECORD=1 in the environment, and only of a test that passes.
//
// It costs reading the tape.
package replaytest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapedeck/tapedeck/replay"
)

// RecordVariable is the environment variable that makes tests write their tapes
// anew: TAPE_RECORD=1 go test -run TestRefund.
const RecordVariable = "TAPE_RECORD"

// Option changes how a test is replayed.
type Option func(*config)

type config struct {
	path    string
	record  bool
	session []replay.Option
}

// File names the tape in place of testdata/<TestName>.jsonl.
func File(path string) Option { return func(c *config) { c.path = path } }

// Record writes the tape anew, with every call really made. It is for one run of
// the test; what it wrote is for review, and the option to be taken out.
func Record() Option { return func(c *config) { c.record = true } }

// With adds options of the session, such as overrides and rules.
func With(options ...replay.Option) Option {
	return func(c *config) { c.session = append(c.session, options...) }
}

// Open starts the session of a test and ends it with the test.
func Open(t testing.TB, options ...Option) *replay.Session {
	t.Helper()
	c := config{path: Path(t.Name()), record: os.Getenv(RecordVariable) == "1"}
	for _, option := range options {
		option(&c)
	}
	if c.record {
		return record(t, &c)
	}
	s, err := replay.Open(c.path, c.session...)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%v: to record it, run the test once with %s=1", err, RecordVariable)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { finish(t, s) })
	return s
}

// finish fails a test whose replay was not clean, or ran something.
func finish(t testing.TB, s *replay.Session) {
	t.Helper()
	err := s.Close()
	report := s.Report()
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, report.Text())
	case report.Stats.LiveToolCalls > 0:
		t.Errorf("%d calls ran live\n%s", report.Stats.LiveToolCalls, report.Text())
	}
}

// record writes the tape beside its place and moves it there when the test has
// passed.
func record(t testing.TB, c *config) *replay.Session {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.path), 0o755); err != nil {
		t.Fatal(err)
	}
	draft := c.path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	s, err := replay.Open(draft, append([]replay.Option{replay.WithMode(replay.ModeRecord)}, c.session...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("the tape cannot be recorded: %v", err)
		}
		if t.Failed() {
			t.Logf("the test failed: its tape stays as it was")
			if err := os.Remove(draft); err != nil {
				t.Error(err)
			}
			return
		}
		if err := os.Rename(draft, c.path); err != nil {
			t.Error(err)
			return
		}
		t.Logf("recorded %d calls to %s", s.Stats().Steps, c.path)
	})
	return s
}

// Path is where the tape of a test is: testdata/TestRefund.jsonl, and for the
// sub-test TestRefund/two_cards testdata/TestRefund/two_cards.jsonl. What has no
// place in the name of a file becomes "_".
func Path(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = safe(part)
	}
	return filepath.Join("testdata", filepath.Join(parts...)) + ".jsonl"
}

// safe makes the name of a file of any text; none is "." or "..".
func safe(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(name, ".") == "" {
		return "_" + name
	}
	return name
}
