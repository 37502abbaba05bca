package dialect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Whatever a history has seen before, it reads what a plain reading reads.
func TestHistoryReadsWhatIsThere(t *testing.T) {
	call := asks("c", "get", `{"a":1}`)
	texts := []string{
		"[" + user + "]",
		"[" + user + "," + call + "," + answers("c", `"r"`) + "]",
		"[" + user + "," + call + "]",
		"[" + user + "," + call + "," + answers("c", `"other"`) + "]",
		"[" + user + `,{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"get","arguments":"{}"}}]},{"role":"get","content":"named"}]`,
		"[" + user + `,{"role":"get","content":"named, but not called"}]`,
		"[" + strings.Repeat(user+",", 300) + user + "]",
		"[" + strings.Repeat(user+",", 301) + user + "]",
		"[" + user + ", " + user + "]",
		`[{"type":"function_call","call_id":"c","name":"get","arguments":"{}"}]`,
	}
	h := &history{}
	for range 3 {
		for _, text := range texts {
			v, err := value.Parse(text)
			require.NoError(t, err)
			want := string(message.Append(nil, message.Read(v)))
			again, err := h.memo.Parse(text)
			require.NoError(t, err)
			c := Call{Input: message.Read(again)}
			assert.Equal(t, want, string(message.Append(nil, c.Input)))
			h.share(&c)
			assert.Equal(t, want, string(message.Append(nil, c.Input)))
		}
	}
}
