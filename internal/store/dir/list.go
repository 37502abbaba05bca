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

// List implements store.Reader.
func (b *Backend) List(ctx context.Context, folder string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		top, err := b.path(ctx, strings.TrimSuffix(folder, "/"))
		if err == nil {
			_, err = b.walk(ctx, top, yield)
		}
		if err != nil {
			yield(store.Object{}, err)
		}
	}
}

// walk yields what is below a folder, and reports whether more is wanted.
func (b *Backend) walk(ctx context.Context, folder string, yield func(store.Object, error) bool) (more bool, err error) {
	entries, err := b.entries(ctx, folder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		p := filepath.Join(folder, e.name)
		if e.info == nil {
			if more, err := b.walk(ctx, p, yield); !more || err != nil {
				return false, err
			}
			continue
		}
		rel, err := filepath.Rel(b.root, p)
		if err != nil {
			return false, err
		}
		if !yield(store.Object{Name: filepath.ToSlash(rel), Size: e.info.Size(), Modified: e.info.ModTime()}, nil) {
			return false, nil
		}
	}
	return true, nil
}

// entry is what a folder has; info is nil for a folder in it.
type entry struct {
	name string
	info fs.FileInfo
}

// lookAgain is how often a folder is read anew because something in it went.
const lookAgain = 10

// entries reads one folder. One file often takes the place of others, and is there
// before they go: when some have gone since the folder was read, what took their place
// may not have been in it yet, and it is read again.
func (b *Backend) entries(ctx context.Context, folder string) ([]entry, error) {
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		read, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		entries := make([]entry, 0, len(read))
		gone := false
		for _, d := range read {
			switch {
			case strings.HasPrefix(d.Name(), "."):
			case d.IsDir():
				entries = append(entries, entry{name: d.Name()})
			case d.Type().IsRegular():
				info, err := d.Info()
				if errors.Is(err, fs.ErrNotExist) {
					gone = true
					continue
				}
				if err != nil {
					return nil, err
				}
				entries = append(entries, entry{d.Name(), info})
			}
		}
		if !gone || attempt == lookAgain {
			return entries, nil
		}
	}
}

// Folders implements store.Reader.
func (b *Backend) Folders(ctx context.Context, folder string) ([]string, error) {
	target, err := b.path(ctx, strings.TrimSuffix(folder, "/"))
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && store.CheckName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
