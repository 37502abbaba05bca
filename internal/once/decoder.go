package once

import (
	"encoding/binary"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/walk"
)

// Hole ends a value, or is all of it, where a text was lost. It is long enough to
// be no placeholder of an instrumentation, and what tells of a cut in it is what
// the dialects know.
const Hole = "…[truncated: a text was lost before it was stored]"

// Decoder gives back the spans and log records of one run. It holds the texts of
// the run until it is dropped; what it returns shares them. It must not be used
// by two goroutines at a time.
type Decoder struct {
	// tables has the texts of each table by their numbers.
	tables map[uint64]map[uint64]string
	holes  int
}

// NewDecoder makes a Decoder that knows no text.
func NewDecoder() *Decoder { return &Decoder{tables: map[uint64]map[uint64]string{}} }

// Holes is the number of values that could not be restored so far.
func (d *Decoder) Holes() int { return d.holes }

// Traces gives the spans of a payload, and learns its texts. It keeps nothing of
// the bytes it is given. The error wraps [ErrPayload]; texts that come before the
// place of an error are known nevertheless.
func (d *Decoder) Traces(from []byte) (ptrace.Traces, error) {
	p, err := d.learn(from)
	if err != nil {
		return ptrace.Traces{}, err
	}
	if p.head&holdsMask != holdsSpans {
		return ptrace.Traces{}, fmt.Errorf("%w of spans", ErrPayload)
	}
	td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(p.body)
	if err != nil {
		return ptrace.Traces{}, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if p.head&hasTexts != 0 {
		walk.Traces(td, &restorer{d: d, texts: d.tables[p.table], left: maxRestored})
	}
	return td, nil
}

// Logs gives the log records of a payload as [Decoder.Traces] gives spans.
func (d *Decoder) Logs(from []byte) (plog.Logs, error) {
	p, err := d.learn(from)
	if err != nil {
		return plog.Logs{}, err
	}
	if p.head&holdsMask != holdsRecords {
		return plog.Logs{}, fmt.Errorf("%w of log records", ErrPayload)
	}
	ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(p.body)
	if err != nil {
		return plog.Logs{}, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if p.head&hasTexts != 0 {
		walk.Logs(ld, &restorer{d: d, texts: d.tables[p.table], left: maxRestored})
	}
	return ld, nil
}

func (d *Decoder) learn(from []byte) (payload, error) {
	p, err := parse(from)
	if err != nil {
		return p, err
	}
	texts := d.tables[p.table]
	if texts == nil && len(p.texts) > 0 {
		texts = map[uint64]string{}
		d.tables[p.table] = texts
	}
	number := p.first
	for rest := p.texts; len(rest) > 0; number++ {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return p, fmt.Errorf("%w: it ends in text %d", ErrPayload, number)
		}
		text := rest[size : size+int(n)]
		rest = rest[size+int(n):]
		if _, known := texts[number]; !known {
			texts[number] = string(text)
		}
	}
	return p, nil
}

// maxRestored bounds what one payload can become, in bytes. What is sent is far
// smaller; a payload nobody encoded could ask for anything.
const maxRestored = 1 << 30

// restorer puts values back where references stand.
type restorer struct {
	d     *Decoder
	texts map[uint64]string
	left  int
}

func (r *restorer) Enter(walk.Node)                     {}
func (r *restorer) Leave(walk.Node)                     {}
func (r *restorer) Renamed(_, _ []string)               {}
func (r *restorer) Text(_ *walk.Path, s string) string  { return s }
func (r *restorer) Key(_ *walk.Path, key string) string { return key }

func (r *restorer) Value(at *walk.Path, v pcommon.Value) bool {
	if v.Type() == pcommon.ValueTypeStr {
		if s := v.Str(); s != "" && s[0] == mark && at.Attribute() != attr.Redacted {
			v.SetStr(r.restore(s))
		}
	}
	return true
}

// restore gives what a marked string stands for.
func (r *restorer) restore(s string) string {
	if len(s) < 2 {
		return r.hole()
	}
	kind, rest := s[1], s[2:]
	switch kind {
	case markEscape:
		return rest
	case markText:
		o := ops{rest: rest}
		if text, ok := r.text(o.uvarint()); ok && o.rest == "" && !o.bad && len(text) <= r.left {
			r.left -= len(text)
			return text
		}
	case markCut:
		if v, ok := r.join(rest); ok {
			return v
		}
	}
	return r.hole()
}

func (r *restorer) hole() string {
	r.d.holes++
	return Hole
}

func (r *restorer) text(number uint64) (string, bool) {
	t, ok := r.texts[number]
	return t, ok
}
