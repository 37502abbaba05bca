package fidelity_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
)

func sample(t *testing.T, name string) fidelity.Case {
	t.Helper()
	samples, err := fidelity.ReadSamples("../testdata/samples")
	require.NoError(t, err)
	for _, c := range samples {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no sample %s", name)
	return fidelity.Case{}
}

// A scorer that finds nothing wrong must be able to find something wrong.
func TestEveryFaultIsFound(t *testing.T) {
	for field, spoil := range map[string]func(*fidelity.Case){
		"tool":     func(c *fidelity.Case) { c.Want.Tools[0].Tool = "other" },
		"id":       func(c *fidelity.Case) { c.Want.Tools[0].IDs = []string{"other"} },
		"args":     func(c *fidelity.Case) { c.Want.Tools[0].Args = []byte(`{"city":"Bergen"}`) },
		"result":   func(c *fidelity.Case) { c.Want.Tools[0].Result = []byte(`1`) },
		"failed":   func(c *fidelity.Case) { c.Want.Tools[0].Failed = true },
		"error":    func(c *fidelity.Case) { c.Want.Tools[2].ErrorPart = "other" },
		"order":    func(c *fidelity.Case) { c.Want.Tools[0], c.Want.Tools[2] = c.Want.Tools[2], c.Want.Tools[0] },
		"spans":    func(c *fidelity.Case) { c.Want.ModelSpans[0] = []string{"0000000000000000"} },
		"models":   func(c *fidelity.Case) { c.Want.ModelCalls = 9 },
		"messages": func(c *fidelity.Case) { c.Want.Content = false },
		"outcome":  func(c *fidelity.Case) { c.Want.Outcomes = []string{"failed"} },
		"identity": func(c *fidelity.Case) { other := "other"; c.Want.Agent = &other },
	} {
		t.Run(field, func(t *testing.T) {
			c := sample(t, "otel_genai_semconv")
			tapes := dialect.Translate(c.Traces, dialect.Options{})
			require.Empty(t, c.Compare(tapes).Misses)
			spoil(&c)
			misses := c.Compare(tapes).Misses
			require.NotEmpty(t, misses)
			assert.Equal(t, field, misses[0].Field)
		})
	}
}

func TestExceptionsMustApply(t *testing.T) {
	scores := []fidelity.Score{{Case: "a", Misses: []fidelity.Miss{{Case: "a", Field: "args"}, {Case: "a", Field: "id"}}}}
	misses, stale := fidelity.Unexplained(scores, []fidelity.Exception{
		{Case: "a", Field: "args", Reason: "r"}, {Case: "a", Field: "tool", Reason: "r"}, {Case: "unknown", Field: "tool", Reason: "r"},
	})
	require.Len(t, misses, 1)
	assert.Equal(t, "id", misses[0].Field)
	require.Len(t, stale, 2, "an exception for nothing is stale")
}

func TestExceptionsNeedAReason(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.WriteFile(name, []byte(`[{"case":"a","field":"args"}]`), 0o600))
	_, err := fidelity.ReadExceptions(name)
	assert.ErrorContains(t, err, "lacks a case, a field or a reason")
	_, err = fidelity.ReadExceptions(name + "x")
	assert.Error(t, err)
}

func TestTheTableAddsUp(t *testing.T) {
	var b strings.Builder
	require.NoError(t, fidelity.Print(&b, []fidelity.Score{
		{Case: "a", Right: map[string]int{"args": 1}, Of: map[string]int{"args": 2}},
		{Case: "b", Right: map[string]int{"args": 2}, Of: map[string]int{"args": 2}},
	}))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 4)
	assert.Contains(t, lines[3], "3/4")
}
