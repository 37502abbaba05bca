package store

import (
	"context"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// JournalBackend is where rows wait to be written to Parquet files: a backend on a
// disk of this machine.
type JournalBackend interface {
	Backend
	Appender
}

const (
	// maxJournal is the length in bytes at which a journal is left for the next.
	maxJournal = 16 << 20
	// maxOpenHours bounds the hours that have an open journal.
	maxOpenHours = 8
	// rotateAfter is the least time for which a journal takes rows.
	rotateAfter = 5 * time.Minute
)

// journal keeps rows as JSON lines. A process only ever adds to files of its own
// name, and never to one where an append has failed: a torn line can only be the
// last of a file.
//
// The name of a journal ends in the time, in milliseconds since 1970, until which
// it is its writer's. Then anyone may turn it into a Parquet file and remove it,
// which is how the rows of a process that was killed get there. A writer leaves a
// journal half way, and rows whose append took until then it writes again.
//
// Rows that come while others are being written wait and are then written
// together, so that the disk is synced once for all of them.
type journal struct {
	to      JournalBackend
	local   bool
	writer  string
	now     func() time.Time
	maxRows int
	rotate  time.Duration
	// full is told when a journal has all the rows it may have.
	full chan struct{}

	// mu guards batch, the rows that wait.
	mu    sync.Mutex
	batch *batch

	// writing guards what follows; it is held while rows are written.
	writing sync.Mutex
	names   sequence
	open    map[time.Time]*journalFile
	// left take no more rows, and are to become Parquet files.
	left []*journalFile
}

// batch is rows of several callers, by hour.
type batch struct {
	lines map[time.Time]*lines
	// err is set when done is closed.
	err  error
	done chan struct{}
}

type lines struct {
	data []byte
	rows int
}

type journalFile struct {
	name   string
	opened time.Time
	size   int64
	rows   int
	// snapshot is the Parquet file with the rows so far, "" when there is none.
	snapshot string
	// shown is how many rows it has.
	shown int
}

// sequence numbers names by the clock, each higher than the last.
type sequence struct{ last int64 }

func (s *sequence) next(t time.Time) int64 {
	s.last = max(s.last+1, t.UnixMilli())
	return s.last
}

func (j *journal) add(ctx context.Context, entries []Entry) error {
	all, err := encodeLines(entries)
	if err != nil {
		return err
	}
	b, first := j.join(all)
	if !first {
		select {
		case <-b.done:
			return b.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	j.writing.Lock()
	j.mu.Lock()
	j.batch = nil
	j.mu.Unlock()
	// The rows of others are in it, so it is not for this caller to stop it.
	b.err = j.writeAll(context.WithoutCancel(ctx), b.lines)
	j.writing.Unlock()
	close(b.done)
	return b.err
}

// join adds lines to the batch that waits. Who is first in it has to write it.
func (j *journal) join(all map[time.Time]*lines) (b *batch, first bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.batch == nil {
		j.batch = &batch{lines: all, done: make(chan struct{})}
		return j.batch, true
	}
	for hour, more := range all {
		if l := j.batch.lines[hour]; l != nil {
			l.data = append(l.data, more.data...)
			l.rows += more.rows
		} else {
			j.batch.lines[hour] = more
		}
	}
	return j.batch, false
}

func encodeLines(entries []Entry) (map[time.Time]*lines, error) {
	all := map[time.Time]*lines{}
	for i := range entries {
		hour := hourOf(parseTime(entries[i].Decided))
		l := all[hour]
		if l == nil {
			l = &lines{}
			all[hour] = l
		}
		var err error
		if l.data, err = appendLine(l.data, &entries[i]); err != nil {
			return nil, err
		}
		l.rows++
	}
	return all, nil
}

func (j *journal) writeAll(ctx context.Context, all map[time.Time]*lines) error {
	for hour, l := range all {
		if err := j.write(ctx, hour, l); err != nil {
			return err
		}
	}
	return nil
}

func (j *journal) write(ctx context.Context, hour time.Time, l *lines) error {
	for {
		file := j.file(hour, l)
		if err := j.to.Append(ctx, file.name, l.data); err != nil {
			j.leave(hour)
			return err
		}
		file.size += int64(len(l.data))
		file.rows += l.rows
		if file.rows >= j.maxRows {
			j.leave(hour)
		}
		if !j.over(file) {
			return nil
		}
		j.leave(hour)
	}
}

// file is the journal that the next rows of an hour go to.
func (j *journal) file(hour time.Time, l *lines) *journalFile {
	if file := j.open[hour]; file != nil {
		if file.size+int64(len(l.data)) <= maxJournal && !j.over(file) {
			return file
		}
		j.leave(hour)
	}
	if len(j.open) >= maxOpenHours {
		for other := range j.open {
			j.leave(other)
		}
	}
	now := j.now().Round(0)
	file := &journalFile{name: journalName(hour, j.writer, j.names.next(now.Add(2*j.rotate))), opened: now}
	j.open[hour] = file
	return file
}

// over reports whether the journal is to be left. The clock of the wall is asked,
// which goes on while a machine sleeps; one that was set back ends a journal too.
func (j *journal) over(file *journalFile) bool {
	age := j.now().Round(0).Sub(file.opened)
	return age < 0 || age >= j.rotate
}

// leave ends the journal of an hour, which then waits to become a Parquet file.
func (j *journal) leave(hour time.Time) {
	file := j.open[hour]
	if file == nil {
		return
	}
	delete(j.open, hour)
	j.left = append(j.left, file)
	select {
	case j.full <- struct{}{}:
	default:
	}
}

func (j *journal) own(name string) bool {
	return strings.HasPrefix(path.Base(name), j.writer+"-")
}

// leaseOf is the time until which a journal is its writer's. That of earlier
// versions had no time in its name and is its writer's for a day after its hour.
func leaseOf(name string) (time.Time, bool) {
	hour, ok := hourOfFile(name)
	stem := stemOf(name)
	at := strings.LastIndexByte(stem, '-')
	if !ok || at < 0 {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(stem[at+1:], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	const numbered = 1_000_000_000_000
	if n < numbered {
		return hour.Add(25 * time.Hour), true
	}
	return time.UnixMilli(n), true
}
