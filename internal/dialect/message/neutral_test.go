package message_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
)

// A tape that is taken in again must not change: its messages are read as any.
func TestTheNeutralFormReadsAsItself(t *testing.T) {
	for _, text := range []string{
		`[{"role":"user","name":"ann","parts":[{"type":"text","content":"hi"},{"type":"media","value":{"type":"blob","content":"aa"}},{"type":"other","value":{"odd":1}}]}]`,
		`[{"role":"assistant","parts":[{"type":"reasoning","content":"hm","signature":"s"},{"type":"tool_call","id":"c","name":"get","arguments":{"a":1}}],"finish_reason":"tool_call"}]`,
		`[{"role":"tool","parts":[{"type":"tool_call_response","id":"c","name":"get","result":"no","failed":true}]}]`,
	} {
		once := string(message.Append(nil, read(t, text)))
		assert.Equal(t, text, once)
		assert.Equal(t, once, string(message.Append(nil, read(t, once))))
	}
}
