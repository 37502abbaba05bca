package recorder

import (
	"container/heap"
	"container/list"
	"time"

	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/tape"
)

type state uint8

const (
	stateOpen state = iota
	// stateDeciding: somebody is deciding; busy is closed when that is over.
	stateDeciding
	stateKept
	stateSummarised
	stateLetGo
	stateDropped
)

// run is what is known about a trace id. After the decision it stays as a few
// words for late spans.
type run struct {
	id    buffer.ID
	state state
	// held: the run is summarised and its spans are still in the buffer.
	held bool

	first, last time.Time
	// rooted is when a span without parent came.
	rooted time.Time
	spans  int
	// records are log records.
	records int
	bytes   int64

	// forced is the trigger of a decision that could not be handed on. Whatever
	// the trigger was, the run is not decided again before retry.
	forced   tape.Trigger
	retry    time.Time
	attempts int

	outcome tape.Outcome
	trigger tape.Trigger

	// callIDs are the calls that the log records of a session's run name.
	callIDs []string
	// session: some of its records came without a trace.
	session bool
	kin     kin

	busy chan struct{}

	deadline time.Time
	heapAt   int
	// place is the run's element in the list of open or of decided runs.
	place *list.Element
	// heldAt is its element in the list of held runs.
	heldAt *list.Element
}

func (r *run) amount() Amount { return Amount{r.spans, r.records} }

// index finds runs by id, by deadline and by age. It is not safe for concurrent
// use; the recorder's lock guards it.
type index struct {
	// byCall finds the open run whose log records name a call.
	byCall map[string]*run
	// bySession and bySpanCall find the runs whose spans name a session, by the id
	// of its run, or a call.
	bySession  map[buffer.ID][]*run
	bySpanCall map[string][]*run
	runs       map[buffer.ID]*run
	due        deadlines
	undecided  *list.List
	decided    *list.List
	held       *list.List
}

func newIndex() index {
	return index{
		byCall:     make(map[string]*run),
		bySession:  make(map[buffer.ID][]*run),
		bySpanCall: make(map[string][]*run),
		runs:       make(map[buffer.ID]*run),
		undecided:  list.New(),
		decided:    list.New(),
		held:       list.New(),
	}
}

func (x *index) get(id buffer.ID) *run { return x.runs[id] }

func (x *index) openRuns() int { return x.undecided.Len() }

func (x *index) open(id buffer.ID, now time.Time) *run {
	rn := &run{id: id, first: now, last: now, heapAt: -1}
	x.runs[id] = rn
	rn.place = x.undecided.PushBack(rn)
	return rn
}

func (x *index) oldestOpen(now time.Time) *run {
	for e := x.undecided.Front(); e != nil; e = e.Next() {
		// A run whose decision waits for its retry would fail again at once.
		if rn := e.Value.(*run); rn.state == stateOpen && !rn.retry.After(now) {
			return rn
		}
	}
	return nil
}

func (x *index) oldestHeld() *run {
	for e := x.held.Front(); e != nil; e = e.Next() {
		if rn := e.Value.(*run); rn.state == stateSummarised {
			return rn
		}
	}
	return nil
}

// schedule sets the time at which the run is due.
func (x *index) schedule(rn *run, at time.Time) {
	rn.deadline = at
	if rn.heapAt < 0 {
		heap.Push(&x.due, rn)
		return
	}
	heap.Fix(&x.due, rn.heapAt)
}

func (x *index) unschedule(rn *run) {
	if rn.heapAt >= 0 {
		heap.Remove(&x.due, rn.heapAt)
	}
}

// popDue takes a run out of the schedule whose time has come.
func (x *index) popDue(now time.Time) *run {
	if len(x.due) == 0 || x.due[0].deadline.After(now) {
		return nil
	}
	return heap.Pop(&x.due).(*run)
}

// settle moves a run from the open to the decided ones and forgets the oldest
// decisions over limit, which it returns.
func (x *index) settle(rn *run, limit int) (forgotten []*run) {
	x.unschedule(rn)
	x.unname(rn)
	if rn.place != nil {
		x.undecided.Remove(rn.place)
	}
	rn.place = x.decided.PushBack(rn)
	for x.decided.Len() > limit {
		old := x.decided.Front().Value.(*run)
		if old.state == stateDeciding {
			// Being decided again after a late failure: the next oldest goes when
			// that is over.
			break
		}
		x.remove(old)
		forgotten = append(forgotten, old)
	}
	return forgotten
}

// hold notes that a summarised run's spans stay in the buffer until a time.
func (x *index) hold(rn *run, until time.Time) {
	rn.held = true
	if rn.heldAt == nil {
		rn.heldAt = x.held.PushBack(rn)
	}
	x.schedule(rn, until)
}

// release notes that a held run's spans are no longer in the buffer.
func (x *index) release(rn *run) {
	rn.held = false
	if rn.heldAt != nil {
		x.held.Remove(rn.heldAt)
		rn.heldAt = nil
	}
	x.unschedule(rn)
}

// names notes the calls that log records of an open run name.
func (x *index) names(rn *run, callIDs []string) {
	for _, id := range callIDs {
		x.byCall[id] = rn
	}
	rn.callIDs = append(rn.callIDs, callIDs...)
}

// unname forgets them.
func (x *index) unname(rn *run) {
	for _, id := range rn.callIDs {
		if x.byCall[id] == rn {
			delete(x.byCall, id)
		}
	}
	rn.callIDs = nil
}

// forget drops an open run of which nothing is left.
func (x *index) forget(rn *run) {
	x.unrelate(rn)
	x.unname(rn)
	delete(x.runs, rn.id)
	x.undecided.Remove(rn.place)
	rn.place = nil
	x.unschedule(rn)
}

// remove forgets a decided run.
func (x *index) remove(rn *run) {
	x.unrelate(rn)
	delete(x.runs, rn.id)
	if rn.place != nil {
		x.decided.Remove(rn.place)
		rn.place = nil
	}
	if rn.heldAt != nil {
		x.held.Remove(rn.heldAt)
		rn.heldAt = nil
	}
	x.unschedule(rn)
}

// deadlines is a heap of runs by deadline.
type deadlines []*run

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].deadline.Before(d[j].deadline) }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].heapAt, d[j].heapAt = i, j
}

func (d *deadlines) Push(x any) {
	rn := x.(*run)
	rn.heapAt = len(*d)
	*d = append(*d, rn)
}

func (d *deadlines) Pop() any {
	old := *d
	rn := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	rn.heapAt = -1
	return rn
}
