package once_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func message(role, content string) string {
	return `{"role":"` + role + `","parts":[{"type":"text","content":"` + content + `"}]}`
}

func TestARepeatedMessageIsWrittenOnce(t *testing.T) {
	r := newRun()
	first := message("user", strings.Repeat("hello ", 50))
	second := message("assistant", strings.Repeat("mail bob@example.com ", 20))
	payload, stats := r.trip(t, oneSpan(map[string]any{"gen_ai.input.messages": "[" + first + "," + second + "]"}))
	assert.Equal(t, 2, stats.Texts)
	assert.NotContains(t, string(payload), "bob@example.com")

	payload, stats = r.trip(t, oneSpan(map[string]any{"gen_ai.input.messages": "[" + first + ", " + second + ", {}]"}))
	assert.Zero(t, stats.Texts)
	assert.EqualValues(t, len(first)+len(second), stats.Saved)
	assert.NotContains(t, string(payload), "hello")
}
