package store

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// talk is text as agents have it: JSON, prose, and what came before said again.
func talk(size int) []byte {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		switch n % 3 {
		case 0:
			fmt.Fprintf(&b, `{"id":%d,"name":"item %d of %d","price":%d.%02d,"stock":%t}`, n*7919, n, n*31, n*97%1000, n%100, n%5 == 0)
		case 1:
			fmt.Fprintf(&b, "Item %d of order %x is %d days late because of the weather at sea, says the carrier.\n", n, sha256.Sum256([]byte{byte(n), byte(n >> 8)}), n%31)
		default:
			b.WriteString("You are a careful assistant of the shop. Look up the order before you answer, and pay nothing back without an approval.\n")
		}
	}
	return []byte(b.String()[:size])
}

// What a stored byte costs: its hash and its compression, on one core.
func BenchmarkHashAndCompress(b *testing.B) {
	for _, size := range []int{42 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			c, err := newCodec(DefaultMaxObject)
			require.NoError(b, err)
			defer c.close()
			data := talk(size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				sum := sha256.Sum256(data)
				packed, err := c.encode(data)
				if err != nil || len(packed) == 0 || sum[0] == 0 && sum[1] == 0 && sum[2] == 0 && sum[3] == 0 {
					b.Fatal("not packed")
				}
			}
		})
	}
}

// Whatever the level, any zstd opens what is written, and the checksum is there.
func TestFramesAreComplete(t *testing.T) {
	c, err := newCodec(DefaultMaxObject)
	require.NoError(t, err)
	defer c.close()
	for _, size := range []int{0, 1, 100, 1 << 10, 1 << 20} {
		data := talk(size)
		packed, err := c.encode(data)
		require.NoError(t, err)
		var h zstd.Header
		require.NoError(t, h.Decode(packed))
		require.True(t, h.HasCheckSum || size == 0, "%d", size)
		dec, err := zstd.NewReader(nil)
		require.NoError(t, err)
		plain, err := dec.DecodeAll(packed, nil)
		dec.Close()
		require.NoError(t, err)
		require.Equal(t, string(data), string(plain))
	}
}
