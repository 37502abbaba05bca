package replay

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/tapedeck/tapedeck/tape"
)

// BenchmarkHit asks for the records of a tape in random order, with 1 KB of
// arguments each, over and over.
func BenchmarkHit(b *testing.B) {
	body := `,"body":"` + strings.Repeat("word ", 200) + `"}`
	for _, size := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			records := make([]tape.Record, size)
			for i := range records {
				records[i] = tape.Record{Seq: i + 1, Tool: "fetch", Result: raw(`{"status":200}`), Args: raw(`{"id":` + strconv.Itoa(i) + body)}
			}
			s := start(b, &tape.Tape{Records: records})
			order := rand.Perm(size)
			// The caller has just made its arguments, so they are in the cache.
			var args []byte
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				if n > 0 && n%size == 0 {
					b.StopTimer()
					s = start(b, &tape.Tape{Records: records})
					b.StartTimer()
				}
				args = append(strconv.AppendInt(append(args[:0], `{"id":`...), int64(order[n%size]), 10), body...)
				if _, err := s.Ask(ctx, Request{Tool: "fetch", Args: args}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
