//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package redact

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnchangedInputIsReturnedWithoutAllocation(t *testing.T) {
	p := Default()
	text := strings.Repeat("The quick brown fox: jumps = over {the} lazy dog at 12:30, 100 times. ", 50)
	signature := messages(base64.StdEncoding.EncodeToString(randomBytes(rand.New(rand.NewPCG(1, 2)), 3000)))
	code := fill(code, 8<<10)
	raw := []byte(`{"city":"Zürich","n":[1,2.5,true,null],"note":"no \"secrets\" here\n","nested":{"a":"{\"b\":\"c\"}"}}`)
	p.Text(text)
	p.JSON(raw)
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Text(text) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.JSON(raw) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Text(signature) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Text(code) }))
	out, _ := p.JSON(raw)
	assert.Same(t, &raw[0], &out[0])
}

// What a text with hits may cost: a copy, a list of hits, and little for each.
func TestHitsCostFewAllocations(t *testing.T) {
	p := Default()
	for name, text := range map[string]string{"text": withHits(prose, 64<<10), "JSON": messages(withHits(prose, 1024))} {
		_, hits := p.Text(text)
		allocs := testing.AllocsPerRun(10, func() { p.Text(text) })
		assert.LessOrEqual(t, allocs, float64(20+2*len(hits)), name)
	}
}
