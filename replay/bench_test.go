package replay

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// BenchmarkHit asks for the records of a tape in random order, with 1 KB of
// arguments each, over and over, spelled as on the tape.
func BenchmarkHit(b *testing.B) {
	benchmarkHit(b, `{"id":`, `,"body":"`+strings.Repeat("word ", 200)+`"}`)
}

// BenchmarkHitInOtherWords has a space more in its arguments than the tape, which
// makes no other key.
func BenchmarkHitInOtherWords(b *testing.B) {
	benchmarkHit(b, `{"id": `, `,"body":"`+strings.Repeat("word ", 200)+`"}`)
}

func benchmarkHit(b *testing.B, head, body string) {
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
				args = append(strconv.AppendInt(append(args[:0], head...), int64(order[n%size]), 10), body...)
				if _, err := s.Ask(ctx, Request{Tool: "fetch", Args: args}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHitByRule asks with other times than those on the tape.
func BenchmarkHitByRule(b *testing.B) {
	body := `,"at":"2026-01-01T00:00:00Z","body":"` + strings.Repeat("word ", 200) + `"}`
	live := strings.Replace(body, "2026", "2027", 1)
	for _, size := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			records := make([]tape.Record, size)
			for i := range records {
				records[i] = tape.Record{Seq: i + 1, Tool: "fetch", Result: raw(`{"status":200}`), Args: raw(`{"id":` + strconv.Itoa(i) + body)}
			}
			option := withRules(b, `{path: at, match: time}`)
			var s *Session
			order := rand.Perm(size)
			b.ReportAllocs()
			for n := range b.N {
				if n%size == 0 {
					b.StopTimer()
					s = start(b, &tape.Tape{Records: records}, option)
					// The first of these calls makes the index.
					_, _ = s.Ask(ctx, Request{Tool: "fetch", Args: raw(`{}`)})
					b.StartTimer()
				}
				if _, err := s.Ask(ctx, Request{Tool: "fetch", Args: raw(`{"id":` + strconv.Itoa(order[n%size]) + live)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens a tape of 100 MB, with results of 1 KB or by reference.
func BenchmarkOpen(b *testing.B) {
	for name, result := range map[string]string{
		"whole":     `"result":"` + strings.Repeat("word ", 200) + `"`,
		"reference": `"result":null,"body":{"sha256":"` + strings.Repeat("ab", 32) + `","bytes":1000,"media_type":"text/plain"}`,
	} {
		b.Run(name, func(b *testing.B) {
			const size = 100 << 20
			path := filepath.Join(b.TempDir(), "tape.jsonl")
			file, err := os.Create(path)
			require.NoError(b, err)
			out := bufio.NewWriter(file)
			args := `,"body":"` + strings.Repeat("text ", 200) + `"}`
			policy := start(b, nil, WithMode(ModeRecord)).Tape().Manifest.Redaction
			require.NoError(b, tape.NewWriter(out).WriteManifest(&tape.Manifest{Tape: tape.Version, Redaction: policy}))
			written := 0
			for i := 1; written < size; i++ {
				key, err := tape.Key("fetch", []byte(`{"id":`+strconv.Itoa(i)+args))
				require.NoError(b, err)
				n, err := fmt.Fprintf(out, `{"seq":%d,"tool":"fetch","key":%q,"args":{"id":%d%s,%s,"ms":1,"side_effect":null,"clock":null}`+"\n", i, key, i, args, result)
				require.NoError(b, err)
				written += n
			}
			require.NoError(b, out.Flush())
			require.NoError(b, file.Close())
			b.SetBytes(int64(written))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				s, err := Open(path)
				require.NoError(b, err)
				_ = s
			}
		})
	}
}
