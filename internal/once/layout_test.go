package once_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
)

// layout is a payload written by hand as the package comment draws it.
func layout(t testing.TB, attrs map[string]any, texts string) []byte {
	return slices.Concat([]byte{0x15, 1, 2, 3, 4, 5, 6, 7, 8, 5, byte(len(texts))}, []byte(texts), wire(t, oneSpan(attrs)))
}

// Payloads outlive the program that wrote them: a restart reads them again.
func TestPayloadsAreAsTheyAreDrawn(t *testing.T) {
	texts := "\x03one\x00\x05three" // numbers 5, 6 and 7
	for ref, want := range map[string]string{
		"\xfft\x05":                            "one",
		"\xfft\x06":                            "",
		"\xffe\xffx":                           "\xffx",
		"\xffc\x02[\x07\x01,\x0a\x04\x03\x02]": "[one,three,one]",
		"\xffc\x02[\x05\x01,\x0a\x04\x02]":     "[one,three]",
		"\xffc":                                "",
		"plain":                                "plain",
	} {
		d := once.NewDecoder()
		td, err := d.Traces(layout(t, map[string]any{"x": ref}, texts))
		require.NoError(t, err)
		assert.Equal(t, want, attribute(t, td, "x"), "%q", ref)
		assert.Zero(t, d.Holes(), "%q", ref)
	}
	for _, ref := range []string{"\xff", "\xff?", "\xfft", "\xfft\x80", "\xfft\x09", "\xfft\x05\x00", "\xffc\x80", "\xffc\x08[", "\xffc\x03\x05,", "\xffc\x05\x00\x0a"} {
		d := once.NewDecoder()
		td, err := d.Traces(layout(t, map[string]any{"x": ref}, texts))
		require.NoError(t, err)
		assert.Equal(t, once.Hole, attribute(t, td, "x"), "%q", ref)
		assert.Equal(t, 1, d.Holes(), "%q", ref)
	}
}

func TestAnEncoderServesManyRunsAtOnce(t *testing.T) {
	s := scrub.New(redact.Default())
	enc := once.NewEncoder(s, 0)
	var wg sync.WaitGroup
	for seed := range uint64(4) {
		wg.Go(func() {
			m := newMaker(seed)
			r := &run{scrubber: s, enc: enc, dec: once.NewDecoder()}
			for range 5 {
				r.trip(t, m.trace())
			}
		})
	}
	wg.Wait()
}
