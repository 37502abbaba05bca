package dir

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Leftovers yields the temporary files, which a write that is going on has too: only
// those of some age were left behind.
func (b *Backend) Leftovers(ctx context.Context) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		entries, err := os.ReadDir(b.tmp)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(store.Object{}, err)
			return
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if ctx.Err() != nil {
				yield(store.Object{}, context.Cause(ctx))
				return
			}
			name := tmpFolder + "/" + e.Name()
			if !yield(store.Object{Name: name, Size: info.Size(), Modified: info.ModTime()}, nil) {
				return
			}
		}
	}
}

// RemoveLeftover removes a temporary file by the name that Leftovers gave it.
func (b *Backend) RemoveLeftover(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	base, ok := strings.CutPrefix(name, tmpFolder+"/")
	if !ok || base != filepath.Base(base) || base == ".." || base == "." {
		return store.ErrBadName
	}
	if err := os.Remove(filepath.Join(b.tmp, base)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
