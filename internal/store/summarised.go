package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// Version says which parts of a run are stored, without reading them: it is that of
// [Run] as long as nothing of the run is added or removed, and "" when nothing of it is
// stored. It costs the listing of the run in each class.
func (s *Store) Version(ctx context.Context, traceID string) (string, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return "", err
	}
	objects, err := s.fragments(ctx, id)
	return versionOf((&Run{}).distinct(objects)), err
}

// versionOf is made of names, which stand for content.
func versionOf(objects []Object) string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "%s %d\n", o.Name, o.Size)
	}
	return b.String()
}

// Mentions are the files of the index that may tell of a run.
type Mentions struct {
	id    string
	parts []partition
}

// Mentions looks for files of the hours around the given times that may tell of a run,
// by their names and the filters that are remembered of them.
//
// It costs the listing of the hours in a directory, and in a bucket that of their day,
// or two, which is remembered for ten seconds; and one read of each file that is seen
// for the first time.
func (s *Store) Mentions(ctx context.Context, traceID string, around ...time.Time) (*Mentions, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return nil, err
	}
	hours := hoursAround(around)
	folders := s.index.recently.folders(s.index, hours)
	found := make([][]partition, len(folders))
	err = each(ctx, len(folders), func(ctx context.Context, i int) error {
		parts, err := s.index.recently.list(ctx, s.index, folders[i])
		if err != nil {
			return err
		}
		for _, p := range parts {
			if !slices.ContainsFunc(hours, p.hour.Equal) {
				continue
			}
			if err := s.index.warm(ctx, p.files); err != nil {
				return err
			}
			// What is remembered stays as it is.
			p.files = slices.DeleteFunc(slices.Clone(p.files), func(f indexFile) bool { return !s.index.mayHold(ctx, &f, id) })
			if len(p.files) > 0 {
				found[i] = append(found[i], p)
			}
		}
		return nil
	})
	return &Mentions{id, slices.Concat(found...)}, err
}

// Version is another when there may be rows that were not there before.
func (m *Mentions) Version() string {
	var objects []Object
	for _, p := range m.parts {
		for i := range p.files {
			objects = append(objects, p.files[i].Object)
		}
	}
	return versionOf(objects)
}

// Summarised gives the rows of parts of a run that were decided on their own and not
// kept: what another collector saw of it, or what came after the rest had gone. Rows
// without calls are left out, and so are those that a later row of the whole run
// stands for.
func (s *Store) Summarised(ctx context.Context, m *Mentions) ([]tape.Row, error) {
	if only, err := s.onlyKept(ctx, m); only || err != nil {
		return nil, err
	}
	var found []Entry
	for _, p := range m.parts {
		entries, err := s.index.entriesOf(ctx, p, m.id)
		if err != nil {
			return nil, err
		}
		found = append(found, entries...)
	}
	var rows []tape.Row
	for _, e := range decisions(alive(found)) {
		switch {
		case e.Kept && speaksForAll(&e.Row):
			rows = nil
		case !e.Kept && e.Steps > 0:
			rows = append(rows, e.Row)
		}
	}
	return rows, nil
}

// onlyKept reports whether all rows of a run are of what was kept, as they are nearly
// always. It reads two columns.
func (s *Store) onlyKept(ctx context.Context, m *Mentions) (bool, error) {
	only := true
	for _, p := range m.parts {
		err := s.index.read(ctx, p, func(segments []segment) error {
			for _, seg := range segments {
				_, kept, err := seg.find(m.id)
				if err != nil {
					return err
				}
				only = only && kept
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return only, nil
}

// hoursAround are the hours within reach of the times, each once.
func hoursAround(times []time.Time) []time.Time {
	var hours []time.Time
	for _, at := range times {
		hour := at.UTC().Truncate(time.Hour)
		hours = append(hours, hour.Add(-reach), hour, hour.Add(reach))
	}
	slices.SortFunc(hours, time.Time.Compare)
	return slices.CompactFunc(hours, time.Time.Equal)
}

// rememberListings bounds the folders whose files are remembered.
const rememberListings = 64

// listings remembers for a moment which files some days of the index have, so that
// those who read one run after the other from a bucket list them once.
type listings struct {
	mu    sync.Mutex
	lists map[string]listed
}

type listed struct {
	parts []partition
	at    time.Time
}

// folders are those to be listed for the files of some hours: in a directory the
// hours themselves, in a bucket, where each takes a request, the days.
func (l *listings) folders(x *index, hours []time.Time) []string {
	var folders []string
	for _, hour := range hours {
		folder := partitionFolder(hour)
		if !l.direct(x) {
			folder, _, _ = strings.Cut(folder, hourFolder)
		}
		folders = append(folders, folder)
	}
	return slices.Compact(folders)
}

// direct reports whether to list costs next to nothing.
func (*listings) direct(x *index) bool {
	_, ok := x.backend.(Appender)
	return ok
}

func (l *listings) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.lists)
}

func (l *listings) list(ctx context.Context, x *index, folder string) ([]partition, error) {
	if l.direct(x) {
		return x.list(ctx, folder)
	}
	now := x.now()
	l.mu.Lock()
	known, ok := l.lists[folder]
	l.mu.Unlock()
	if age := now.Sub(known.at); ok && age >= 0 && age < classesFor {
		return known.parts, nil
	}
	parts, err := x.list(ctx, folder)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lists == nil || len(l.lists) >= rememberListings {
		l.lists = map[string]listed{}
	}
	l.lists[folder] = listed{parts, now}
	return parts, nil
}
