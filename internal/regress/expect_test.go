package regress

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

func TestParseExpectation(t *testing.T) {
	e, err := ParseExpectation([]byte(`
exit_code: 3
answer: "  Booked.  "
answer_contains: [Book]
answer_matches: '^B'
drift: 1
live_calls: 0
kinds: [tool]
timeout: 30s
rules:
  - name: when
    tool: "*"
    path: at
    match: ignore
    why: the clock of the caller
`))
	require.NoError(t, err)
	assert.Equal(t, 3, e.ExitCode)
	assert.Equal(t, 1, e.Drift)
	assert.Equal(t, []tape.Kind{tape.KindTool}, e.Kinds)
	assert.Equal(t, Duration(30*time.Second), e.Timeout)
	require.Len(t, e.Rules, 1)
	assert.Equal(t, "when", e.Rules[0].Name)

	for _, empty := range []string{"", "# nothing but a comment\n"} {
		e, err = ParseExpectation([]byte(empty))
		require.NoError(t, err)
		assert.Equal(t, Expectation{}, e)
	}
}

// What is wrong is named with its line.
func TestBadExpectations(t *testing.T) {
	for text, want := range map[string]string{
		"exit_code: 0\ndrifts: 0\n":                          "line 2: field drifts not found",
		"exit_code: zero\n":                                  "line 1: ",
		"drift: 0\nmisses: -1\n":                             "line 2: misses: -1, want 0 or more",
		"answer_matches: '('\n":                              "line 1: answer_matches: error parsing regexp",
		"kinds:\n  - tool\n  - pigeon\n":                     `line 3: kinds[1]: "pigeon" is none of`,
		"answer_contains: ['']\n":                            "line 1: answer_contains[0]: is empty",
		"timeout: soon\n":                                    `"soon" is not a time such as 30s`,
		"timeout: -1s\n":                                     `"-1s" is not a time`,
		"rules: 5\n":                                         "line 1: rules: not a list",
		"rules:\n  - path: a\n    match: ignore\n    x: 1\n": "line 2: rules: ",
		"rules:\n  - path: a\n    match: magic\n":            "line 2: rules: member",
		"drift: 0\n---\ndrift: 1\n":                          "more than one YAML document",
		"[1]":                                                "line 1: ",
	} {
		_, err := ParseExpectation([]byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
		assert.NotContains(t, err.Error(), "\n", text)
	}
	path := filepath.Join(t.TempDir(), "x.expect.yaml")
	require.NoError(t, os.WriteFile(path, []byte("a: 1\n"), 0o600))
	_, err := ReadExpectation(path)
	assert.ErrorContains(t, err, path+": line 1: ")
	_, err = ReadExpectation(path + ".none")
	assert.NoError(t, err)
}

func stats(set func(*replay.Stats)) *replay.Report {
	r := &replay.Report{}
	set(&r.Stats)
	return r
}

func TestJudge(t *testing.T) {
	text := func(s string) *string { return &s }
	clean := &replay.Report{}
	drift := stats(func(s *replay.Stats) { s.DriftEvents = 1 })
	drift.Events = []replay.Event{{Verdict: replay.VerdictDrift, Seq: 2, Message: "drift at step 2"}}
	left := stats(func(s *replay.Stats) { s.Unconsumed = 1 })
	left.Unconsumed = []replay.Unconsumed{{Seq: 3, Key: "f:1"}}
	many := stats(func(s *replay.Stats) { s.TapeMisses = 9 })
	for range 9 {
		many.Events = append(many.Events, replay.Event{Verdict: replay.VerdictMiss, Message: "miss"})
	}
	for name, tt := range map[string]struct {
		want Expectation
		got  Outcome
		says []string
	}{
		"as expected":            {Expectation{}, Outcome{Report: clean, Answer: "anything"}, nil},
		"exit code":              {Expectation{ExitCode: 1}, Outcome{Report: clean}, []string{"exit_code: exit code 0, want 1"}},
		"answer":                 {Expectation{Answer: text("yes ")}, Outcome{Report: clean, Answer: "yes"}, nil},
		"another answer":         {Expectation{Answer: text("yes")}, Outcome{Report: clean, Answer: "no"}, []string{`answer: the answer is "no", want "yes"`}},
		"empty answer":           {Expectation{Answer: text("")}, Outcome{Report: clean, Answer: "no"}, []string{`answer: the answer is "no", want ""`}},
		"answer lacks":           {Expectation{AnswerContains: []string{"BK"}}, Outcome{Report: clean, Answer: "no"}, []string{`answer_contains: the answer does not contain "BK": "no"`}},
		"answer matches":         {Expectation{AnswerMatches: `^BK-\d+$`}, Outcome{Report: clean, Answer: "BK-1"}, nil},
		"answer does not match":  {Expectation{AnswerMatches: `^BK-\d+$`}, Outcome{Report: clean, Answer: "BK-"}, []string{`answer_matches: the answer does not match "^BK-\\d+$": "BK-"`}},
		"too long an answer":     {Expectation{Answer: text("a")}, Outcome{Report: clean, Answer: "a", AnswerCut: true}, []string{"answer: the command wrote more than 1 bytes, which is too much to compare"}},
		"drift":                  {Expectation{}, Outcome{Report: drift}, []string{"drift: drift at step 2"}},
		"expected drift":         {Expectation{Drift: 1}, Outcome{Report: drift}, nil},
		"another number of them": {Expectation{Drift: 2}, Outcome{Report: drift}, []string{"drift: drift: 1, want 2", "drift: drift at step 2"}},
		"unconsumed":             {Expectation{}, Outcome{Report: left}, []string{"unconsumed: not asked for: step 3, f:1"}},
		"live":                   {Expectation{}, Outcome{Report: stats(func(s *replay.Stats) { s.LiveToolCalls, s.RealSideEffects = 2, 1 })}, []string{"live_calls: live_calls: 2, want 0", "side_effects: side_effects: 1, want 0"}},
		"many":                   {Expectation{}, Outcome{Report: many}, []string{"misses: miss", "misses: miss", "misses: miss", "misses: miss", "misses: miss", "misses: and 4 more of misses"}},
		"timed out":              {Expectation{}, Outcome{TimedOut: true, Duration: time.Second}, []string{"timeout: the command took longer than 1s and was ended"}},
		"not run":                {Expectation{}, Outcome{Err: errors.New("no such file")}, []string{"error: no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			var says []string
			for _, f := range tt.want.Judge(&tt.got) {
				says = append(says, f.Member+": "+f.Message)
			}
			assert.Equal(t, tt.says, says)
		})
	}
}

func TestLongAnswersAreShownWhereTheyPart(t *testing.T) {
	long := strings.Repeat("é", 500)
	want := long + "want"
	e := Expectation{Answer: &want}
	f := e.Judge(&Outcome{Report: &replay.Report{}, Answer: long + "got"})
	require.Len(t, f, 1)
	assert.Contains(t, f[0].Message, `got", want `)
	assert.Less(t, len(f[0].Message), 400)
	assert.NotContains(t, f[0].Message, `\x`)
}

func FuzzParseExpectation(f *testing.F) {
	f.Add([]byte("exit_code: 1\nrules:\n- path: a\n  match: ignore\n"))
	f.Add([]byte("answer: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if e, err := ParseExpectation(text); err == nil {
			e.Judge(&Outcome{Report: &replay.Report{}})
		} else {
			assert.NotEmpty(t, err.Error())
		}
	})
}
