package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

// deck is a tape made ready to answer: every question about a call is a look
// into a map, whatever the length of the tape. It is guarded by its session.
type deck struct {
	steps  []step
	byKey  map[callKey]*queue
	byTool map[toolKey]*queue
	// spellings finds what is spelled as on the tape; it does not change.
	spellings spellings
	// asSpelled: records of a kind have arguments that redaction leaves alone.
	asSpelled map[tape.Kind]bool
	// tools lists the keys of byTool in the order in which they appear.
	tools []toolKey
	// effects says of which tools the tape knows whether they have side effects.
	effects map[string]bool
	// first is the first step that may be unconsumed.
	first      int
	unconsumed int
	// latestBegin is the latest begin of all steps served so far.
	latestBegin int64
	// ran holds the calls that ran live and were appended, used up by their own
	// caller.
	ran   map[callKey]ranLive
	aside aside
}

type ranLive struct{ times, lastSeq int }

// callKey holds the tool too, since keys begin with it.
type callKey struct {
	kind tape.Kind
	key  string
}

type toolKey struct {
	kind tape.Kind
	tool string
}

// step is a record with what matching needs to know of it.
type step struct {
	record *tape.Record
	// seq is the record's position, or its place on the tape if it has none.
	seq int
	// key is over the arguments as this session redacts them.
	key string
	// begin and end are the recorded times in nanoseconds, or the place on the
	// tape where times are not known.
	begin, end int64
	// argsGap and resultGap say what of the record was never captured.
	argsGap, resultGap *tape.Gap
	redacted           bool
	expires            time.Time
	// queue is that of its key.
	queue *queue
	// asSpelled: a call in the very words of the record has its key.
	asSpelled bool
	consumed  bool
}

// queue lists steps in recorded order; head is the first that may be
// unconsumed.
type queue struct {
	steps []int
	head  int
	// first is the memory of steps as long as there is one, as for most keys.
	first [1]int
	// asSpelled: one of the steps of this key has arguments that redaction leaves alone.
	asSpelled bool
}

// load makes a deck of a tape. A trusted tape was redacted by the policy; another
// may come from a recorder that redacts nothing: what it recorded is redacted here
// as live arguments are, or calls with a secret in them would never match.
func load(t *tape.Tape, policy *redact.Policy, trusted bool, c *config) (*deck, error) {
	d := &deck{
		steps:       make([]step, 0, len(t.Records)),
		byKey:       make(map[callKey]*queue, len(t.Records)),
		byTool:      map[toolKey]*queue{},
		effects:     map[string]bool{},
		asSpelled:   map[tape.Kind]bool{},
		spellings:   make(spellings, len(t.Records)),
		latestBegin: math.MinInt64,
		ran:         map[callKey]ranLive{},
	}
	gaps := gapsBySeq(t.Manifest)
	timed := allTimed(t.Records)
	for i := range t.Records {
		r := &t.Records[i]
		if len(c.kinds) > 0 && !slices.Contains(c.kinds, r.KindOf()) {
			continue
		}
		st := step{record: r, seq: r.Seq, key: r.Key, begin: int64(i), end: int64(i)}
		if st.seq < 1 {
			st.seq = i + 1
		}
		if timed {
			st.times(r)
		}
		st.argsGap, st.resultGap = missing(r, gaps[r.Seq], c.bodies)
		if err := st.setKey(r, policy, trusted, c); err != nil {
			return nil, fmt.Errorf("record %d: member \"args\": %w", st.seq, err)
		}
		st.redacted = servesPlaceholder(r)
		if r.Expires != "" {
			expires, err := time.Parse(time.RFC3339Nano, r.Expires)
			if err != nil {
				return nil, fmt.Errorf("record %d: member \"expires\": %w", st.seq, err)
			}
			st.expires = expires
		}
		d.aside.last = max(d.aside.last, st.seq)
		if c.runsLive(&st) {
			d.setAside(&st)
			continue
		}
		d.aside.prefixEnd = max(d.aside.prefixEnd, st.end)
		d.add(st)
	}
	return d, nil
}

func (d *deck) add(st step) {
	i, r := len(d.steps), st.record
	d.steps = append(d.steps, st)
	d.unconsumed++
	if r.SideEffect != nil {
		d.effects[r.Tool] = d.effects[r.Tool] || *r.SideEffect
	}
	d.steps[i].queue = push(d.byKey, callKey{r.KindOf(), st.key}, i)
	at := toolKey{r.KindOf(), r.Tool}
	if d.byTool[at] == nil {
		d.tools = append(d.tools, at)
	}
	push(d.byTool, at, i)
	if st.asSpelled && st.argsGap == nil {
		d.spellings.note(&st, i)
		d.steps[i].queue.asSpelled, d.asSpelled[r.KindOf()] = true, true
	}
}

func push[K comparable](m map[K]*queue, at K, i int) *queue {
	q := m[at]
	if q == nil {
		q = &queue{}
		q.steps = q.first[:0]
		m[at] = q
	}
	q.steps = append(q.steps, i)
	return q
}

func (st *step) setKey(r *tape.Record, policy *redact.Policy, trusted bool, c *config) error {
	args := r.Args
	if c.forms[r.KindOf()] != nil {
		recorded, err := c.recordArgs(r)
		if err != nil {
			// The rest of the tape can be replayed.
			st.argsGap = &tape.Gap{What: "args", Why: err.Error()}
			return nil //nolint:nilerr // It is the verdict on a call that needs it.
		}
		if args, err = c.formed(r.KindOf(), recorded); err != nil {
			return err
		}
		args, _ = policy.JSON(args)
	} else {
		switch {
		case argsBody(r) != nil && r.Key != "":
			return nil
		case trusted && r.Key != "":
			st.asSpelled = true
			return nil
		case !trusted:
			var hits []redact.Hit
			args, hits = policy.JSON(args)
			st.asSpelled = len(hits) == 0
		}
	}
	key, err := tape.Key(r.Tool, args)
	st.key = key
	return err
}

func (st *step) times(r *tape.Record) {
	// allTimed has parsed it.
	start, _ := time.Parse(time.RFC3339Nano, r.Start)
	st.begin = start.UnixNano()
	st.end = st.begin + int64(max(0, r.MS)*float64(time.Millisecond))
}

// allTimed reports whether every record says when it began; times of some only
// cannot be compared.
func allTimed(records []tape.Record) bool {
	for i := range records {
		if _, err := time.Parse(time.RFC3339Nano, records[i].Start); err != nil {
			return false
		}
	}
	return true
}

// servesPlaceholder reports whether the answer has a placeholder or a surrogate
// in it.
func servesPlaceholder(r *tape.Record) bool {
	if redact.Redacted(string(r.Result)) {
		return true
	}
	for _, path := range r.Redacted {
		if strings.HasPrefix(path, "result") || strings.HasPrefix(path, "error") {
			return true
		}
	}
	return false
}

// head returns the first unconsumed step of a queue, -1 if there is none.
func (d *deck) head(q *queue) int {
	if q == nil {
		return -1
	}
	for ; q.head < len(q.steps); q.head++ {
		if i := q.steps[q.head]; !d.steps[i].consumed {
			return i
		}
	}
	return -1
}

// next returns the first unconsumed step of the tape, -1 if there is none.
func (d *deck) next() int {
	for ; d.first < len(d.steps); d.first++ {
		if !d.steps[d.first].consumed {
			return d.first
		}
	}
	return -1
}

// consume takes a step off the tape and reports whether it came out of order.
func (d *deck) consume(i int) (reordered bool) {
	st := &d.steps[i]
	st.consumed = true
	d.unconsumed--
	reordered = st.end <= d.latestBegin && st.begin < d.latestBegin
	d.latestBegin = max(d.latestBegin, st.begin)
	return reordered
}

// served returns how many records, all consumed, had a key, and the last.
// The records of same count too.
func (d *deck) served(at callKey, same *queue) (times, lastSeq int) {
	q := d.byKey[at]
	if q == nil {
		q = same
	}
	if q != nil && d.head(q) < 0 {
		times = len(q.steps)
		lastSeq = d.steps[q.steps[times-1]].seq
	}
	if ran, ok := d.ran[at]; ok {
		times += ran.times
		lastSeq = ran.lastSeq
	}
	return times, lastSeq
}

// noteLive notes a call that ran live and was appended.
func (d *deck) noteLive(at callKey, seq int) {
	d.ran[at] = ranLive{times: d.ran[at].times + 1, lastSeq: seq}
}
