package store

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/store/rowfile"
)

// partition is the files of one hour of the index.
type partition struct {
	hour  time.Time
	files []indexFile
	// day has the files of this and of older hours that were listed together with
	// it, where this is the newest.
	day []indexFile
}

// indexFile is a file as a listing shows it.
type indexFile struct {
	Object
	// from is where it is: the store, or the journals of this process.
	from Reader
}

func (f *indexFile) parquet() bool { return parquetName(f.Name) }

// partitions yields those that exist, newest first, listing a day at a time and
// only as far as the caller goes.
func (x *index) partitions(ctx context.Context) iter.Seq2[partition, error] {
	return func(yield func(partition, error) bool) {
		days, err := x.days(ctx)
		if err != nil {
			yield(partition{}, err)
			return
		}
		for _, day := range slices.Backward(days) {
			parts, err := x.list(ctx, indexFolder+day+"/")
			if err != nil {
				yield(partition{}, err)
				return
			}
			for i, p := range parts {
				if i == 0 {
					for _, of := range parts {
						p.day = append(p.day, of.files...)
					}
				}
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// days are the folders of days, in order.
func (x *index) days(ctx context.Context) ([]string, error) {
	var days []string
	for _, from := range x.sources() {
		folders, err := from.Folders(ctx, indexFolder)
		if err != nil {
			return nil, fmt.Errorf("list index: %w", err)
		}
		for _, day := range folders {
			if _, ok := parsePartition(day, hourFolder+"00"); ok {
				days = append(days, day)
			}
		}
	}
	slices.Sort(days)
	return slices.Compact(days), nil
}

// sources are where rows are. Rows go from a journal to the store, so that
// whoever looks there last misses none.
func (x *index) sources() []Reader {
	if x.journal != nil && x.journal.local {
		return []Reader{x.journal.to, x.backend}
	}
	return []Reader{x.backend}
}

// list gives the partitions below a folder, newest first.
func (x *index) list(ctx context.Context, folder string) ([]partition, error) {
	byHour := map[time.Time]*partition{}
	for _, from := range x.sources() {
		for object, err := range from.List(ctx, folder) {
			if err != nil {
				return nil, fmt.Errorf("list index: %w", err)
			}
			hour, ok := hourOfFile(object.Name)
			if !ok {
				continue
			}
			p := byHour[hour]
			if p == nil {
				p = &partition{hour: hour}
				byHour[hour] = p
			}
			p.files = append(p.files, indexFile{Object: object, from: from})
		}
	}
	parts := make([]partition, 0, len(byHour))
	for _, p := range byHour {
		p.files = withoutSnapshots(p.files)
		parts = append(parts, *p)
	}
	slices.SortFunc(parts, func(a, b partition) int { return b.hour.Compare(a.hour) })
	return parts, nil
}

// hourOfFile is the partition of an index file by its name.
func hourOfFile(name string) (time.Time, bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 || !strings.HasSuffix(name, parquetSuffix) && !strings.HasSuffix(name, journalSuffix) {
		return time.Time{}, false
	}
	return parsePartition(parts[1], parts[2])
}

// withoutSnapshots leaves out the Parquet files whose rows are in a journal that
// can be read too.
func withoutSnapshots(files []indexFile) []indexFile {
	var journals []string
	for _, f := range files {
		if !f.parquet() {
			journals = append(journals, stemOf(f.Name)+"-")
		}
	}
	if len(journals) == 0 {
		return files
	}
	return slices.DeleteFunc(files, func(f indexFile) bool {
		return f.parquet() && slices.ContainsFunc(journals, func(stem string) bool {
			return strings.HasPrefix(path.Base(f.Name), stem)
		})
	})
}

// stemOf is the name of a journal without folder and suffix, with which the names
// of the files made of it begin.
func stemOf(name string) string {
	return strings.TrimSuffix(path.Base(name), journalSuffix)
}

// segment is one index file opened for reading.
type segment interface {
	// keys tells the entries apart, by position.
	keys() ([]key, error)
	// match says by position which entries have what a query asks for, as far as
	// columns of texts tell; nil says nothing.
	match(conditions []rowfile.Condition) ([]bool, error)
	// find gives the positions of the entries of a run, and whether all of them are of
	// what was kept.
	find(id string) (positions []int64, kept bool, err error)
	// rows shows the entries at positions, which ascend.
	rows(positions []int64, fn func(at int64, e *Entry) error) error
	// lacks reports that the file has no entry of the run for certain.
	lacks(id string) bool
}

// key is what tells which entries of a partition matter.
type key struct {
	id                  string
	at                  int64 // microseconds since 1970
	kept, part, deleted bool
}

// open opens a file of the index. The error is ErrNotFound when it was replaced
// since the listing, ErrDamaged when it cannot be read at all.
func (x *index) open(ctx context.Context, f *indexFile) (segment, error) {
	if f.parquet() {
		return x.openParquet(ctx, f)
	}
	return x.openJournal(ctx, f)
}

// listAgain is how often a partition is listed anew because files were replaced
// while it was read.
const listAgain = 5

// read calls fn with the segments of a partition. Files that are replaced
// meanwhile make it start over, so fn must be able to.
func (x *index) read(ctx context.Context, p partition, fn func([]segment) error) error {
	return x.readIf(ctx, p, func(*indexFile) bool { return true }, fn)
}

// readIf is read with the files that may matter.
func (x *index) readIf(ctx context.Context, p partition, matters func(*indexFile) bool, fn func([]segment) error) error {
	for attempt := 0; ; attempt++ {
		err := x.readOnce(ctx, p.files, matters, fn)
		if !isGone(err) || attempt == listAgain {
			return err
		}
		parts, err := x.list(ctx, partitionFolder(p.hour))
		if err != nil {
			return err
		}
		p.files = nil
		for _, again := range parts {
			p.files = append(p.files, again.files...)
		}
	}
}

func (x *index) readOnce(ctx context.Context, files []indexFile, matters func(*indexFile) bool, fn func([]segment) error) error {
	segments := make([]segment, 0, len(files))
	for i := range files {
		if !matters(&files[i]) {
			continue
		}
		s, err := x.open(ctx, &files[i])
		if isDamaged(err) {
			x.damaged(files[i].Name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("read index %s: %w", files[i].Name, err)
		}
		segments = append(segments, s)
	}
	return fn(segments)
}

// oldestFirst orders files by name, so that what was written later comes later.
func oldestFirst(a, b indexFile) int { return cmp.Compare(a.Name, b.Name) }
