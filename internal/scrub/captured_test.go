package scrub_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

// A secret deep in a conversation is replaced and marked where it stands. To
// delete the attribute would make the call look as if it was never captured.
func TestAHiddenSecretDoesNotMakeMessagesUncaptured(t *testing.T) {
	const secret = "hunter2-and-more"
	messages := func(arguments string) string {
		return `[{"role":"user","parts":[{"type":"text","content":"log in"}]},` +
			`{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"login","arguments":` + arguments + `}]},` +
			`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"in"}]}]`
	}
	asText, err := json.Marshal(`{"user":"ada","api_key":"` + secret + `"}`)
	require.NoError(t, err)
	hiddenText, err := json.Marshal(`{"user":"ada","api_key":"[REDACTED:api_key]"}`)
	require.NoError(t, err)
	for name, c := range map[string]struct{ arguments, hidden string }{
		"arguments are an object":      {`{"user":"ada","api_key":"` + secret + `"}`, `{"user":"ada","api_key":"[REDACTED:api_key]"}`},
		"arguments are JSON in a text": {string(asText), string(hiddenText)},
	} {
		t.Run(name, func(t *testing.T) {
			td, s := span()
			s.SetTraceID([16]byte{1})
			s.SetSpanID([8]byte{1})
			a := s.Attributes()
			a.PutStr("gen_ai.operation.name", "chat")
			a.PutStr("gen_ai.request.model", "m")
			a.PutStr("gen_ai.input.messages", messages(c.arguments))
			a.PutStr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"done"}]}]`)

			assert.Equal(t, 1, scrub.New(redact.Default()).Traces(td).Values)

			input, ok := a.Get("gen_ai.input.messages")
			require.True(t, ok)
			assert.JSONEq(t, messages(c.hidden), input.Str(), "all around the secret stays")
			require.Len(t, redacted(a), 1)
			assert.Regexp(t, `^attributes\.gen_ai\.input\.messages\[1\]\.parts\[0\]\.arguments.*api_key$`, redacted(a)[0])

			var call tape.Record
			for _, r := range dialect.Translate(td, dialect.Options{})[0].Records {
				if r.KindOf() == tape.KindModel {
					call = r
				}
			}
			assert.Equal(t, tape.FidelityRedacted, call.Fidelity, "captured, less a secret")
			assert.Contains(t, string(call.Args), "log in")
			assert.NotContains(t, string(call.Args), secret)
			assert.Contains(t, string(call.Args), "[REDACTED:api_key]")
		})
	}
}
