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
	failed map[runKey]time.Time
	swept  time.Time
}

// runKey tells the runs of tenants apart: one must not learn of those of another.
type runKey struct {
	tenant string
	id     pcommon.TraceID
}

func newWaiting(giveUp time.Duration, now func() time.Time) *waiting {
	return &waiting{giveUp: giveUp, now: now, failed: map[runKey]time.Time{}, swept: now()}
}

// add says that runs were taken in.
func (w *waiting) add(runs []runKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range runs {
		if _, ok := w.failed[run]; !ok {
			w.failed[run] = time.Time{}
		}
	}
	if w.giveUp > 0 && w.now().Sub(w.swept) > w.giveUp {
		for run, since := range w.failed {
			if w.over(since) {
				delete(w.failed, run)
			}
		}
		w.swept = w.now()
	}
}

// done says that runs are stored, or never will be.
func (w *waiting) done(runs []runKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range runs {
		delete(w.failed, run)
	}
}

// fail says that runs are to be tried again.
func (w *waiting) fail(runs []runKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range runs {
		if w.failed[run].IsZero() {
			w.failed[run] = w.now()
		}
	}
}

// has reports whether a run of the tenant is on its way.
func (w *waiting) has(tenant, traceID string) bool {
	var id pcommon.TraceID
	raw, err := hex.DecodeString(traceID)
	if err != nil || copy(id[:], raw) != len(id) || len(raw) != len(id) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	since, ok := w.failed[runKey{tenant, id}]
	return ok && !w.over(since)
}

func (w *waiting) over(since time.Time) bool {
	return w.giveUp > 0 && !since.IsZero() && w.now().Sub(since) > w.giveUp
}

// runsOf lists the runs of a request. Spans of one run mostly follow one another, and
// are then listed once.
func runsOf(td ptrace.Traces, tenantOf func(pcommon.Resource) string) []runKey {
	var runs []runKey
	for _, rs := range td.ResourceSpans().All() {
		tenant := tenantOf(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if run := (runKey{tenant, span.TraceID()}); len(runs) == 0 || run != runs[len(runs)-1] {
					runs = append(runs, run)
				}
			}
		}
	}
	return runs
}
