package diff

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestHostileContentStaysText plants markup everywhere a tape has room for it.
func TestHostileContentStaysText(t *testing.T) {
	const evil = `</td><script>alert(1)</script><img src=x onerror=alert(1)>" onload='x`
	quoted := string(text(evil))
	line := func(n string) string {
		return `{"tool":` + quoted + `,"args":{` + quoted + `:` + n + `},"result":` + quoted + `,"model":` + quoted + `}`
	}
	a := parse(t, `{"tape":"1","code_version":`+quoted+`}`, line("1"), `{"tool":"gone"}`)
	b := parse(t, `{"tape":"1","code_version":"1"}`, line("2"), `{"tool":`+quoted+`,"kind":"model"}`)
	r := Tapes(a, b)
	r.A.Name, r.Steps[0].Message = evil, evil
	var out strings.Builder
	require.NoError(t, r.HTML(&out))
	for _, tag := range []string{"<script", "<img", "onload='", "src=", "href=", "@import", "url("} {
		assert.NotContains(t, strings.ReplaceAll(out.String(), "img src=x", ""), tag)
	}
	assert.Contains(t, out.String(), "&lt;script&gt;alert(1)&lt;/script&gt;")
	assert.Contains(t, out.String(), `content="default-src 'none'; style-src 'unsafe-inline'"`)
}

func TestPageIsBounded(t *testing.T) {
	b := &tape.Tape{Records: make([]tape.Record, 1500)}
	r := Tapes(&tape.Tape{}, b)
	var out strings.Builder
	require.NoError(t, r.HTML(&out))
	assert.Contains(t, out.String(), "and 500 more steps")
	assert.Equal(t, maxOnPage, strings.Count(out.String(), "<details"))
}

func TestReplayed(t *testing.T) {
	deck := parse(t, `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}`,
		call("f", map[string]any{"n": 1}, 1), call("g", 1, 2), call("h", 1, 3), call("i", 1, 4))
	s, err := replay.New(deck, replay.WithCodeVersion("2"))
	require.NoError(t, err)
	ask := func(tool string, args any) { _, _ = s.Call(t.Context(), tool, args, nil) }
	ask("f", map[string]any{"n": 1})
	ask("g", 2)
	ask("h", 1)
	ask("h", 1)
	ask("new", 1)
	_ = s.Close()
	r, err := Replayed(deck, s.Report())
	require.NoError(t, err)
	assert.Equal(t, []string{"changed a2 args", "missing a4", "added", "added"}, steps2(r))
	assert.Equal(t, Counts{Same: 2, Added: 2, Missing: 1, Changed: 1}, r.Counts)
	assert.Equal(t, replay.CodeRegression, r.Experiment)
	assert.Equal(t, 2, r.First.A.Seq)
	assert.False(t, r.Same)

	clean, err := replay.New(parse(t, call("f", 1, 1)))
	require.NoError(t, err)
	_, _ = clean.Call(t.Context(), "f", 1, nil)
	r, err = Replayed(parse(t, call("f", 1, 1)), clean.Report())
	require.NoError(t, err)
	assert.True(t, r.Same)

	other := parse(t, `{"tape":"1","trace_id":"00000000000000000000000000000001"}`)
	_, err = Replayed(other, s.Report())
	assert.True(t, errors.Is(err, ErrOtherTape))
}

// steps2 is steps without the second side, which a replay does not number.
func steps2(r *Report) (out []string) {
	for _, s := range steps(r) {
		out = append(out, strings.ReplaceAll(s, " b0", ""))
	}
	return out
}

func TestIsReport(t *testing.T) {
	assert.True(t, IsReport([]byte(` {"experiment":"historical","tape":{"records":1},"stats":{}}`)))
	assert.False(t, IsReport([]byte(`{"tape":"1","stats":{}}`)))
	assert.False(t, IsReport([]byte("{\"tool\":\"x\"}\n{\"tool\":\"y\"}")))
	assert.False(t, IsReport(nil))
}
