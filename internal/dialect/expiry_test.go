package dialect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An answer expires some time after its call ended, by the first rule for its tool,
// unless its recorder has said when.
func TestAnswersExpireByRule(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Expires = []ExpiryRule{{Tool: "t", After: time.Second}, {Tool: "*", After: time.Hour}}
	require.NoError(t, cfg.Validate())
	for name, c := range map[string]struct {
		tool, said, want string
		model            bool
		config           *Config
	}{
		"the first rule that fits":     {tool: "t", want: "1970-01-01T00:00:01.000000002Z"},
		"the next":                     {tool: "price", want: "1970-01-01T01:00:00.000000002Z"},
		"what the recorder said":       {tool: "t", said: "2026-01-01T00:00:00Z", want: "2026-01-01T00:00:00Z"},
		"what it said that is no time": {tool: "t", said: "soon", want: "1970-01-01T00:00:01.000000002Z"},
		"a model call":                 {tool: "t", model: true},
		"no rules":                     {tool: "t", config: DefaultConfig()},
	} {
		t.Run(name, func(t *testing.T) {
			td := evaluatedSpan(1, "")
			span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			span.Attributes().PutStr("gen_ai.tool.name", c.tool)
			if c.model {
				span.Attributes().PutStr("gen_ai.operation.name", "chat")
			}
			if c.said != "" {
				span.Attributes().PutStr("tape.member.expires", c.said)
			}
			config := cfg
			if c.config != nil {
				config = c.config
			}
			records := Translate(td, Options{Config: config})[0].Records
			require.Len(t, records, 1)
			assert.Equal(t, c.want, records[0].Expires)
		})
	}
}
