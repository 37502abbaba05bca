package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

func tenant(t testing.TB, s *store.Store, name string) *store.Store {
	t.Helper()
	st, err := s.Tenant(name)
	require.NoError(t, err)
	return st
}

// hostile are names that must neither leave their place nor meet another's.
var hostile = []string{
	"acme", "Acme", "acme.", ".acme", "a.b", "..", ".", "../acme", "/etc/passwd", `c:\acme`, "acme/../other",
	"=41cme", "a=b", "tapes", "tenants", "Müller & Söhne", "a\x00b", "\xff\xfe", " ", "acme ", "con",
}

func TestTenantsAreKeptApart(t *testing.T) {
	backends(t, func(t *testing.T, b store.Backend) {
		s, _ := open(t, b)
		body := []byte("shared by all")
		for _, name := range append([]string{""}, hostile...) {
			st := tenant(t, s, name)
			_, err := st.Trace(t.Context(), idA)
			require.ErrorIs(t, err, store.ErrNotFound, "%q sees what another wrote", name)
			_, err = st.Row(t.Context(), idA)
			require.ErrorIs(t, err, store.ErrNotFound, "%q", name)
			_, err = st.Blob(t.Context(), sha(body))
			require.ErrorIs(t, err, store.ErrNotFound, "%q", name)
			require.NoError(t, st.PutBlob(t.Context(), "failures", noon, sha(body), body))
			_, err = st.PutFragment(t.Context(), "failures", idA, spans(t, idA, "span of "+strings.ToValidUTF8(name, "?")))
			require.NoError(t, err)
			rows := rowsOf(idA)
			rows[0].Service = "service of " + strings.ToValidUTF8(name, "?")
			require.NoError(t, st.AppendRows(t.Context(), rows))
		}
		for _, name := range append([]string{""}, hostile...) {
			st := tenant(t, s, name)
			run, err := st.Trace(t.Context(), idA)
			require.NoError(t, err)
			assert.Equal(t, []string{"span of " + strings.ToValidUTF8(name, "?")}, names(run.Traces))
			row, err := st.Row(t.Context(), idA)
			require.NoError(t, err)
			assert.Equal(t, "service of "+strings.ToValidUTF8(name, "?"), row.Service)
			got, err := st.Blob(t.Context(), sha(body))
			require.NoError(t, err)
			assert.Equal(t, body, got)
		}
		got, err := s.Tenants(t.Context())
		require.NoError(t, err)
		assert.ElementsMatch(t, hostile, got)

		// What is deleted of one stays with the others.
		require.NoError(t, tenant(t, s, "acme").Delete(t.Context(), idA))
		_, err = tenant(t, s, "acme").Trace(t.Context(), idA)
		require.ErrorIs(t, err, store.ErrNotFound)
		for _, name := range []string{"", "Acme", "acme."} {
			_, err = tenant(t, s, name).Trace(t.Context(), idA)
			require.NoError(t, err)
		}
	})
}

func TestATenantHasTheLayoutBelowItsFolder(t *testing.T) {
	b := storetest.NewMemory()
	s, _ := open(t, b)
	st := tenant(t, s, "Acme/1")
	_, err := st.PutFragment(t.Context(), "failures", idA, spans(t, idA, "root"))
	require.NoError(t, err)
	require.NoError(t, st.PutBlob(t.Context(), "failures", noon, sha(nil), nil))
	require.NoError(t, st.AppendRows(t.Context(), rowsOf(idA)))
	for _, name := range b.Names() {
		rest, ok := strings.CutPrefix(name, "tenants/=41cme=2f1/")
		assert.True(t, ok, name)
		top, _, _ := strings.Cut(rest, "/")
		assert.Contains(t, []string{"tapes", "blobs", "index"}, top)
	}
	assert.Same(t, s, tenant(t, st, ""), "from a tenant one gets to the others")
	assert.Same(t, st, tenant(t, st, "Acme/1"))

	// What damages it is named by its whole name.
	s, damaged := open(t, b)
	for _, name := range b.Names() {
		if strings.Contains(name, "/tapes/") {
			b.Damage(name, func([]byte) []byte { return []byte("junk") })
		}
	}
	_, err = tenant(t, s, "Acme/1").Trace(t.Context(), idA)
	require.ErrorIs(t, err, store.ErrDamaged)
	require.Len(t, damaged.list, 1)
	assert.Contains(t, damaged.list[0], "tenants/=41cme=2f1/tapes/failures/")
}

func TestTenantNamesThatAreTooLongAreRefused(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	tenant(t, s, strings.Repeat("a", 128))
	for _, name := range []string{strings.Repeat("a", 129), strings.Repeat("A", 43), strings.Repeat("../", 10000)} {
		_, err := s.Tenant(name)
		require.ErrorIs(t, err, store.ErrBadName)
	}
}

// Folders that nobody here would make are not taken for tenants.
func TestFoldersOfOthersAreNoTenants(t *testing.T) {
	b := storetest.NewMemory()
	s, _ := open(t, b)
	for _, folder := range []string{"acme", "Acme", "a=4", "a=zz", "a=62", "a."} {
		require.NoError(t, b.Put(t.Context(), "tenants/"+folder+"/x", nil))
	}
	got, err := s.Tenants(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"acme"}, got)
}

// More tenants than are open at a time: none loses a row.
func TestManyTenants(t *testing.T) {
	root := t.TempDir()
	b, err := dir.Open(root)
	require.NoError(t, err)
	journal, err := dir.Open(t.TempDir())
	require.NoError(t, err)
	s, _ := open(t, b, func(o *store.Options) { o.Journal = journal })
	const many = 150
	for n := range many {
		require.NoError(t, tenant(t, s, traceID(n)).AppendRows(t.Context(), rowsOf(idA)))
	}
	got, err := s.Tenants(t.Context())
	require.NoError(t, err)
	assert.Len(t, got, many)
	require.NoError(t, s.Flush(t.Context(), true))
	// Another process, which has not the journals, sees them all.
	other, err := dir.OpenExisting(root)
	require.NoError(t, err)
	reader, _ := open(t, other)
	seen := 0
	require.NoError(t, reader.AllTenants(t.Context(), func(name string, st *store.Store) error {
		if _, err := st.Row(t.Context(), idA); name == "" {
			require.ErrorIs(t, err, store.ErrNotFound)
		} else {
			require.NoError(t, err)
			seen++
		}
		return nil
	}))
	assert.Equal(t, many, seen)
}
