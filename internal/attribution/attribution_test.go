package attribution

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func TestClasses(t *testing.T) {
	for name, c := range map[string]struct {
		err  tape.Error
		want string
	}{
		"timeout by type":            {tape.Error{Type: "TimeoutError", Message: "reservation API"}, ExternalTimeout},
		"timeout by full type":       {tape.Error{Type: "builtins.TimeoutError"}, ExternalTimeout},
		"timeout by message":         {tape.Error{Type: "Error", Message: "reservation API timed out after 5s"}, ExternalTimeout},
		"timeout by status":          {tape.Error{Code: "504"}, ExternalTimeout},
		"permission by status":       {tape.Error{Code: "403", Message: "no"}, PermissionDenied},
		"permission by text":         {tape.Error{Message: "open /etc/x: Permission denied"}, PermissionDenied},
		"unknown tool":               {tape.Error{Code: "-32601", Message: "Method not found"}, ToolSelection},
		"unknown tool in MCP":        {tape.Error{Code: "-32602", Message: "Unknown tool: foo"}, ToolSelection},
		"unknown method, in words":   {tape.Error{Message: "MCP error: Method not found"}, ToolSelection},
		"another kind of method":     {tape.Error{Message: "Error: payment method not found"}, Unattributed},
		"invalid params":             {tape.Error{Code: "-32602", Message: "Invalid params"}, ArgsGeneration},
		"pydantic":                   {tape.Error{Type: "pydantic_core.ValidationError", Message: "1 validation error for T"}, ArgsGeneration},
		"renamed parameter":          {tape.Error{Type: "TypeError", Message: "f() got an unexpected keyword argument 'q'"}, SchemaMismatch},
		"approval":                   {tape.Error{Message: "This tool requires approval."}, ApprovalMissing},
		"policy":                     {tape.Error{Message: "Blocked by policy P7"}, PolicyRegression},
		"conflict":                   {tape.Error{Code: "409"}, SideEffectConflict},
		"parse":                      {tape.Error{Type: "json.decoder.JSONDecodeError", Message: "Expecting value"}, ResponseParse},
		"nothing known":              {tape.Error{Message: "boom"}, Unattributed},
		"a word is not its part":     {tape.Error{Message: "the timeouts_total metric is odd"}, Unattributed},
		"the earlier cause wins":     {tape.Error{Code: "403", Message: "upstream timed out"}, PermissionDenied},
		"service unavailable is not": {tape.Error{Code: "503", Message: "webhook answered 503 Service Unavailable"}, Unattributed},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.err
			tp := &tape.Tape{
				Manifest: &tape.Manifest{Failure: &tape.Failure{Seq: 1}},
				Records:  []tape.Record{{Seq: 1, Tool: "t", Error: &err}},
			}
			Tape(tp)
			assert.Equal(t, c.want, tp.Records[0].FailureClass)
			assert.Equal(t, c.want, tp.Manifest.Failure.Class)
			assert.Equal(t, c.want == Unattributed, len(tp.Manifest.Failure.Evidence) == 0)
		})
	}
}

func TestEveryFittingClassIsInTheEvidence(t *testing.T) {
	tp := &tape.Tape{
		Manifest: &tape.Manifest{Failure: &tape.Failure{Seq: 1}},
		Records:  []tape.Record{{Seq: 1, Tool: "t", Error: &tape.Error{Code: "403", Message: "upstream timed out"}}},
	}
	Tape(tp)
	assert.Equal(t, []string{
		"permission_denied: error code 403",
		`external_timeout: message says "timed out"`,
	}, tp.Manifest.Failure.Evidence)
}

func TestAFailureThatOnlyTheRootTells(t *testing.T) {
	tp := &tape.Tape{Manifest: &tape.Manifest{Failure: &tape.Failure{Reason: "deadline exceeded"}}}
	Tape(tp)
	assert.Equal(t, ExternalTimeout, tp.Manifest.Failure.Class)
}

func TestToolsAndSchemasOfTheTime(t *testing.T) {
	tools := []tape.Tool{{Name: "book", Schema: json.RawMessage(
		`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`)}}
	broke := &tape.Error{Message: "boom"}
	yes := true
	for name, c := range map[string]struct {
		records []tape.Record
		want    string
	}{
		"a tool the model was not given": {[]tape.Record{{Seq: 1, Tool: "cancel", Error: broke}}, ToolSelection},
		"a prefixed name is the same tool": {
			[]tape.Record{{Seq: 1, Tool: "mcp__trip__book", Args: json.RawMessage(`{"id":1}`), Error: broke}}, Unattributed,
		},
		"a name under which a call went well": {
			[]tape.Record{{Seq: 1, Tool: "Klass"}, {Seq: 2, Tool: "Klass", Error: broke}}, Unattributed,
		},
		"arguments that do not fit":    {[]tape.Record{{Seq: 1, Tool: "book", Args: json.RawMessage(`{"id":"x"}`), Error: broke}}, ArgsGeneration},
		"arguments that fit":           {[]tape.Record{{Seq: 1, Tool: "book", Args: json.RawMessage(`{"id":1}`), Error: broke}}, Unattributed},
		"cut arguments are not judged": {[]tape.Record{{Seq: 1, Tool: "book", Args: json.RawMessage(`{}`), Fidelity: tape.FidelityTruncated, Error: broke}}, Unattributed},
		"a repeated write": {[]tape.Record{
			{Seq: 1, Tool: "book", Key: "k", Args: json.RawMessage(`{"id":1}`), SideEffect: &yes},
			{Seq: 2, Tool: "book", Key: "k", Args: json.RawMessage(`{"id":1}`), SideEffect: &yes, Error: broke},
		}, SideEffectConflict},
		"a policy that said no": {[]tape.Record{{Seq: 1, Tool: "book", Args: json.RawMessage(`{"id":1}`), PolicyResult: "denied", Error: broke}}, PolicyRegression},
	} {
		t.Run(name, func(t *testing.T) {
			tp := &tape.Tape{Manifest: &tape.Manifest{Tools: tools}, Records: c.records}
			Tape(tp)
			assert.Equal(t, c.want, c.records[len(c.records)-1].FailureClass)
		})
	}
}

// Each class of the table is one the format knows, and each of the format's
// classes can be found.
func TestTheTableIsWhole(t *testing.T) {
	for _, r := range Rules {
		require.Contains(t, tape.FailureClasses, r.Class)
		for _, p := range r.Phrases {
			assert.Regexp(t, `^[a-z0-9 ]+$`, p, "phrases are matched in lower case")
		}
	}
	for _, c := range tape.FailureClasses {
		assert.True(t, c == Unattributed || slices.Contains(causes, c), c)
	}
}

// What was checked says more than the words of an error about the same.
func TestACheckIsBetterEvidenceThanWords(t *testing.T) {
	tp := &tape.Tape{
		Manifest: &tape.Manifest{
			Failure: &tape.Failure{Seq: 1},
			Tools:   []tape.Tool{{Name: "book", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}}}`)}},
		},
		Records: []tape.Record{{Seq: 1, Tool: "book", Args: json.RawMessage(`{"id":"x"}`), Error: &tape.Error{Message: "validation error"}}},
	}
	Tape(tp)
	assert.Equal(t, ArgsGeneration, tp.Records[0].FailureClass)
	require.Len(t, tp.Manifest.Failure.Evidence, 1)
	assert.Contains(t, tp.Manifest.Failure.Evidence[0], "do not fit the schema: /id")
}
