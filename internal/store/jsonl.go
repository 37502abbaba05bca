package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxRows is the length at which an index file is left for the next, in
	// bytes, where the backend can append.
	maxRows = 16 << 20
	// maxLine bounds one line of an index file, in bytes.
	maxLine = 1 << 20
	// maxOpenHours bounds the hours a writer remembers its file of.
	maxOpenHours = 8
)

// jsonl keeps rows as JSON lines. A process only ever adds to files of its own
// name, and never to one where an append has failed: a torn line can only be
// the last of a file.
//
// Rows that come while others are being written wait and are then written
// together, so that the disk is synced once for all of them.
type jsonl struct {
	backend Backend
	writer  string
	damaged func(name string, err error)

	// mu guards batch, the rows that wait.
	mu    sync.Mutex
	batch *batch

	// writing guards what follows; it is held while rows are written.
	writing sync.Mutex
	next    int
	open    map[time.Time]*rowsFile
}

// batch is rows of several callers, by hour.
type batch struct {
	lines map[time.Time][]byte
	// err is set when done is closed.
	err  error
	done chan struct{}
}

type rowsFile struct {
	name string
	size int
}

func newJSONL(backend Backend, writer string, damaged func(string, error)) *jsonl {
	return &jsonl{backend: backend, writer: writer, damaged: damaged, open: map[time.Time]*rowsFile{}}
}

func (x *jsonl) add(ctx context.Context, entries []entry) error {
	lines, err := encodeRows(entries)
	if err != nil {
		return err
	}
	b, first := x.join(lines)
	if !first {
		select {
		case <-b.done:
			return b.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	x.writing.Lock()
	x.mu.Lock()
	x.batch = nil
	x.mu.Unlock()
	// The rows of others are in it, so it is not for this caller to stop it.
	b.err = x.writeAll(context.WithoutCancel(ctx), b.lines)
	x.writing.Unlock()
	close(b.done)
	return b.err
}

// join adds lines to the batch that waits. Who is first in it has to write it.
func (x *jsonl) join(lines map[time.Time][]byte) (b *batch, first bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.batch == nil {
		x.batch = &batch{lines: lines, done: make(chan struct{})}
		return x.batch, true
	}
	for hour, more := range lines {
		x.batch.lines[hour] = append(x.batch.lines[hour], more...)
	}
	return x.batch, false
}

func encodeRows(entries []entry) (map[time.Time][]byte, error) {
	lines := map[time.Time][]byte{}
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("row of %s: %w", e.TraceID, err)
		}
		if len(line) >= maxLine {
			return nil, fmt.Errorf("row of %s has %d bytes: %w", e.TraceID, len(line), ErrTooLarge)
		}
		hour := hourOf(parseTime(e.Decided))
		lines[hour] = append(append(lines[hour], line...), '\n')
	}
	return lines, nil
}

func (x *jsonl) writeAll(ctx context.Context, lines map[time.Time][]byte) error {
	for hour, data := range lines {
		if err := x.write(ctx, hour, data); err != nil {
			return err
		}
	}
	return nil
}

func (x *jsonl) write(ctx context.Context, hour time.Time, data []byte) error {
	appender, ok := x.backend.(Appender)
	if !ok {
		return x.backend.Put(ctx, x.newName(hour), data)
	}
	file := x.open[hour]
	if file == nil || file.size+len(data) > maxRows {
		if len(x.open) >= maxOpenHours {
			clear(x.open)
		}
		file = &rowsFile{name: x.newName(hour)}
		x.open[hour] = file
	}
	if err := appender.Append(ctx, file.name, data); err != nil {
		delete(x.open, hour)
		return err
	}
	file.size += len(data)
	return nil
}

func (x *jsonl) newName(hour time.Time) string {
	x.next++
	// Padded, so that a listing by name is in order of time.
	return fmt.Sprintf("%s%s-%06d%s", partitionFolder(hour), x.writer, x.next, rowsSuffix)
}

func (x *jsonl) hours(ctx context.Context) iter.Seq2[time.Time, error] {
	return func(yield func(time.Time, error) bool) {
		dates, err := x.backend.Folders(ctx, indexFolder)
		if err != nil {
			yield(time.Time{}, fmt.Errorf("list index: %w", err))
			return
		}
		for _, date := range slices.Backward(dates) {
			hours, err := x.backend.Folders(ctx, indexFolder+date+"/")
			if err != nil {
				yield(time.Time{}, fmt.Errorf("list index: %w", err))
				return
			}
			for _, hour := range slices.Backward(hours) {
				if t, ok := parsePartition(date, hour); ok && !yield(t, nil) {
					return
				}
			}
		}
	}
}

func (x *jsonl) scan(ctx context.Context, hour time.Time, fn func(lazyEntry) error) error {
	for object, err := range x.backend.List(ctx, partitionFolder(hour)) {
		if err != nil {
			return fmt.Errorf("list index: %w", err)
		}
		if !strings.HasSuffix(object.Name, rowsSuffix) {
			continue
		}
		if err := x.scanFile(ctx, object.Name, fn); err != nil {
			return err
		}
	}
	return nil
}

func (x *jsonl) scanFile(ctx context.Context, name string, fn func(lazyEntry) error) error {
	r, err := x.backend.Get(ctx, name)
	if errors.Is(err, ErrNotFound) {
		// Removed between the listing and the read.
		return nil
	}
	if err != nil {
		return fmt.Errorf("read index %s: %w", name, err)
	}
	defer func() { _ = r.Close() }()
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for n := 1; ; n++ {
		line, err = readLine(lines, line[:0])
		switch {
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				x.damaged(name, fmt.Errorf("line %d is cut: %w", n, ErrDamaged))
			}
			return nil
		case errors.Is(err, ErrTooLarge):
			x.damaged(name, fmt.Errorf("line %d: %w", n, err))
			continue
		case err != nil:
			return fmt.Errorf("read index %s: %w", name, err)
		}
		if err := fn(jsonLine(line)); err != nil {
			if !errors.Is(err, ErrDamaged) {
				return err
			}
			x.damaged(name, fmt.Errorf("line %d: %w", n, err))
		}
	}
}

// readLine reads a line without its end. A line that ends with the file is
// returned together with io.EOF, one over maxLine is passed over.
func readLine(r *bufio.Reader, line []byte) ([]byte, error) {
	for tooLong := false; ; {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			tooLong = true
			line = line[:0]
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return line, err
		case tooLong:
			return line, ErrTooLarge
		}
		return line[:len(line)-1], nil
	}
}

// jsonLine is valid only until the next line is read.
type jsonLine []byte

var idPrefix = []byte(`{"trace_id":"`)

// traceID relies on the first member being trace_id, as this package writes
// it, and falls back to reading the whole line.
func (l jsonLine) traceID() string {
	if rest, ok := bytes.CutPrefix(l, idPrefix); ok && len(rest) > 32 && rest[32] == '"' {
		return strings.ToLower(string(rest[:32]))
	}
	e, err := l.entry()
	if err != nil {
		return ""
	}
	return e.TraceID
}

func (l jsonLine) entry() (entry, error) {
	var e entry
	if err := json.Unmarshal(l, &e); err != nil {
		return entry{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	id, err := ParseTraceID(e.TraceID)
	if err != nil {
		return entry{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	e.TraceID = id
	return e, nil
}
