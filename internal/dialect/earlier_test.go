package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/attribution"
)

func TestATapeMadeAgainSaysWhatTheRowSays(t *testing.T) {
	failed := tool(2, 1, 1, 2, "book", attrs{
		"gen_ai.tool.call.arguments": `{"id":1}`, "tape.failure_class": "schema_mismatch",
		"tape.failure_evidence": []any{"status", "schema_mismatch: the schema is not that of the good run: /properties/id is new", 3},
	})
	failed.err = "the request timed out"
	tp := one(t, agentSpan(1, 0, 9), failed)
	assert.Equal(t, attribution.SchemaMismatch, tp.Records[0].FailureClass)
	assert.Equal(t, attribution.SchemaMismatch, tp.Manifest.Failure.Class)
	assert.Equal(t, []string{
		"status", "schema_mismatch: the schema is not that of the good run: /properties/id is new",
	}, tp.Manifest.Failure.Evidence)
	assert.Equal(t, attribution.SchemaMismatch, Row(tp, Facts{}).FailureClass)
}

func TestMarksOfFailuresAreBelievedOfFailuresAlone(t *testing.T) {
	well := okTool(2, 1, 1, 2)
	well.attrs["tape.failure_class"] = "schema_mismatch"
	tp := one(t, agentSpan(1, 0, 9), well)
	assert.Empty(t, tp.Records[0].FailureClass)
	assert.Nil(t, tp.Manifest.Failure)

	odd := tool(2, 1, 1, 2, "book", attrs{"tape.failure_class": "bad_luck", "tape.failure_evidence": "text"})
	odd.err = "the request timed out"
	assert.Equal(t, attribution.ExternalTimeout, one(t, agentSpan(1, 0, 9), odd).Manifest.Failure.Class)
}

func TestTheClassOfAFailureThatOnlyTheRootTellsIsThatOfTheRow(t *testing.T) {
	root := agentSpan(1, 0, 9)
	root.err = "gave up"
	root.attrs["tape.run.failure_class"] = "policy_regression"
	root.attrs["tape.failure_evidence"] = []any{"policy_regression: rule 7"}
	tp := one(t, root, okTool(2, 1, 1, 2))
	require.NotNil(t, tp.Manifest.Failure)
	assert.Equal(t, attribution.PolicyRegression, tp.Manifest.Failure.Class)
	assert.Equal(t, []string{"policy_regression: rule 7"}, tp.Manifest.Failure.Evidence)
}
