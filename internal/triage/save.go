package triage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/internal/regress"
	"github.com/tapedeck/tapedeck/tape"
)

// ErrExists is a case that is in the set already.
var ErrExists = errors.New("is there already")

// Saved is a tape that became a case of a regression set.
type Saved struct {
	Dir    string `json:"dir"`
	Tape   string `json:"tape"`
	Expect string `json:"expect"`
}

// CaseName is how the tape of a run is called in a regression set: the service or agent,
// the failure class or outcome, and the first eight digits of the trace id.
func (r *Report) CaseName() string {
	var parts []string
	for _, part := range []string{first(r.Force.Service, r.Force.Agent, "run"), first(r.class(), string(r.Force.Outcome)), r.Force.TraceID[:min(8, len(r.Force.TraceID))]} {
		if part = plain(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "-")
}

func (r *Report) class() string {
	if r.Why.Run == nil {
		return ""
	}
	return r.Why.Run.Class
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// plain keeps of a text what is good in the name of a file everywhere.
func plain(text string) string {
	const most = 40
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
		if b.Len() == most {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// Save puts the tape into a regression set, with expectations beside it: what the
// command did, if its replay was clean, else the default that replays be clean. A case
// that is there is not touched: the error is [ErrExists].
func (r *Report) Save(dir, name string, t *tape.Tape) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	s := &Saved{Dir: dir, Tape: filepath.Join(dir, name+".jsonl")}
	s.Expect = regress.ExpectPath(s.Tape)
	for _, path := range []string{s.Tape, s.Expect} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			if err == nil {
				err = fmt.Errorf("%s %w", path, ErrExists)
			}
			return err
		}
	}
	text, err := r.expectation()
	if err != nil {
		return err
	}
	if err := tape.WriteFile(s.Tape, t); err != nil {
		return err
	}
	if err := os.WriteFile(s.Expect, text, 0o600); err != nil {
		return errors.Join(err, os.Remove(s.Tape))
	}
	r.Saved = s
	return nil
}

// expectation is the file beside the tape.
func (r *Report) expectation() ([]byte, error) {
	var e struct {
		ExitCode *int    `yaml:"exit_code,omitempty"`
		Answer   *string `yaml:"answer,omitempty"`
		Drift    int     `yaml:"drift"`
		Live     int     `yaml:"live_calls"`
	}
	if m := r.Mock; m != nil && r.Clean() {
		e.ExitCode, e.Answer = &m.ExitCode, &m.Answer
	}
	text, err := yaml.Marshal(e)
	if err != nil {
		return nil, err
	}
	// What a tape says may hold a line break, which would end the comment.
	what := first(plain(string(r.Force.Outcome)), "recorded")
	if f := r.Why.Run; f != nil {
		what += fmt.Sprintf(" at step %d: %s", f.Seq, f.Class)
	}
	head := fmt.Sprintf("# run %s of %s: %s\n", first(plain(r.Force.TraceID), "without id"), first(plain(r.Force.Service), plain(r.Force.Agent), "unknown"), what)
	return append([]byte(head), text...), nil
}
