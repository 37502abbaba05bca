package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/tape"
)

// runOf is what a tape holds of one run.
type runOf struct {
	trace   pcommon.TraceID
	records []*tape.Record
}

// group takes the records apart by run. Those that name none belong to that of the
// manifest, else to the one run that the others name, else to one that is named by
// the content of the tape.
func group(t *tape.Tape) []*runOf {
	if len(t.Records) == 0 {
		return nil
	}
	names := map[string]bool{}
	for i := range t.Records {
		if name := t.Records[i].RunID; name != "" {
			names[name] = true
		}
	}
	rest := ""
	switch {
	case t.Manifest != nil && t.Manifest.TraceID != "":
		rest = t.Manifest.TraceID
	case len(names) == 1:
		for name := range names {
			rest = name
		}
	default:
		rest = contentName(t)
	}
	var out []*runOf
	byID := map[pcommon.TraceID]*runOf{}
	for i := range t.Records {
		r := &t.Records[i]
		name := r.RunID
		if name == "" {
			name = rest
		}
		id := traceID(name)
		g := byID[id]
		if g == nil {
			g = &runOf{trace: id}
			byID[id] = g
			out = append(out, g)
		}
		g.records = append(g.records, r)
	}
	return out
}

// contentName names a run by all that its tape says.
func contentName(t *tape.Tape) string {
	h := sha256.New()
	// Hashing does not fail, and what cannot be written has no part in the name.
	_ = tape.NewWriter(h).WriteTape(t)
	return "content " + hex.EncodeToString(h.Sum(nil))
}

// traceID is the id that a name is, or one that is made from it.
func traceID(name string) (id pcommon.TraceID) {
	if raw, err := hex.DecodeString(strings.TrimSpace(name)); err == nil && len(raw) == len(id) {
		copy(id[:], raw)
		if !id.IsEmpty() {
			return id
		}
	}
	sum := sha256.Sum256([]byte("tapedeck run " + name))
	copy(id[:], sum[:])
	return id
}

func parseSpanID(text string) (id pcommon.SpanID, ok bool) {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != len(id) {
		return id, false
	}
	copy(id[:], raw)
	return id, !id.IsEmpty()
}

// derivedSpanID is the id of a span that stands for no record.
func derivedSpanID(trace pcommon.TraceID, name string) (id pcommon.SpanID) {
	sum := sha256.Sum256(append(trace[:], name...))
	copy(id[:], sum[:])
	return id
}

// spanIDs are the recorded ids of steps, each once. Where there is none it is made
// of the position, so that calls of one moment stay in their order, and of the
// content, so that what two recorders wrote of one run does not collide.
func spanIDs(trace pcommon.TraceID, records []*tape.Record) []pcommon.SpanID {
	ids := make([]pcommon.SpanID, len(records))
	taken := make(map[pcommon.SpanID]bool, len(records))
	numbered := numbered(records)
	for i, r := range records {
		if id, ok := parseSpanID(r.StepID); ok && !taken[id] {
			ids[i], taken[id] = id, true
		}
	}
	for i, r := range records {
		if !ids[i].IsEmpty() {
			continue
		}
		at := uint32(i + 1)
		if numbered {
			at = uint32(r.Seq)
		}
		line, err := r.AppendJSON(nil)
		if err != nil {
			// A record that was made by hand: its name has to do.
			line = []byte(r.Tool)
		}
		sum := sha256.Sum256(append(trace[:], line...))
		var id pcommon.SpanID
		copy(id[4:], sum[:4])
		for binary.BigEndian.PutUint32(id[:4], at); taken[id]; {
			binary.BigEndian.PutUint32(id[4:], binary.BigEndian.Uint32(id[4:])+1)
		}
		ids[i], taken[id] = id, true
	}
	return ids
}

// numbered reports whether the records have positions, each its own.
func numbered(records []*tape.Record) bool {
	seen := make(map[int]bool, len(records))
	for _, r := range records {
		if r.Seq <= 0 || int64(r.Seq) > math.MaxUint32 || seen[r.Seq] {
			return false
		}
		seen[r.Seq] = true
	}
	return true
}
