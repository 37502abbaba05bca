package recorder

import (
	"container/heap"
	"sync"
)

// shard is a part of the index: the runs whose ids fall to it, by id, by time and
// by age, under one lock. Nothing is read, written, decided or handed on under it.
type shard struct {
	mu   sync.Mutex
	runs map[ID]*run
	due  schedule
	// open are the undecided runs in the order of their first span, held the
	// decided ones of which the spool still has the spans, in that of their
	// decision.
	open, held queue
	// gone are the decisions about runs of which nothing is left, goneIDs their
	// ids in the order of the decisions: a ring once it is full.
	gone    map[ID]fate
	goneIDs []ID
	oldest  int
}

func newShard() *shard {
	return &shard{runs: map[ID]*run{}, gone: map[ID]fate{}}
}

// queue links runs by themselves.
type queue struct {
	first, last *run
	n           int
}

func (l *queue) push(rn *run) {
	rn.prev, rn.next = l.last, nil
	if l.last == nil {
		l.first = rn
	} else {
		l.last.next = rn
	}
	l.last = rn
	l.n++
}

func (l *queue) remove(rn *run) {
	if rn.prev == nil {
		l.first = rn.next
	} else {
		rn.prev.next = rn.next
	}
	if rn.next == nil {
		l.last = rn.prev
	} else {
		rn.next.prev = rn.prev
	}
	rn.prev, rn.next = nil, nil
	l.n--
}

// free is the first run of the list that nobody owns and that pass lets through.
func (l *queue) free(pass func(*run) bool) *run {
	for rn := l.first; rn != nil; rn = rn.next {
		if !rn.busy && pass(rn) {
			return rn
		}
	}
	return nil
}

// create adds a run without spans.
func (s *shard) create(id ID) *run {
	rn := &run{id: id, due: -1}
	s.runs[id] = rn
	return rn
}

// begin puts a run among the open ones.
func (s *shard) begin(rn *run) {
	rn.state = stateOpen
	s.move(rn, &s.open)
}

// move puts a run into a list, out of the one it is in; nil is none.
func (s *shard) move(rn *run, to *queue) {
	if rn.in != nil {
		rn.in.remove(rn)
	}
	if rn.in = to; to != nil {
		to.push(rn)
	}
}

// drop takes a run out of the index.
func (s *shard) drop(rn *run) {
	s.schedule(rn, 0)
	s.move(rn, nil)
	delete(s.runs, rn.id)
}

// remember notes the decision about a run of which nothing is left and returns the
// one that has to be forgotten for it.
func (s *shard) remember(id ID, f fate, limit int) (forgotten ID, full bool) {
	if _, known := s.gone[id]; known {
		s.gone[id] = f
		return ID{}, false
	}
	s.gone[id] = f
	if len(s.goneIDs) < limit {
		s.goneIDs = append(s.goneIDs, id)
		return ID{}, false
	}
	forgotten = s.goneIDs[s.oldest]
	s.goneIDs[s.oldest] = id
	s.oldest = (s.oldest + 1) % len(s.goneIDs)
	// A decision that was taken back has left its id here.
	_, full = s.gone[forgotten]
	delete(s.gone, forgotten)
	return forgotten, full
}

// schedule sets the time at which a run is due; 0 takes it out.
func (s *shard) schedule(rn *run, at int64) {
	rn.at = at
	switch {
	case at == 0 && rn.due >= 0:
		heap.Remove(&s.due, int(rn.due))
	case at == 0:
	case rn.due < 0:
		heap.Push(&s.due, rn)
	default:
		heap.Fix(&s.due, int(rn.due))
	}
}

// pop takes a run out of the schedule whose time has come, nil when there is none.
func (s *shard) pop(now int64) *run {
	if len(s.due) == 0 || s.due[0].at > now {
		return nil
	}
	return heap.Pop(&s.due).(*run)
}

// own makes the caller the owner of a run that nobody owns.
func (s *shard) own(rn *run) { rn.busy = true }

// release ends that. A run that was made for spans which did not get in goes.
func (s *shard) release(rn *run) {
	rn.busy = false
	if rn.wait != nil {
		close(rn.wait)
		rn.wait = nil
	}
	if rn.state == stateNew {
		delete(s.runs, rn.id)
	}
}

// waiting is closed when the owner of a run is done with it.
func (rn *run) waiting() <-chan struct{} {
	if rn.wait == nil {
		rn.wait = make(chan struct{})
	}
	return rn.wait
}

// schedule is a heap of runs by time.
type schedule []*run

func (d schedule) Len() int           { return len(d) }
func (d schedule) Less(i, j int) bool { return d[i].at < d[j].at }
func (d schedule) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].due, d[j].due = int32(i), int32(j)
}

func (d *schedule) Push(x any) {
	rn := x.(*run)
	rn.due = int32(len(*d))
	*d = append(*d, rn)
}

func (d *schedule) Pop() any {
	old := *d
	rn := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	rn.due = -1
	return rn
}
