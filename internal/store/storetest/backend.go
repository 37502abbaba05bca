// Package storetest has the tests that every backend of a store must pass, and
// backends for testing what lies above: one in memory, and one that stops at a
// chosen step.
package storetest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
)

// Backend runs the conformance tests. open gives a new, empty backend.
func Backend(t *testing.T, open func(t *testing.T) store.Backend) {
	t.Run("what was put is read and listed", func(t *testing.T) {
		b, ctx := open(t), t.Context()
		require.NoError(t, b.Put(ctx, "tapes/failures/a/1.zst", []byte("one")))
		require.NoError(t, b.Put(ctx, "tapes/failures/a/2.zst", []byte("three")))
		require.NoError(t, b.Put(ctx, "tapes/failures/b/1.zst", nil))
		require.NoError(t, b.Put(ctx, "tapes/kept/a/1.zst", []byte("x")))
		assert.Equal(t, "one", Read(t, b, "tapes/failures/a/1.zst"))
		assert.Empty(t, Read(t, b, "tapes/failures/b/1.zst"))
		listed := List(t, b, "tapes/failures/a/")
		for i := range listed {
			// A server's clock is its own, and may have whole seconds.
			assert.WithinDuration(t, time.Now(), listed[i].Modified, time.Minute)
			listed[i].Modified = time.Time{}
		}
		assert.Equal(t, []store.Object{
			{Name: "tapes/failures/a/1.zst", Size: 3},
			{Name: "tapes/failures/a/2.zst", Size: 5},
		}, listed)
		assert.Len(t, List(t, b, "tapes/"), 4)
		folders, err := b.Folders(ctx, "tapes/")
		require.NoError(t, err)
		assert.Equal(t, []string{"failures", "kept"}, folders)
	})
	t.Run("a part of an object", func(t *testing.T) {
		b, ctx := open(t), t.Context()
		require.NoError(t, b.Put(ctx, "blobs/a/1.zst", []byte("0123456789")))
		for _, test := range []struct {
			offset, length int64
			want           string
		}{{0, 3, "012"}, {4, 4, "4567"}, {8, 5, "89"}, {0, 99, "0123456789"}} {
			got, err := b.GetRange(ctx, "blobs/a/1.zst", test.offset, test.length)
			require.NoError(t, err)
			assert.Equal(t, test.want, string(got), "%d from %d", test.length, test.offset)
		}
		_, err := b.GetRange(ctx, "blobs/a/2.zst", 0, 1)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = b.GetRange(ctx, "../a", 0, 1)
		require.ErrorIs(t, err, store.ErrBadName)
	})
	t.Run("putting the same again is harmless", func(t *testing.T) {
		b, ctx := open(t), t.Context()
		for range 3 {
			require.NoError(t, b.Put(ctx, "blobs/a/1.zst", []byte("same")))
		}
		assert.Equal(t, "same", Read(t, b, "blobs/a/1.zst"))
		assert.Len(t, List(t, b, "blobs/"), 1)
	})
	t.Run("the data belongs to the caller after Put", func(t *testing.T) {
		b := open(t)
		data := []byte("before")
		require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", data))
		copy(data, "after!")
		assert.Equal(t, "before", Read(t, b, "blobs/a/1.zst"))
	})
	t.Run("what is missing is not found", func(t *testing.T) {
		b, ctx := open(t), t.Context()
		_, err := b.Get(ctx, "tapes/failures/a/1.zst")
		require.ErrorIs(t, err, store.ErrNotFound)
		assert.Empty(t, List(t, b, "tapes/"))
		folders, err := b.Folders(ctx, "tapes/")
		require.NoError(t, err)
		assert.Empty(t, folders)
	})
	t.Run("deleted is gone, and deleting again is no error", func(t *testing.T) {
		b, ctx := open(t), t.Context()
		require.NoError(t, b.Put(ctx, "tapes/failures/a/1.zst", []byte("one")))
		require.NoError(t, b.Put(ctx, "tapes/failures/b/1.zst", []byte("two")))
		for range 2 {
			require.NoError(t, b.Delete(ctx, "tapes/failures/a/1.zst"))
			_, err := b.Get(ctx, "tapes/failures/a/1.zst")
			require.ErrorIs(t, err, store.ErrNotFound)
			assert.Len(t, List(t, b, "tapes/"), 1)
		}
		folders, err := b.Folders(ctx, "tapes/failures/")
		require.NoError(t, err)
		assert.Equal(t, []string{"b"}, folders)
	})
	t.Run("names that leave the store are refused", func(t *testing.T) {
		b, ctx := open(t), t.Context()
		for _, name := range []string{
			"", "/", "..", "../a", "tapes/../../a", "/etc/passwd", "tapes//a", "tapes/./a", "tapes/.hidden",
			`tapes\a`, "tapes/a b", "tapes/a\x00", "tapes/a:b", "tapes/ü",
			strings.Repeat("a/", 1000) + "a", strings.Repeat("a", 200),
		} {
			require.ErrorIs(t, b.Put(ctx, name, nil), store.ErrBadName, "put %q", name)
			_, err := b.Get(ctx, name)
			require.ErrorIs(t, err, store.ErrBadName, "get %q", name)
			require.ErrorIs(t, b.Delete(ctx, name), store.ErrBadName, "delete %q", name)
		}
	})
	t.Run("a cancelled context stops every call", func(t *testing.T) {
		b := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, b.Put(ctx, "a/b", nil), context.Canceled)
		_, err := b.Get(ctx, "a/b")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, b.Delete(ctx, "a/b"), context.Canceled)
	})
	t.Run("concurrent writers, readers and deleters", func(t *testing.T) {
		concurrent(t, open(t))
	})
	t.Run("appends keep their order and survive", func(t *testing.T) {
		b := open(t)
		a, ok := b.(store.Appender)
		if !ok {
			t.Skip("this backend cannot append")
		}
		for i := range 3 {
			require.NoError(t, a.Append(t.Context(), "index/x.jsonl", fmt.Appendln(nil, i)))
		}
		assert.Equal(t, "0\n1\n2\n", Read(t, b, "index/x.jsonl"))
		require.ErrorIs(t, a.Append(t.Context(), "../x", nil), store.ErrBadName)
	})
}

// concurrent races deletes of a folder's last object with puts into it.
func concurrent(t *testing.T, b store.Backend) {
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			for j := range 10 {
				name := fmt.Sprintf("tapes/c/t%d/%d.zst", j%2, i)
				if !assert.NoError(t, b.Put(t.Context(), name, []byte("whole"))) {
					return
				}
				if r, err := b.Get(t.Context(), name); assert.NoError(t, err) {
					data, err := io.ReadAll(r)
					assert.NoError(t, err)
					assert.Equal(t, "whole", string(data))
					assert.NoError(t, r.Close())
				}
				for _, err := range b.List(t.Context(), "tapes/") {
					assert.NoError(t, err)
				}
				assert.NoError(t, b.Delete(t.Context(), name))
			}
		})
	}
	wg.Wait()
	assert.Empty(t, List(t, b, "tapes/"))
}

// Read gives the stored bytes of an object.
func Read(t *testing.T, b store.Reader, name string) string {
	t.Helper()
	r, err := b.Get(t.Context(), name)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(data)
}

// List gives all objects below a folder.
func List(t *testing.T, b store.Reader, folder string) []store.Object {
	t.Helper()
	var objects []store.Object
	for object, err := range b.List(t.Context(), folder) {
		require.NoError(t, err)
		objects = append(objects, object)
	}
	return objects
}
