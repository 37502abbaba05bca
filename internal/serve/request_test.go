package serve

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMembersAreKnownByTheirExactNames(t *testing.T) {
	s := session(t)
	h := New(s)
	w := post(h, `{"tool":"fetch","args":{"n":1},"ARGS":{"n":2},"Tool":"pay","Kind":"model"}`)
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, "1", w.Header().Get("Tape-Seq"))
	w = post(h, `{"TOOL":"fetch","Args":{"n":1}}`)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Equal(t, 1, s.Stats().Steps)
}

func TestWhatIsNoCallIsNamed(t *testing.T) {
	s := session(t)
	h := New(s)
	for body, want := range map[string]string{
		`[]`:                           "the body is not a call: want an object, not an array",
		`"x"`:                          "the body is not a call: want an object, not a string",
		`null`:                         `the body is not a call: member "tool" is missing`,
		`{"tool":7}`:                   `the body is not a call: member "tool" is not a string`,
		`{"tool":"x","kind":{}}`:       `the body is not a call: member "kind" is not a string`,
		`{"tool":"x","kind":"banana"}`: `the body is not a call: member "kind": "banana" is none of ["tool" "model" "clock" "random"]`,
	} {
		w := post(h, body)
		assert.Equal(t, http.StatusBadRequest, w.Code, body)
		assert.Contains(t, w.Body.String(), mustQuote(want), body)
	}
	assert.Zero(t, s.Stats().Steps)
}

func mustQuote(s string) string { return string(mustJSON(s)) }

// TestPagesFromElsewhere: a page can post to a loopback address without leave, if
// only it does not look at the answer, and would take records from the program
// under test.
func TestPagesFromElsewhere(t *testing.T) {
	s := session(t)
	h := New(s)
	const call = `{"tool":"fetch","args":{"n":1}}`
	for _, origin := range []string{"https://evil.example", "http://127.0.0.1.evil.example:80", "null", "://"} {
		assert.Equal(t, http.StatusForbidden, post(h, call, "Origin", origin).Code, origin)
	}
	assert.Zero(t, s.Stats().Steps)
	for _, origin := range []string{"http://localhost:3000", "http://[::1]:3000"} {
		assert.Equal(t, http.StatusOK, post(h, call, "Origin", origin).Code, origin)
	}
}
