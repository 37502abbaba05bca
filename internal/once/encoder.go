package once

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
)

// DefaultTableLimit is the most memory of one table, in bytes, unless another
// limit is set. It has room for some 25,000 texts.
const DefaultTableLimit = 1 << 20

// Stats is what one call did.
type Stats struct {
	// Redacted counts what was replaced, also in texts that were known before.
	Redacted scrub.Stats
	// Texts is the number of new texts.
	Texts int
	// Saved is the bytes of the texts that were not written again.
	Saved int64
}

// Encoder makes payloads. It is safe for concurrent use.
type Encoder struct {
	scrubber *scrub.Scrubber
	limit    int
	pool     sync.Pool
}

// NewEncoder makes an Encoder that redacts as scrubber does, with tables of
// about tableLimit bytes at most, [DefaultTableLimit] if that is 0.
func NewEncoder(scrubber *scrub.Scrubber, tableLimit int) *Encoder {
	if tableLimit <= 0 {
		tableLimit = DefaultTableLimit
	}
	return &Encoder{scrubber: scrubber, limit: tableLimit}
}

// Traces appends the payload of td to dst. It redacts td in place and puts
// references into it. After an error the table is empty and dst as it was.
func (e *Encoder) Traces(dst []byte, td ptrace.Traces, table *Table) ([]byte, Stats, error) {
	s := e.begin(table)
	defer e.end(s)
	redacted := e.scrubber.TracesWith(td, s)
	body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		table.Forget()
		return dst, Stats{}, fmt.Errorf("marshal spans: %w", err)
	}
	return s.payload(dst, holdsSpans, body), s.stats(redacted), nil
}

// Logs appends the payload of ld to dst, as [Encoder.Traces] does.
func (e *Encoder) Logs(dst []byte, ld plog.Logs, table *Table) ([]byte, Stats, error) {
	s := e.begin(table)
	defer e.end(s)
	redacted := e.scrubber.LogsWith(ld, s)
	body, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		table.Forget()
		return dst, Stats{}, fmt.Errorf("marshal log records: %w", err)
	}
	return s.payload(dst, holdsRecords, body), s.stats(redacted), nil
}

// encoding is one call. What it allocates for its own use is used again.
type encoding struct {
	scrubber *scrub.Scrubber
	policy   *redact.Policy
	table    *Table
	limit    int
	// k is the content of the table, opened for the first long value.
	k *known
	// first is the number of the first new text; texts has them as the payload
	// will.
	first uint32
	texts []byte
	// refs is where the references stand that the pdata now holds.
	refs []byte
	// marked: some value is not what it looks like.
	marked bool
	saved  int64

	cut cutter
}

func (e *Encoder) begin(table *Table) *encoding {
	s, _ := e.pool.Get().(*encoding)
	if s == nil {
		s = new(encoding)
	}
	*s = encoding{
		scrubber: e.scrubber, policy: e.scrubber.Policy(), table: table, limit: e.limit,
		texts: s.texts[:0], cut: s.cut,
	}
	return s
}

// maxKept bounds the scratch space that outlives a call.
const maxKept = 1 << 20

func (e *Encoder) end(s *encoding) {
	s.cut.forget()
	if cap(s.texts) > maxKept {
		s.texts = nil
	}
	*s = encoding{texts: s.texts, cut: s.cut}
	e.pool.Put(s)
}

func (s *encoding) stats(redacted scrub.Stats) Stats {
	out := Stats{Redacted: redacted, Saved: s.saved}
	if s.k != nil {
		out.Texts = len(s.k.texts) - int(s.first)
	}
	return out
}

// known opens the table.
func (s *encoding) known() *known {
	if s.k == nil {
		s.k = s.table.open(s.limit)
		s.first = uint32(len(s.k.texts))
	}
	return s.k
}

// add makes a new text, of size bytes before it was redacted.
func (s *encoding) add(hash uint64, size int, redacted string, hits []redact.Hit) uint32 {
	s.texts = binary.AppendUvarint(s.texts, uint64(len(redacted)))
	s.texts = append(s.texts, redacted...)
	return s.k.add(hash, size, hits)
}

// payload appends head, texts and body.
func (s *encoding) payload(dst []byte, holds byte, body []byte) []byte {
	if !s.marked && len(s.texts) == 0 {
		dst = slices.Grow(dst, 1+len(body))
		return append(append(dst, version|holds), body...)
	}
	k := s.known()
	dst = slices.Grow(dst, maxHead+len(s.texts)+len(body))
	dst = append(dst, version|holds|hasTexts)
	dst = binary.LittleEndian.AppendUint64(dst, k.number)
	dst = binary.AppendUvarint(dst, uint64(s.first))
	dst = binary.AppendUvarint(dst, uint64(len(s.texts)))
	return append(append(dst, s.texts...), body...)
}
