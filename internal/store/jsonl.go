package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// maxLine bounds one line of a journal, in bytes.
const maxLine = 1 << 20

// A journal has one entry a line, as JSON. Its last member is the checksum of the
// line without it, which journals of earlier versions lack.
const (
	sumBegin = `,"crc":"`
	sumEnd   = `"}`
	sumLen   = len(sumBegin) + 8 + len(sumEnd)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendLine(to []byte, e *Entry) ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return to, fmt.Errorf("row of %s: %w", e.TraceID, err)
	}
	if len(line)+sumLen >= maxLine {
		return to, fmt.Errorf("row of %s has %d bytes: %w", e.TraceID, len(line), ErrTooLarge)
	}
	to = append(to, line[:len(line)-1]...)
	return fmt.Appendf(to, "%s%08x%s\n", sumBegin, crc32.Checksum(line, castagnoli), sumEnd), nil
}

func parseLine(line []byte) (Entry, error) {
	if at := len(line) - sumLen; at > 0 && bytes.HasPrefix(line[at:], []byte(sumBegin)) {
		sum := string(line[at+len(sumBegin) : len(line)-len(sumEnd)])
		line = append(line[:at], '}')
		if fmt.Sprintf("%08x", crc32.Checksum(line, castagnoli)) != sum {
			return Entry{}, fmt.Errorf("checksum: %w", ErrDamaged)
		}
	}
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := normalize(&e, func() time.Time { return time.Unix(0, 0) }); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return e, nil
}

// openJournal reads a journal. A damaged line costs itself alone.
func (x *index) openJournal(ctx context.Context, f *indexFile) (segment, error) {
	entries, err := x.readJournal(ctx, f.from, f.Name, f.Size)
	return &journalSegment{entries}, err
}

// readJournal reads the entries in the first size bytes of a journal.
func (x *index) readJournal(ctx context.Context, from Reader, name string, size int64) (entries []Entry, err error) {
	r, err := from.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := r.Close(); err == nil {
			err = closeErr
		}
	}()
	lines := bufio.NewReaderSize(io.LimitReader(r, size), 64<<10)
	var line []byte
	for n := 1; ; n++ {
		line, err = readLine(lines, line[:0])
		switch {
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				x.damaged(name, fmt.Errorf("line %d is cut: %w", n, ErrDamaged))
			}
			return entries, nil
		case errors.Is(err, ErrTooLarge):
			x.damaged(name, fmt.Errorf("line %d: %w", n, err))
			continue
		case err != nil:
			return nil, err
		}
		e, err := parseLine(line)
		if err != nil {
			x.damaged(name, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		entries = append(entries, e)
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
