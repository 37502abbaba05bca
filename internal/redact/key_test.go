package redact

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The filter must let through every name that is judged secret.
func TestTheFilterPassesEverySecretName(t *testing.T) {
	p, err := New(Config{Enable: optionalTypes, Keys: []string{"tenant pin", "x"}})
	require.NoError(t, err)
	for _, policy := range []*Policy{Default(), p} {
		passed, all := 0, 0
		for _, r := range keyRules {
			for _, name := range append(r.pos, r.neg...) {
				all++
				if policy.keys.filter.passes(name) {
					passed++
				} else if _, ok := policy.KeySecret(name); ok {
					t.Errorf("%q is secret and does not pass", name)
				}
			}
		}
		assert.Positive(t, passed)
	}
	for _, name := range []string{"name", "content", "err", "ctx", "i", "", "message", "url", "model", "index"} {
		assert.False(t, Default().keys.filter.passes(name), name)
	}
	assert.True(t, Default().keys.filter.passes("to\u212aen"), "the sign of Kelvin is a k in small letters")
}

func FuzzKeyFilter(f *testing.F) {
	for _, r := range keyRules {
		for _, name := range append(r.pos, r.neg...) {
			f.Add(name)
		}
	}
	f.Fuzz(func(t *testing.T, name string) {
		if _, ok := Default().KeySecret(name); ok {
			assert.True(t, Default().keys.filter.passes(name), name)
		}
	})
}
