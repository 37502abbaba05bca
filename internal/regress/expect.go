package regress

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/yamlfile"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// Expectation is what a command is to do with a tape. The zero value is the default:
// a clean replay, exit code 0, any answer.
type Expectation struct {
	// ExitCode is that of the command, 128 and the number of the signal for one that
	// was killed.
	ExitCode int `yaml:"exit_code"`
	// Answer is what the command writes to standard output, redacted, without white
	// space at both ends; nil for any.
	Answer *string `yaml:"answer"`
	// AnswerContains are texts that the answer has in it.
	AnswerContains []string `yaml:"answer_contains"`
	// AnswerMatches is a regular expression (RE2) that fits somewhere in the answer.
	AnswerMatches string `yaml:"answer_matches"`

	// The counts of the replay, all 0 unless said otherwise.
	Drift       int `yaml:"drift"`
	Misses      int `yaml:"misses"`
	Exhausted   int `yaml:"exhausted"`
	Gaps        int `yaml:"gaps"`
	Unconsumed  int `yaml:"unconsumed"`
	LiveCalls   int `yaml:"live_calls"`
	SideEffects int `yaml:"side_effects"`

	// Kinds are those of the records to replay, empty for all.
	Kinds []tape.Kind `yaml:"kinds"`
	// Rules are what the replay may take for the same, after those of the set.
	Rules Rules `yaml:"rules"`
	// Timeout ends the command; 0 is that of the set.
	Timeout Duration `yaml:"timeout"`
}

// Duration is a time such as 30s.
type Duration time.Duration

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err == nil && v < 0 {
		err = errors.New("is negative")
	}
	if err != nil {
		return fmt.Errorf("%q is not a time such as 30s", text)
	}
	*d = Duration(v)
	return nil
}

// ReadExpectation reads a file. An error names file, line and member; a file that
// does not exist is the default.
func ReadExpectation(path string) (Expectation, error) {
	var e Expectation
	err := yamlfile.Read(path, &e, e.check)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, yamlfile.ErrEmpty):
		return Expectation{}, nil
	case err != nil:
		return Expectation{}, err
	}
	return e, nil
}

// ParseExpectation is [ReadExpectation] for a text.
func ParseExpectation(text []byte) (Expectation, error) {
	var e Expectation
	err := yamlfile.Decode(text, &e, e.check)
	if errors.Is(err, yamlfile.ErrEmpty) {
		return Expectation{}, nil
	}
	return e, err
}

func (e *Expectation) check() error {
	var faults []error
	add := func(path, format string, args ...any) {
		faults = append(faults, &yamlfile.FieldError{Path: path, Err: fmt.Errorf(format, args...)})
	}
	for _, c := range e.counts(replay.Stats{}) {
		if c.want < 0 {
			add(c.member, "%d, want 0 or more", c.want)
		}
	}
	if _, err := regexp.Compile(e.AnswerMatches); err != nil {
		add("answer_matches", "%w", err)
	}
	for i, k := range e.Kinds {
		if !slices.Contains(tape.Kinds, k) {
			add(fmt.Sprintf("kinds[%d]", i), "%q is none of %q", k, tape.Kinds)
		}
	}
	for i, text := range e.AnswerContains {
		if text == "" {
			add(fmt.Sprintf("answer_contains[%d]", i), "is empty, which every answer contains")
		}
	}
	return errors.Join(faults...)
}

// counted is a count of the replay beside what is expected of it.
type counted struct {
	member    string
	want, got int
}

func (e *Expectation) counts(s replay.Stats) []counted {
	return []counted{
		{"drift", e.Drift, s.DriftEvents},
		{"misses", e.Misses, s.TapeMisses},
		{"exhausted", e.Exhausted, s.Exhausted},
		{"gaps", e.Gaps, s.Gaps},
		{"unconsumed", e.Unconsumed, s.Unconsumed},
		{"live_calls", e.LiveCalls, s.LiveToolCalls},
		{"side_effects", e.SideEffects, s.RealSideEffects},
	}
}

// Outcome is what a command did with a tape.
type Outcome struct {
	// Report is that of the replay; nil where it did not come to one.
	Report *replay.Report
	// ExitCode is that of the command, 128 and the signal's number when killed.
	ExitCode int
	// TimedOut is set when the command was ended for taking too long.
	TimedOut bool
	// Answer is what the command wrote to standard output, redacted, without white
	// space at both ends. AnswerCut is set when there was more.
	Answer    string
	AnswerCut bool
	// Errors is the end of what the command wrote to standard error, redacted.
	Errors   string
	Duration time.Duration
	// Err is why there is nothing to judge.
	Err error
}

// Failure is one thing that was not as expected.
type Failure struct {
	// Member is that of the expectation, or "timeout" or "error".
	Member string `json:"member"`
	// Seq is the record concerned, 0 for none.
	Seq int `json:"seq,omitempty"`
	// Line is that of the record in the tape, 0 for none.
	Line int `json:"line,omitempty"`
	// Message says it in one line.
	Message string `json:"message"`
}

// Judge compares an outcome with what was expected of it. Nil is as expected.
func (e *Expectation) Judge(o *Outcome) (failures []Failure) {
	add := func(member, format string, args ...any) {
		failures = append(failures, Failure{Member: member, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case o.Err != nil:
		add("error", "%v", o.Err)
		return failures
	case o.TimedOut:
		add("timeout", "the command took longer than %s and was ended", o.Duration.Round(time.Millisecond))
		return failures
	}
	if o.ExitCode != e.ExitCode {
		add("exit_code", "exit code %d, want %d", o.ExitCode, e.ExitCode)
	}
	if o.Report != nil {
		for _, c := range e.counts(o.Report.Stats) {
			if c.want != c.got {
				failures = append(failures, countFailures(c, o.Report)...)
			}
		}
	}
	e.judgeAnswer(o, add)
	return failures
}

func (e *Expectation) judgeAnswer(o *Outcome, add func(member, format string, args ...any)) {
	if o.AnswerCut && (e.Answer != nil || len(e.AnswerContains) > 0 || e.AnswerMatches != "") {
		add("answer", "the command wrote more than %d bytes, which is too much to compare", len(o.Answer))
		return
	}
	if e.Answer != nil && o.Answer != strings.TrimSpace(*e.Answer) {
		add("answer", "%s", answerDiffers(o.Answer, strings.TrimSpace(*e.Answer)))
	}
	for _, text := range e.AnswerContains {
		if !strings.Contains(o.Answer, text) {
			add("answer_contains", "the answer does not contain %s: %s", excerpt(text, 0), excerpt(o.Answer, 0))
		}
	}
	if re, err := regexp.Compile(e.AnswerMatches); err == nil && !re.MatchString(o.Answer) {
		add("answer_matches", "the answer does not match %s: %s", excerpt(e.AnswerMatches, 0), excerpt(o.Answer, 0))
	}
}

// answerDiffers shows both from a little before the place where they part.
func answerDiffers(got, want string) string {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	return fmt.Sprintf("the answer is %s, want %s", excerpt(got, n), excerpt(want, n))
}

// excerpt quotes a text, of a long one what is around a place.
func excerpt(text string, at int) string {
	const most, before = 120, 20
	head, tail := "", ""
	if len(text) > most && at > before {
		text, head = text[at-before:], "…"
	}
	if len(text) > most {
		text, tail = text[:most], "…"
	}
	return fmt.Sprintf("%s%q%s", head, strings.ToValidUTF8(text, ""), tail)
}

var verdictOf = map[string]replay.Verdict{
	"drift": replay.VerdictDrift, "misses": replay.VerdictMiss, "exhausted": replay.VerdictExhausted, "gaps": replay.VerdictGap,
}

// countFailures says which calls or records make a count what it is. Of many, the
// first few are named.
func countFailures(c counted, r *replay.Report) (out []Failure) {
	const most = 5
	for _, event := range r.Events {
		isDrift := c.member == "drift" && event.Verdict == replay.VerdictDivergence
		if event.Verdict == verdictOf[c.member] || isDrift {
			out = append(out, Failure{Member: c.member, Seq: event.Seq, Message: event.Message})
		}
	}
	if c.member == "unconsumed" {
		for _, u := range r.Unconsumed {
			out = append(out, Failure{Member: c.member, Seq: u.Seq, Message: fmt.Sprintf("not asked for: step %d, %s", u.Seq, u.Key)})
		}
	}
	if c.want != 0 || len(out) == 0 {
		sum := Failure{Member: c.member, Message: fmt.Sprintf("%s: %d, want %d", c.member, c.got, c.want)}
		out = append([]Failure{sum}, out...)
	}
	if more := c.got - most; len(out) > most {
		out = append(out[:most:most], Failure{Member: c.member, Message: fmt.Sprintf("and %d more of %s", max(1, more), c.member)})
	}
	return out
}
