package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func TestPolicies(t *testing.T) {
	backends(t, func(t *testing.T, b store.Backend) {
		s, _ := open(t, b)
		_, err := s.Policy(t.Context(), "v1:0123")
		require.ErrorIs(t, err, store.ErrNotFound)
		want := &tape.Redaction{Policy: "v1:0123", Rules: []byte(`{"version":1}`)}
		for range 2 {
			require.NoError(t, s.PutPolicy(t.Context(), want))
		}
		got, err := s.Policy(t.Context(), "v1:0123")
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, "policies/v1-0123.json.zst", storetest.List(t, b, "policies/")[0].Name)

		_, err = s.Policy(t.Context(), "v1-0123")
		require.ErrorIs(t, err, store.ErrDamaged, "another id")
		for _, bad := range []string{"../x", "a/b", "ü"} {
			_, err := s.Policy(t.Context(), bad)
			require.ErrorIs(t, err, store.ErrBadName)
			require.ErrorIs(t, s.PutPolicy(t.Context(), &tape.Redaction{Policy: bad}), store.ErrBadName)
		}
		require.ErrorIs(t, s.PutPolicy(t.Context(), &tape.Redaction{Policy: "x", Rules: []byte("{")}), store.ErrDamaged)
	})
}
