//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnchangedInputIsReturnedWithoutAllocation(t *testing.T) {
	p := Default()
	text := strings.Repeat("The quick brown fox: jumps = over {the} lazy dog at 12:30, 100 times. ", 50)
	raw := []byte(`{"city":"Zürich","n":[1,2.5,true,null],"note":"no \"secrets\" here\n","nested":{"a":"{\"b\":\"c\"}"}}`)
	p.Text(text)
	p.JSON(raw)
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Text(text) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.JSON(raw) }))
	out, _ := p.JSON(raw)
	assert.Same(t, &raw[0], &out[0])
}
