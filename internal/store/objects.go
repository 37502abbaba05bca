package store

import (
	"context"
	"fmt"
	"iter"
	"path"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// What follows is for those who look after a store as a whole, object by object:
// retention above all. Everybody else has runs, rows and bodies.

// StoredFragment is a fragment as a listing shows it.
type StoredFragment struct {
	Object
	Class, TraceID string
}

// StoredBlob is a blob as a listing shows it.
type StoredBlob struct {
	Object
	Class, Week, SHA256 string
}

// Classes lists the classes that hold fragments or blobs, sorted.
func (s *Store) Classes(ctx context.Context) (tapes, blobs []string, err error) {
	if tapes, err = s.tapeClasses.again(ctx); err != nil {
		return nil, nil, err
	}
	if blobs, err = s.backend.Folders(ctx, blobsFolder); err != nil {
		return nil, nil, fmt.Errorf("list classes of blobs: %w", err)
	}
	return tapes, blobs, nil
}

// Fragments yields what a class has in the places of fragments, that of one run
// together; what has the name of none cannot be read and goes with its run.
func (s *Store) Fragments(ctx context.Context, class string) iter.Seq2[StoredFragment, error] {
	return func(yield func(StoredFragment, error) bool) {
		for object, err := range s.backend.List(ctx, tapesFolder+class+"/") {
			if err != nil {
				yield(StoredFragment{}, fmt.Errorf("list fragments of class %s: %w", class, err))
				return
			}
			parts := strings.Split(object.Name, "/")
			if len(parts) != 4 || CheckName(object.Name) != nil {
				continue
			}
			if !yield(StoredFragment{object, class, parts[2]}, nil) {
				return
			}
		}
	}
}

// Runs lists the ids of the runs of a class, sorted.
func (s *Store) Runs(ctx context.Context, class string) ([]string, error) {
	ids, err := s.backend.Folders(ctx, tapesFolder+class+"/")
	if err != nil {
		return nil, fmt.Errorf("list runs of class %s: %w", class, err)
	}
	return ids, nil
}

// ReadFragment reads one fragment. The error is ErrNotFound, ErrDamaged or
// ErrTooLarge for what is wrong with it.
func (s *Store) ReadFragment(ctx context.Context, f StoredFragment) (ptrace.Traces, error) {
	return s.fragment(ctx, f.Name)
}

// Weeks lists the weeks of which a class holds blobs, sorted. Folders with other
// names are left out.
func (s *Store) Weeks(ctx context.Context, class string) ([]string, error) {
	folders, err := s.backend.Folders(ctx, blobsFolder+class+"/")
	if err != nil {
		return nil, fmt.Errorf("list weeks of class %s: %w", class, err)
	}
	var weeks []string
	for _, week := range folders {
		if _, _, ok := WeekBounds(week); ok {
			weeks = append(weeks, week)
		}
	}
	return weeks, nil
}

// Blobs yields the blobs of a class and week.
func (s *Store) Blobs(ctx context.Context, class, week string) iter.Seq2[StoredBlob, error] {
	return func(yield func(StoredBlob, error) bool) {
		for object, err := range s.backend.List(ctx, blobsFolder+class+"/"+week+"/") {
			if err != nil {
				yield(StoredBlob{}, fmt.Errorf("list blobs of class %s of %s: %w", class, week, err))
				return
			}
			sha, ok := strings.CutSuffix(path.Base(object.Name), blobSuffix)
			if !ok || checkHash(sha) != nil {
				continue
			}
			if !yield(StoredBlob{object, class, week, sha}, nil) {
				return
			}
		}
	}
}

// Remove deletes one object that a listing has shown. That it is gone already is no
// error.
func (s *Store) Remove(ctx context.Context, o Object) error {
	s.known.forget(o.Name)
	if err := s.backend.Delete(ctx, o.Name); err != nil {
		return fmt.Errorf("delete %s: %w", o.Name, err)
	}
	return nil
}

// TenantFolder is the folder below which the store of a tenant has its objects, with
// a slash at its end; "" for runs without a tenant. The error is ErrBadName.
func TenantFolder(tenant string) (string, error) {
	if tenant == "" {
		return "", nil
	}
	folder, err := tenantFolder(tenant)
	return tenantsFolder + folder + "/", err
}

// WeekBounds is from when until when bodies go into the folder of a week, the end
// excluded. It reports false for what is the name of no week.
func WeekBounds(week string) (from, to time.Time, ok bool) {
	var year, n int
	if _, err := fmt.Sscanf(week, "%4d-W%2d", &year, &n); err != nil {
		return time.Time{}, time.Time{}, false
	}
	// The 4th of January is always in the first week.
	day := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7+7*(n-1))
	if blobWeek(monday) != week {
		return time.Time{}, time.Time{}, false
	}
	return monday, monday.AddDate(0, 0, 7), true
}

// retentionFolder holds what retention has to remember, such as which policy stands
// since when.
const retentionFolder = "retention/"

// Notes yields the notes of retention below a folder of theirs ("" for all), with
// the names by which they were put.
func (s *Store) Notes(ctx context.Context, folder string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for object, err := range s.backend.List(ctx, retentionFolder+folder) {
			if err != nil {
				yield(Object{}, fmt.Errorf("list notes of retention: %w", err))
				return
			}
			if !yield(object, nil) {
				return
			}
		}
	}
}

// maxNote bounds the note that is read, in bytes.
const maxNote = 1 << 20

// PutNote stores a note of retention. A name stands for one content.
func (s *Store) PutNote(ctx context.Context, name string, data []byte) error {
	if err := s.backend.Put(ctx, retentionFolder+name, data); err != nil {
		return fmt.Errorf("write note of retention %s: %w", name, err)
	}
	return nil
}

// ReadNote reads a note that a listing has shown.
func (s *Store) ReadNote(ctx context.Context, o Object) ([]byte, error) {
	data, err := s.backend.GetRange(ctx, o.Name, 0, min(o.Size, maxNote))
	if err != nil {
		return nil, fmt.Errorf("read note of retention %s: %w", o.Name, err)
	}
	return data, nil
}

// NoteName is the name by which a note was put.
func NoteName(o Object) string { return strings.TrimPrefix(o.Name, retentionFolder) }
