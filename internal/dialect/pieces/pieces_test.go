package pieces

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func noise(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.IntN(256))
	}
	return b
}

func TestWhatWasPutComesBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s Store
	var all [][]byte
	var refs []Ref
	for i := range 300 {
		b := noise(random, random.IntN(5000))
		switch {
		case i%7 == 0:
			b = nil
		case i%5 == 0:
			b = bytes.Repeat([]byte{'x'}, random.IntN(60000))
		case i > 10 && i%2 == 0:
			old := all[random.IntN(len(all))]
			b = append(append(noise(random, random.IntN(100)), old...), b...)
		}
		all = append(all, bytes.Clone(b))
		refs = append(refs, s.Put(b))
		clear(b)
	}
	for i, ref := range refs {
		require.True(t, bytes.Equal(all[i], s.Append(nil, ref)), i)
	}
}

// Whatever stands before a text, it is held once.
func TestTextsAreHeldOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var s Store
	var said []byte
	total := 0
	for range 200 {
		said = append(said, noise(random, 1000)...)
		b := append(noise(random, random.IntN(90)), said...)
		total += len(b)
		s.Put(b)
	}
	assert.Less(t, s.Size(), 4*len(said), "of %d", total)
}

func FuzzStore(f *testing.F) {
	f.Add([]byte("a"), []byte("b"))
	f.Add(bytes.Repeat([]byte("abc"), 9000), bytes.Repeat([]byte("bca"), 9000))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var s Store
		joined := append(bytes.Clone(a), b...)
		for _, in := range [][]byte{a, b, joined, a} {
			ref := s.Put(in)
			if out := s.Append(nil, ref); !bytes.Equal(in, out) {
				t.Fatalf("%q became %q", in, out)
			}
		}
	})
}

func BenchmarkPut(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	text := noise(random, 1<<20)
	b.Run("new", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var s Store
			s.Put(text)
		}
	})
	b.Run("repeated", func(b *testing.B) {
		var s Store
		s.Put(text)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			s.Put(text)
		}
	})
}
