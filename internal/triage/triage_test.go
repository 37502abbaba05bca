package triage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/regress"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

func parse(t testing.TB, lines ...string) *tape.Tape {
	t.Helper()
	out, err := tape.ReadAll(strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	return out
}

func TestInForce(t *testing.T) {
	f := inForce(parse(t,
		`{"tape":"1","service":"s","code_version":"2","redaction":{"policy":"v2:x"},"tools":[{"name":"pay","schema_version":"sha256:1"}]}`,
		`{"seq":1,"tool":"chat","kind":"model","model":"m1","prompt_version":"p1","args":{"system":"Be kind."}}`,
		`{"seq":2,"tool":"pay","approval_id":"a-1","policy_result":"allow","caller_context":{"user":"u"},"schema_version":"7"}`,
		`{"seq":3,"tool":"chat","kind":"model","model":"m1","prompt_version":"p1","args":{"system":"Be kind."}}`,
		`{"seq":4,"tool":"chat","kind":"model","model":"m2","args":{"system":"Be brief."}}`,
		`{"seq":5,"tool":"pay","caller_context":{"user":"u"}}`,
		`{"seq":6,"tool":"now","kind":"clock"}`,
	))
	assert.Equal(t, []string{"m1", "m2"}, f.Models)
	require.Len(t, f.Prompts, 2)
	assert.Equal(t, "p1", f.Prompts[0].Version)
	assert.Equal(t, 4, f.Prompts[1].Seq)
	assert.Len(t, f.Prompts[1].SHA256, 64)
	assert.Equal(t, []Tool{{"pay", "7", 2}}, f.Tools)
	assert.Equal(t, []string{"a-1"}, f.Approvals)
	assert.Equal(t, []string{"allow"}, f.Policies)
	assert.Len(t, f.Callers, 1)
	assert.Equal(t, "v2:x", f.Redaction)
	assert.Equal(t, Force{}, inForce(&tape.Tape{}))
}

// What a tape says goes into no name and no comment as it is.
func TestNamesAreSafe(t *testing.T) {
	deck := parse(t, `{"tape":"1","trace_id":"../../etc","service":"../a b\n/c","outcome":"x\nexit_code: 9"}`, `{"seq":1,"tool":"t"}`)
	r, err := Examine(&Input{Name: "x", IsFile: true, Tape: deck})
	require.NoError(t, err)
	assert.Equal(t, "a-b--c-x-exit_code--9-et", r.CaseName())
	text, err := r.expectation()
	require.NoError(t, err)
	e, err := regress.ParseExpectation(text)
	require.NoError(t, err)
	assert.Zero(t, e.ExitCode)
	bare, err := Examine(&Input{Name: "-", Tape: parse(t, `{"tool":"t"}`)})
	require.NoError(t, err)
	assert.Equal(t, "run", bare.CaseName())
}

func TestSave(t *testing.T) {
	deck := parse(t, `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}`, `{"seq":1,"tool":"t"}`)
	in := &Input{Name: "x", IsFile: true, Tape: deck, Command: []string{"a b", "it's"},
		Outcome: &regress.Outcome{ExitCode: 2, Answer: "line: 1\n# two", Report: &replay.Report{Clean: true}}}
	r, err := Examine(in)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, r.Save(dir, "case", deck))
	cases, err := regress.Find([]string{dir})
	require.NoError(t, err)
	assert.Equal(t, 2, cases[0].Expectation.ExitCode)
	assert.Equal(t, "line: 1\n# two", *cases[0].Expectation.Answer)
	assert.ErrorIs(t, r.Save(dir, "case", deck), ErrExists)
	require.NoError(t, os.Remove(filepath.Join(dir, "case.jsonl")))
	assert.ErrorIs(t, r.Save(dir, "case", deck), ErrExists, "expectations alone are not overwritten either")

	r.Advise(in)
	last := r.Next[len(r.Next)-1]
	assert.Equal(t, "tape test "+quote(dir)+` -- 'a b' 'it'\''s'`, last.Command)
}

func TestVerdict(t *testing.T) {
	gap := parse(t, `{"tape":"1","gaps":[{"seq":1,"what":"result","why":"off"}]}`, `{"seq":1,"tool":"t"}`)
	r, err := Examine(&Input{Name: "x", Tape: gap})
	require.NoError(t, err)
	assert.False(t, r.Replays())
	assert.False(t, r.Clean())
	r.Advise(&Input{Name: "x", IsFile: true})
	assert.Equal(t, "tape doctor x", r.Next[0].Command)

	whole := parse(t, `{"tape":"1"}`, `{"seq":1,"tool":"t","result":1}`)
	for want, o := range map[bool]*regress.Outcome{
		true:  {Report: &replay.Report{Clean: true}},
		false: {Report: &replay.Report{Clean: true}, TimedOut: true},
	} {
		r, err = Examine(&Input{Name: "x", Tape: whole, Outcome: o})
		require.NoError(t, err)
		assert.Equal(t, want, r.Clean())
	}
}
