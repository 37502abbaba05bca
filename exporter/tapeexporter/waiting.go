package tapeexporter

import (
	"encoding/hex"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// waiting knows the runs that were taken in and of which nothing is stored yet, so
// that the API can say that they are on their way. It holds no more runs than the
// queue does. What a queue on disk held before a restart it does not know.
type waiting struct {
	// giveUp is how long a run that failed is tried again, 0 for ever; after that it
	// is dropped, and nobody is told here.
	giveUp time.Duration
	now    func() time.Time

	mu sync.Mutex
	// failed is when a run failed first, zero for those that did not.
	failed map[pcommon.TraceID]time.Time
	swept  time.Time
}

func newWaiting(giveUp time.Duration, now func() time.Time) *waiting {
	return &waiting{giveUp: giveUp, now: now, failed: map[pcommon.TraceID]time.Time{}, swept: now()}
}

// add says that runs were taken in.
func (w *waiting) add(ids []pcommon.TraceID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if _, ok := w.failed[id]; !ok {
			w.failed[id] = time.Time{}
		}
	}
	if w.giveUp > 0 && w.now().Sub(w.swept) > w.giveUp {
		for id, since := range w.failed {
			if w.over(since) {
				delete(w.failed, id)
			}
		}
		w.swept = w.now()
	}
}

// done says that runs are stored, or never will be.
func (w *waiting) done(ids []pcommon.TraceID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		delete(w.failed, id)
	}
}

// fail says that runs are to be tried again.
func (w *waiting) fail(ids []pcommon.TraceID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if w.failed[id].IsZero() {
			w.failed[id] = w.now()
		}
	}
}

// has reports whether a run is on its way.
func (w *waiting) has(traceID string) bool {
	var id pcommon.TraceID
	raw, err := hex.DecodeString(traceID)
	if err != nil || copy(id[:], raw) != len(id) || len(raw) != len(id) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	since, ok := w.failed[id]
	return ok && !w.over(since)
}

func (w *waiting) over(since time.Time) bool {
	return w.giveUp > 0 && !since.IsZero() && w.now().Sub(since) > w.giveUp
}

// runsOf lists the runs of a request. Spans of one run mostly follow one another, and
// are then listed once.
func runsOf(td ptrace.Traces) []pcommon.TraceID {
	var ids []pcommon.TraceID
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if id := span.TraceID(); len(ids) == 0 || id != ids[len(ids)-1] {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}
