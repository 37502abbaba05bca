package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

func TestBlobs(t *testing.T) {
	backends(t, func(t *testing.T, b store.Backend) {
		s, _ := open(t, b)
		for _, body := range [][]byte{{}, []byte("text"), {0, 255, 1}, bytes.Repeat([]byte("long "), 1<<16)} {
			_, err := s.Blob(t.Context(), sha(body))
			require.ErrorIs(t, err, store.ErrNotFound)
			require.NoError(t, s.PutBlob(t.Context(), "failures", noon, sha(body), body))
			got, err := s.Blob(t.Context(), sha(body))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(body, got))
		}
		require.ErrorIs(t, s.PutBlob(t.Context(), "failures", noon, sha([]byte("a")), []byte("b")), store.ErrDamaged)
		for _, bad := range []string{"", "abc", strings.ToUpper(sha([]byte("text"))), "../" + sha(nil)} {
			_, err := s.Blob(t.Context(), bad)
			require.ErrorIs(t, err, store.ErrBadName, bad)
		}
	})
}

func TestABlobIsSharedOnlyInsideItsClassAndWeek(t *testing.T) {
	b := storetest.NewMemory()
	now := noon
	s, damaged := open(t, b, func(o *store.Options) { o.Now = func() time.Time { return now } })
	body := []byte("shared")
	weekLater := noon.AddDate(0, 0, 7)
	for range 2 {
		require.NoError(t, s.PutBlob(t.Context(), "failures", noon, sha(body), body))
		require.NoError(t, s.PutBlob(t.Context(), "failures", weekLater, sha(body), body))
		require.NoError(t, s.PutBlob(t.Context(), "kept", noon, sha(body), body))
	}
	require.Len(t, b.Names(), 3)
	// The first week expires; the younger tape still plays.
	require.NoError(t, b.Delete(t.Context(), "blobs/failures/2026-W01/"+sha(body)+".zst"))
	require.NoError(t, b.Delete(t.Context(), "blobs/kept/2026-W01/"+sha(body)+".zst"))
	got, err := s.Blob(t.Context(), sha(body))
	require.NoError(t, err)
	assert.Equal(t, body, got)

	// A damaged copy is passed over for a good one. Of what others delete a process
	// that stored it knows only after a while.
	now = now.Add(time.Hour)
	require.NoError(t, s.PutBlob(t.Context(), "kept", noon, sha(body), body))
	b.Damage("blobs/failures/2026-W02/"+sha(body)+".zst", func([]byte) []byte { return []byte("junk") })
	_, err = s.Blob(t.Context(), sha(body))
	require.NoError(t, err)
	assert.Len(t, damaged.list, 1)
	require.NoError(t, b.Delete(t.Context(), "blobs/kept/2026-W01/"+sha(body)+".zst"))
	_, err = s.Blob(t.Context(), sha(body))
	require.ErrorIs(t, err, store.ErrDamaged)
}

// A run is written as blob, fragment, row. Whatever the step at which the
// writer dies, a reader sees the whole run or none, and writing it all again
// completes it.
func TestACrashAtAnyStepOfAWrite(t *testing.T) {
	body := []byte("the body the fragment names")
	write := func(t *testing.T, s *store.Store) error {
		if err := s.PutBlob(t.Context(), "failures", noon, sha(body), body); err != nil {
			return err
		}
		if _, err := s.PutFragment(t.Context(), "failures", idA, spans(t, idA, "root", "call")); err != nil {
			return err
		}
		return s.AppendRows(t.Context(), rowsOf(idA))
	}
	crash := errors.New("crash")
	for step := range 4 {
		t.Run(fmt.Sprintf("before write %d", step+1), func(t *testing.T) {
			b := storetest.NewMemory()
			s, damaged := open(t, b)
			n := 0
			b.Fail = func(op, _ string) error {
				if op != "put" {
					return nil
				}
				if n++; n > step {
					return crash
				}
				return nil
			}
			err := write(t, s)
			if step < 3 {
				require.ErrorIs(t, err, crash)
			}
			b.Fail = nil
			if run, err := s.Trace(t.Context(), idA); err == nil {
				assert.Equal(t, []string{"root", "call"}, names(run.Traces))
				got, err := s.Blob(t.Context(), sha(body))
				require.NoError(t, err, "a fragment never names a missing blob")
				assert.Equal(t, body, got)
			} else {
				require.ErrorIs(t, err, store.ErrNotFound)
				_, err = s.Row(t.Context(), idA)
				require.ErrorIs(t, err, store.ErrNotFound, "a row never names a missing run")
			}
			require.NoError(t, write(t, s))
			_, err = s.Trace(t.Context(), idA)
			require.NoError(t, err)
			page, err := s.Rows(t.Context(), store.Query{})
			require.NoError(t, err)
			assert.Len(t, page.Rows, 1)
			assert.Empty(t, damaged.list)
		})
	}
}

func TestABlobIsSentOncePerClassAndWeek(t *testing.T) {
	b := storetest.NewMemory()
	puts := 0
	b.Fail = func(op, _ string) error {
		if op == "put" {
			puts++
		}
		return nil
	}
	now := noon
	s, _ := open(t, b, func(o *store.Options) { o.Now = func() time.Time { return now } })
	body := []byte("the system prompt of every run")
	put := func(class string, at time.Time) {
		t.Helper()
		require.NoError(t, s.PutBlob(t.Context(), class, at, sha(body), body))
	}
	for range 100 {
		put("failures", noon)
	}
	assert.Equal(t, 1, puts)
	put("kept", noon)
	put("failures", noon.AddDate(0, 0, 7))
	assert.Equal(t, 3, puts, "another class or week is another blob")

	now = now.Add(31 * time.Minute)
	put("failures", noon)
	assert.Equal(t, 4, puts, "what was there long ago is not taken to be there")

	// What a reader finds missing or damaged is sent again.
	w01 := "blobs/failures/2026-W01/" + sha(body) + ".zst"
	b.Damage(w01, func([]byte) []byte { return []byte("junk") })
	_, err := s.Blob(t.Context(), sha(body), store.Place{Class: "failures", At: noon})
	require.NoError(t, err, "there are other copies")
	put("failures", noon)
	assert.Equal(t, 5, puts)
	require.NoError(t, b.Delete(t.Context(), w01))
	_, err = s.Blob(t.Context(), sha(body), store.Place{Class: "failures", At: noon})
	require.NoError(t, err)
	put("failures", noon)
	assert.Equal(t, 6, puts)
}

func TestABlobThatWasNotStoredIsNotKnown(t *testing.T) {
	b := storetest.NewMemory()
	away := errors.New("away")
	b.Fail = func(string, string) error { return away }
	s, _ := open(t, b)
	body := []byte("body")
	require.ErrorIs(t, s.PutBlob(t.Context(), "failures", noon, sha(body), body), away)
	b.Fail = nil
	require.NoError(t, s.PutBlob(t.Context(), "failures", noon, sha(body), body))
	got, err := s.Blob(t.Context(), sha(body))
	require.NoError(t, err)
	assert.Equal(t, body, got)
}
