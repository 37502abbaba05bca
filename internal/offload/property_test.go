package offload_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/offload"
)

func randomValue(r *rand.Rand, v pcommon.Value, depth int) {
	texts := []string{"", "x", "tape-blob:", "tape-blob:escaped:", "tape-blob:sha256:", big, big + "\xff", `{"a":1}`, `["` + big + `"]`}
	switch n := r.IntN(9); {
	case n == 0:
		v.SetInt(int64(r.Uint64()))
	case n == 1:
		v.SetDouble(r.Float64())
	case n == 2:
		v.SetBool(true)
	case n == 3:
		v.SetEmptyBytes().FromRaw([]byte(texts[r.IntN(len(texts))]))
	case n == 4 && depth > 0:
		m := v.SetEmptyMap()
		for range r.IntN(8) {
			randomValue(r, m.PutEmpty(texts[r.IntN(len(texts))]), depth-1)
		}
	case n == 5 && depth > 0:
		s := v.SetEmptySlice()
		for range r.IntN(8) {
			randomValue(r, s.AppendEmpty(), depth-1)
		}
	default:
		v.SetStr(texts[r.IntN(len(texts))] + texts[r.IntN(len(texts))])
	}
}

func TestRestoringRandomTracesGivesThemBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		td, s := span()
		for i := range 1 + r.IntN(5) {
			randomValue(r, s.Attributes().PutEmpty(fmt.Sprint(i)), 4)
		}
		before := encode(t, td)
		store := bodies{}
		_, err := offload.Traces(td, r.IntN(300), store.put)
		require.NoError(t, err)
		missing, err := offload.Restore(td, store.get)
		require.NoError(t, err)
		require.Empty(t, missing)
		require.Equal(t, before, encode(t, td))
	}
}

func FuzzTraces(f *testing.F) {
	td, s := span()
	m := s.Attributes().PutEmptyMap("m")
	m.PutStr("a", "some text of some length")
	m.PutEmptyBytes("b").FromRaw([]byte("\x00\xff"))
	s.Events().AppendEmpty().SetName("event")
	f.Add([]byte(encode(f, td)), 20)
	td, s = span()
	s.SetName("tape-blob:sha256:" + strings.Repeat("a", 64) + ":1:text/plain")
	f.Add([]byte(encode(f, td)), 0)
	f.Fuzz(func(t *testing.T, raw []byte, size int) {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(raw)
		if err != nil {
			return
		}
		before := encode(t, td)
		store := bodies{}
		_, err = offload.Traces(td, size, store.put)
		require.NoError(t, err)
		_, err = offload.Restore(td, store.get)
		require.NoError(t, err)
		require.Equal(t, before, encode(t, td))
	})
}

func FuzzParseRef(f *testing.F) {
	f.Add("tape-blob:sha256:" + strings.Repeat("0", 64) + ":12:application/json")
	f.Add("tape-blob:sha256:" + strings.Repeat("0", 64) + ":012:application/json")
	f.Add("tape-blob:sha256:zz:1:x")
	f.Fuzz(func(t *testing.T, s string) {
		if r, ok := offload.ParseRef(s); ok {
			require.Equal(t, s, r.String())
		}
	})
}

func TestParseRef(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	good := "tape-blob:sha256:" + hash + ":12:application/json"
	r, ok := offload.ParseRef(good)
	require.True(t, ok)
	assert.Equal(t, offload.Ref{SHA256: hash, Bytes: 12, MediaType: "application/json"}, r)
	for _, s := range []string{
		"", "tape-blob:", good + " ", " " + good, strings.ToUpper(good), "tape-blob:sha256:" + hash + "::text/plain",
		"tape-blob:sha256:" + hash + ":-1:text/plain", "tape-blob:sha256:" + hash + ":+1:text/plain", "tape-blob:sha256:" + hash + ":1:",
		"tape-blob:sha256:" + hash + ":99999999999999999999:text/plain", "tape-blob:sha256:" + hash[1:] + ":1:text/plain",
		"tape-blob:sha256:" + hash + ":1:" + strings.Repeat("x", 200), "tape-blob:sha256:" + hash + ":01:text/plain",
	} {
		_, ok := offload.ParseRef(s)
		assert.False(t, ok, s)
	}
}

func BenchmarkTraces(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"nothing-leaves", 64 << 10}, {"all-leaves", 1 << 10}} {
		b.Run(c.name, func(b *testing.B) {
			td := ptrace.NewTraces()
			ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
			for i := range 100 {
				s := ss.Spans().AppendEmpty()
				s.SetName("chat")
				s.Attributes().PutStr("gen_ai.input.messages", fmt.Sprint(i)+strings.Repeat(big, 100))
			}
			b.SetBytes(100 * 20_000)
			b.ReportAllocs()
			for b.Loop() {
				work := ptrace.NewTraces()
				td.CopyTo(work)
				_, _ = offload.Traces(work, c.size, func(offload.Body) error { return nil })
			}
		})
	}
}
