package offload

import (
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/walk"
)

// maxErrors bounds how many failed puts are spelled out in one error.
const maxErrors = 4

// Body is content on its way out of a trace. Data must not be changed or kept.
type Body struct {
	Ref
	Data []byte
}

// Stats counts what one call did.
type Stats struct {
	// Bodies and Bytes left the trace. A body that occurs twice counts twice.
	Bodies int
	Bytes  int64
	// Escaped values looked like references of ours and were not.
	Escaped int
	// Failed bodies could not be put and stay in the trace.
	Failed int
}

// Traces moves what is over threshold bytes out of td, by put, and leaves
// references. A threshold of 0 or less moves nothing; values that look like
// references are escaped all the same, and put may be nil. The error joins what
// put returned.
//
// A trace is offloaded once: a second call takes the references of the first
// for forgeries and escapes them.
func Traces(td ptrace.Traces, threshold int, put func(Body) error) (Stats, error) {
	return TracesOfRun(td, threshold, 0, put)
}

// TracesOfRun is [Traces] for the spans of an agent's run, which repeat the
// conversation before them. A text that goes on where one before it ended and has
// less than threshold bytes of its own stays, as long as it has no more than repeats
// bytes: together they are stored in little more than the last of them, and apart
// each would be stored whole.
func TracesOfRun(td ptrace.Traces, threshold, repeats int, put func(Body) error) (Stats, error) {
	m := mover{threshold: threshold, repeats: repeats, put: put}
	walk.Traces(td, &m)
	return m.stats, m.err()
}

type mover struct {
	threshold int
	repeats   int
	// before are the last large texts, the latest first.
	before [4]string
	put    func(Body) error
	stats  Stats
	done   map[Ref]bool
	errs   []error
}

func (m *mover) err() error {
	if n := m.stats.Failed - len(m.errs); n > 0 {
		m.errs = append(m.errs, fmt.Errorf("and %d more", n))
	}
	return errors.Join(m.errs...)
}

func (m *mover) Enter(walk.Node)                     {}
func (m *mover) Leave(walk.Node)                     {}
func (m *mover) Renamed(_, _ []string)               {}
func (m *mover) over(n int) bool                     { return m.threshold > 0 && n > m.threshold }
func (m *mover) Text(at *walk.Path, s string) string { return m.text(at, s) }
func (m *mover) Key(at *walk.Path, s string) string  { return m.text(at, s) }

func (m *mover) text(at *walk.Path, s string) string {
	if m.watched(len(s)) && !m.goesOn(s) && m.over(len(s)) {
		data := []byte(s)
		if b := (Body{refOf(data, sniff(data)), data}); m.move(at, b) {
			return b.String()
		}
	}
	if strings.HasPrefix(s, prefix) {
		m.stats.Escaped++
		return escaped + s
	}
	return s
}

// watched tells the texts that move, or that one which moves may go on from: half
// as long, so that a conversation that comes to the threshold has one before it.
func (m *mover) watched(n int) bool { return m.threshold > 0 && n > m.threshold/2 }

// goesOn reports whether a text begins as one before it does and has little of its
// own.
func (m *mover) goesOn(s string) bool {
	if len(s) > m.repeats {
		return false
	}
	at, found := len(m.before)-1, false
	for i, old := range m.before {
		if common := commonPrefix(s, old); common > 0 && len(s)-common < m.threshold {
			at, found = i, true
			break
		}
	}
	copy(m.before[1:], m.before[:at])
	m.before[0] = s
	return found
}

// commonPrefix is how many bytes two texts begin with alike, to the block.
func commonPrefix(a, b string) (n int) {
	const block = 1024
	for n+block <= min(len(a), len(b)) && a[n:n+block] == b[n:n+block] {
		n += block
	}
	return n
}

func (m *mover) Value(at *walk.Path, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		if s := v.Str(); m.watched(len(s)) || strings.HasPrefix(s, prefix) {
			v.SetStr(m.text(at, s))
		}
	case pcommon.ValueTypeBytes:
		if b := v.Bytes(); m.over(b.Len()) || bytesHavePrefix(b) {
			b.FromRaw([]byte(m.text(at, string(b.AsRaw()))))
		}
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		// Parts of an attribute are not structures of their own, save where
		// the walk ends.
		if d := at.Depth(); d <= 1 || d >= walk.MaxDepth {
			return !m.structure(at, v)
		}
	}
	return true
}

// structure moves a whole map or array whose small parts add up to more than
// the threshold; single large leaves leave on their own.
func (m *mover) structure(at *walk.Path, v pcommon.Value) bool {
	if m.threshold <= 0 || smallSize(v, m.threshold, 0) <= m.threshold {
		return false
	}
	e := newEnvelope()
	v.MoveTo(e.value)
	data, err := e.marshal()
	if err != nil {
		m.fail(at, err)
		e.value.MoveTo(v)
		return false
	}
	b := Body{refOf(data, MediaValue), data}
	if !m.move(at, b) {
		e.value.MoveTo(v)
		return false
	}
	v.SetStr(b.String())
	return true
}

func (m *mover) move(at *walk.Path, b Body) bool {
	if !m.done[b.Ref] {
		if err := m.put(b); err != nil {
			m.fail(at, err)
			return false
		}
		if m.done == nil {
			m.done = map[Ref]bool{}
		}
		m.done[b.Ref] = true
	}
	m.stats.Bodies++
	m.stats.Bytes += b.Bytes
	return true
}

func (m *mover) fail(at *walk.Path, err error) {
	m.stats.Failed++
	if len(m.errs) < maxErrors {
		m.errs = append(m.errs, fmt.Errorf("offload %s: %w", at, err))
	}
}

func bytesHavePrefix(b pcommon.ByteSlice) bool {
	if b.Len() < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if b.At(i) != prefix[i] {
			return false
		}
	}
	return true
}
