//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package tape

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACanonicalFormAllocatesNothingInABufferOfItsSize(t *testing.T) {
	args := benchmarkArgs()
	dst := make([]byte, 0, 2*len(args))
	for range 3 { // the first calls fill pools
		_, err := AppendCanonical(dst, args)
		require.NoError(t, err)
	}
	n := testing.AllocsPerRun(20, func() { _, _ = AppendCanonical(dst, args) })
	assert.LessOrEqual(t, n, 1.0)
}

func TestAKeyAllocatesItself(t *testing.T) {
	for _, size := range []int{10, 10_000} {
		args := []byte(`{"url":"https://example.com/","retries":3,"body":"` + strings.Repeat("word ", size) + `"}`)
		_, err := Key("fetch", args)
		require.NoError(t, err)
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = Key("fetch", args) }), 2.0, "%d words", size)
	}
}

// What a record costs must not depend on how much is in it.
func TestReadingAllocatesByTheRecord(t *testing.T) {
	perRecord := func(size int) float64 {
		const records = 200
		var out bytes.Buffer
		w := NewWriter(&out)
		for i := range records {
			args := fmt.Appendf(nil, `{"n":%d,"body":"%s"}`, i, strings.Repeat("word ", size))
			require.NoError(t, w.Write(&Record{Seq: i + 1, Tool: "fetch", Key: "fetch:000000000000", Args: args, Result: args, Start: "2026-05-04T10:00:00Z"}))
		}
		text := out.Bytes()
		return testing.AllocsPerRun(5, func() { _, _ = ReadAll(bytes.NewReader(text)) }) / records
	}
	assert.LessOrEqual(t, perRecord(1), 18.0)
	assert.LessOrEqual(t, perRecord(2_000), 18.0)
}
