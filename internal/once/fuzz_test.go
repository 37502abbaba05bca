package once_test

import (
	"testing"

	"github.com/tapedeck/tapedeck/internal/once"
)

func FuzzDecode(f *testing.F) {
	_, payloads := conversation(f)
	for _, p := range payloads {
		f.Add(p)
	}
	f.Add([]byte{0x12})
	f.Fuzz(func(_ *testing.T, b []byte) {
		d := once.NewDecoder()
		_, _ = d.Traces(b)
		_, _ = d.Logs(b)
	})
}

// FuzzValue looks for a value that does not come back as the scrubber leaves it,
// alone or after itself.
func FuzzValue(f *testing.F) {
	for seed := range uint64(20) {
		f.Add("gen_ai.input.messages", newMaker(seed).attribute(), newMaker(seed).attribute())
	}
	f.Fuzz(func(t *testing.T, name, first, second string) {
		if len(first)+len(second) > 1<<16 {
			return
		}
		r := newRun()
		for range 2 {
			r.trip(t, oneSpan(map[string]any{name: first, "second": second}))
		}
	})
}
