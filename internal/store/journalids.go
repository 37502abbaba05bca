package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"sync"
)

const (
	// maxJournals bounds the journals of which the ids are remembered; a journal has
	// as many rows as go to one file of the index.
	maxJournals = 64
	// traceIDFirst is how a line begins.
	traceIDFirst = `{"trace_id":"`
	traceIDSize  = 16
)

// journalIDs remembers which runs journals tell of. A journal only grows, so that
// what was read of it is not read again.
type journalIDs struct {
	mu    sync.Mutex
	known map[string]*journalID
}

type journalID struct {
	mu   sync.Mutex
	read int64
	ids  map[[traceIDSize]byte]struct{}
	// odd is set once a line does not begin as ours do.
	odd bool
}

// mayHold reports false when a journal has no entry of the run for certain.
func (j *journalIDs) mayHold(ctx context.Context, f *indexFile, id string) bool {
	var want [traceIDSize]byte
	if _, err := hex.Decode(want[:], []byte(id)); err != nil {
		return true
	}
	j.mu.Lock()
	known := j.known[f.Name]
	if known == nil {
		if j.known == nil || len(j.known) >= maxJournals {
			j.known = map[string]*journalID{}
		}
		known = &journalID{ids: map[[traceIDSize]byte]struct{}{}}
		j.known[f.Name] = known
	}
	j.mu.Unlock()

	known.mu.Lock()
	defer known.mu.Unlock()
	if known.read < f.Size && !known.odd {
		more, err := f.from.GetRange(ctx, f.Name, known.read, f.Size-known.read)
		if err != nil {
			// Whoever reads the journal will say so.
			return true
		}
		known.take(more)
	}
	_, ok := known.ids[want]
	return ok || known.odd
}

// take adds the lines that are whole.
func (k *journalID) take(lines []byte) {
	for {
		end := bytes.IndexByte(lines, '\n')
		if end < 0 {
			return
		}
		var id [traceIDSize]byte
		text, ok := bytes.CutPrefix(lines[:end], []byte(traceIDFirst))
		if !ok || len(text) <= 2*traceIDSize || text[2*traceIDSize] != '"' {
			k.odd = true
			return
		}
		if _, err := hex.Decode(id[:], text[:2*traceIDSize]); err != nil {
			k.odd = true
			return
		}
		k.ids[id] = struct{}{}
		k.read += int64(end) + 1
		lines = lines[end+1:]
	}
}
