package recorder

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// texts bounds the memory of the tables of all runs together: those that were not
// used for longest are emptied. Runs without long texts are not in here.
type texts struct {
	limit int64
	bytes atomic.Int64

	mu    sync.Mutex
	order list.List
	byRun map[*run]*list.Element
}

type tableEntry struct {
	rn   *run
	size int
}

// used notes the size of a table after its use by the run's owner. It returns the
// runs whose tables have to go.
func (t *texts) used(rn *run) (victims []*run) {
	size := rn.table.Size()
	if size == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byRun == nil {
		t.byRun = map[*run]*list.Element{}
	}
	e := t.byRun[rn]
	if e == nil {
		e = t.order.PushBack(&tableEntry{rn: rn})
		t.byRun[rn] = e
	}
	t.order.MoveToBack(e)
	entry := e.Value.(*tableEntry)
	total := t.bytes.Add(int64(size - entry.size))
	entry.size = size
	for e := t.order.Front(); e != nil && total > t.limit; e = e.Next() {
		old := e.Value.(*tableEntry)
		total -= int64(old.size)
		victims = append(victims, old.rn)
	}
	return victims
}

// forget empties the table of a run that the caller owns.
func (t *texts) forget(rn *run) {
	if rn.table.Size() == 0 {
		return
	}
	rn.table.Forget()
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byRun[rn]; e != nil {
		t.bytes.Add(-int64(e.Value.(*tableEntry).size))
		t.order.Remove(e)
		delete(t.byRun, rn)
	}
}

// remember notes that a run's table was used, and makes others forget theirs if
// that is too much. Tables of runs that somebody works on stay: they come next time.
func (r *Recorder) remember(rn *run) {
	for _, old := range r.texts.used(rn) {
		if old == rn {
			r.texts.forget(rn)
			continue
		}
		s := r.shard(old.id)
		s.mu.Lock()
		if !old.busy {
			r.texts.forget(old)
		}
		s.mu.Unlock()
	}
}
