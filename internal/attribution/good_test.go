package attribution

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

const (
	byID  = `{"type":"object","title":"T","properties":{"id":{"type":"integer","description":"the id"},"title":{"type":"string"}},"required":["id"],"additionalProperties":false}`
	byRef = `{"type":"object","properties":{"ref":{"type":"string"}},"required":["ref"],"additionalProperties":false}`
)

func TestAGoodRunIsItsSchemas(t *testing.T) {
	tp := &tape.Tape{
		Manifest: &tape.Manifest{TraceID: "abc", Tools: []tape.Tool{
			{Name: "search", SchemaVersion: "3"},
			{Name: "book", Description: strings.Repeat("long ", 100), Schema: json.RawMessage(byID), SchemaVersion: "sha256:1"},
			{Name: "book", Schema: json.RawMessage(byRef)},
			{Name: "bare"},
		}},
		Records: []tape.Record{
			{Seq: 1, Tool: "old", SchemaVersion: "7"},
			{Seq: 2, Tool: "failed", SchemaVersion: "7", Error: &tape.Error{}},
			{Seq: 3, Tool: "chat", Kind: tape.KindModel, SchemaVersion: "7"},
		},
	}
	g := NewGood(tp)
	require.NotNil(t, g)
	assert.Equal(t, &Good{TraceID: "abc", Tools: []GoodTool{
		{Name: "book", Version: "sha256:1", Schema: json.RawMessage(`{"additionalProperties":false,"properties":{"id":{"type":"integer"},"title":{"type":"string"}},"required":["id"],"type":"object"}`)},
		{Name: "old", Version: "7"},
		{Name: "search", Version: "3"},
	}}, g)
	assert.Less(t, g.Size(), 600, "descriptions cost nothing")

	text, err := json.Marshal(g)
	require.NoError(t, err)
	var back Good
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, g, &back)

	tp.Manifest.TraceID, tp.Manifest.Tools[1].Description = "def", "short"
	assert.True(t, g.SameTools(NewGood(tp)))
	tp.Manifest.Tools[1].Schema = json.RawMessage(byRef)
	assert.False(t, g.SameTools(NewGood(tp)))
}

func TestARunWithoutSchemasIsNothingToCompareWith(t *testing.T) {
	assert.Nil(t, NewGood(nil))
	assert.Nil(t, NewGood(&tape.Tape{}))
	assert.Nil(t, NewGood(&tape.Tape{Manifest: &tape.Manifest{Tools: []tape.Tool{{Name: "a"}, {Name: "b", Schema: json.RawMessage(`{"a":`)}}}}))
}

// What is data in a schema is compared as it stands.
func TestRemarksAreOnlyThoseOfASchema(t *testing.T) {
	for in, want := range map[string]string{
		`{"title":"x","properties":{"title":{"title":"y"}}}`:                        `{"properties":{"title":{}}}`,
		`{"enum":[{"title":"x"}],"default":{"title":"y"},"examples":[1]}`:           `{"default":{"title":"y"},"enum":[{"title":"x"}]}`,
		`{"anyOf":[{"description":"x","const":{"title":"z"}}]}`:                     `{"anyOf":[{"const":{"title":"z"}}]}`,
		`{"$defs":{"description":{"$comment":"x","maximum":12345678901234567890}}}`: `{"$defs":{"description":{"maximum":12345678901234567890}}}`,
		`true`: `true`,
	} {
		assert.Equal(t, want, string(constraints([]byte(in))), in)
	}
}

// failing is a run in which the model called book with arguments for its old
// schema.
func failing() *tape.Tape {
	return &tape.Tape{
		Manifest: &tape.Manifest{
			TraceID: "bad", Failure: &tape.Failure{Seq: 1, Evidence: []string{"status"}},
			Tools: []tape.Tool{{Name: "book", Schema: json.RawMessage(byRef)}},
		},
		Records: []tape.Record{{Seq: 1, Tool: "book", Args: json.RawMessage(`{"id":7}`), Error: &tape.Error{Message: "boom"}}},
	}
}

func TestComparingAnewForgetsWhatWasFoundWithout(t *testing.T) {
	good := NewGood(&tape.Tape{Manifest: &tape.Manifest{TraceID: "good", Tools: []tape.Tool{{Name: "book", Schema: json.RawMessage(byID)}}}})
	tp := failing()
	builtin.Tape(tp)
	assert.Equal(t, ArgsGeneration, tp.Manifest.Failure.Class)
	builtin.Compare(tp, nil)
	assert.Equal(t, ArgsGeneration, tp.Manifest.Failure.Class)

	for range 2 {
		builtin.Compare(tp, good)
		assert.Equal(t, SchemaMismatch, tp.Records[0].FailureClass)
		assert.Equal(t, SchemaMismatch, tp.Manifest.Failure.Class)
		require.Len(t, tp.Manifest.Failure.Evidence, 2, "%q", tp.Manifest.Failure.Evidence)
		assert.Equal(t, "status", tp.Manifest.Failure.Evidence[0])
		assert.Equal(t, "schema_mismatch: the schema is not that of the good run: /properties/id is gone, /properties/ref is new, /properties/title is gone and 1 more", tp.Manifest.Failure.Evidence[1])
	}
	var none *Attributor
	none.Compare(tp, good)
	assert.Equal(t, SchemaMismatch, tp.Manifest.Failure.Class, "no attributor is the built-in one")
}

// A tape that is made again, of a trace that carries what the recorder found,
// says what the recorder said.
func TestTheClassOfARecorderStays(t *testing.T) {
	tp := failing()
	tp.Records[0].FailureClass = SchemaMismatch
	tp.Manifest.Failure.Evidence = append(tp.Manifest.Failure.Evidence, "schema_mismatch: seen before")
	for range 2 {
		builtin.Tape(tp)
		assert.Equal(t, SchemaMismatch, tp.Records[0].FailureClass)
		assert.Equal(t, SchemaMismatch, tp.Manifest.Failure.Class)
		assert.Equal(t, []string{
			"status", "schema_mismatch: seen before",
			"args_generation_error: arguments do not fit the schema: /: missing property 'ref'",
		}, tp.Manifest.Failure.Evidence)
	}
	r := builtin.Examine(tp, nil)
	assert.Equal(t, []Finding{
		{SchemaMismatch, "seen before"},
		{ArgsGeneration, "arguments do not fit the schema: /: missing property 'ref'"},
	}, r.Run.Findings, "and so does a report about it")

	// Also where a newer table sees an earlier cause.
	tp = failing()
	tp.Records[0].FailureClass, tp.Records[0].Error.Code = ExternalTimeout, "403"
	builtin.Tape(tp)
	assert.Equal(t, ExternalTimeout, tp.Manifest.Failure.Class)

	tp = &tape.Tape{Manifest: &tape.Manifest{Failure: &tape.Failure{Class: ExternalTimeout, Reason: "forbidden"}}}
	builtin.Tape(tp)
	assert.Equal(t, ExternalTimeout, tp.Manifest.Failure.Class, "also where only the root tells of the failure")
	assert.Contains(t, tp.Manifest.Failure.Evidence, `permission_denied: message says "forbidden"`)

	tp = failing()
	tp.Records[0].FailureClass = "bad luck"
	builtin.Tape(tp)
	assert.Equal(t, ArgsGeneration, tp.Manifest.Failure.Class, "a word that is no class says nothing")
}

func TestManyToolsOfAGoodRunStaySmall(t *testing.T) {
	m := &tape.Manifest{}
	for i := range 100 {
		m.Tools = append(m.Tools, tape.Tool{Name: fmt.Sprintf("tool%d", i), Description: strings.Repeat("d", 1000), Schema: json.RawMessage(byID)})
	}
	assert.Less(t, NewGood(&tape.Tape{Manifest: m}).Size(), 25_000)
}
