package replay

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gate lets answers out in the order in which their calls completed when they
// were recorded.
type gate struct {
	guard time.Duration

	mu sync.Mutex
	// order lists the done numbers on the tape, ascending; all before next are
	// out, or given up.
	order []int
	next  int
	out   map[int]bool
	// waiting is closed and replaced whenever next moves.
	waiting chan struct{}
	// overdue counts answers let out by the guard.
	overdue int
}

func newGate(d *deck, guard time.Duration) *gate {
	g := &gate{guard: guard, out: map[int]bool{}, waiting: make(chan struct{})}
	for i := range d.steps {
		if done := d.steps[i].record.Done; done > 0 {
			g.order = append(g.order, done)
		}
	}
	slices.Sort(g.order)
	g.order = slices.Compact(g.order)
	return g
}

// spacing is how long an answer that was held back follows the one before it,
// so that the caller of that one is the first to go on.
const spacing = time.Millisecond

// wait returns once every call that completed before done is out. It returns
// early when ctx ends, or when nothing came out for as long as the guard: then
// the calls it waited for are not waited for again.
func (g *gate) wait(ctx context.Context, done int) error {
	if done <= 0 {
		return nil
	}
	defer g.release(done)
	timer := time.NewTimer(g.guard)
	defer timer.Stop()
	for held := false; ; held = true {
		g.mu.Lock()
		waiting := g.waiting
		ready := g.next == len(g.order) || g.order[g.next] >= done
		g.mu.Unlock()
		if ready {
			if held {
				time.Sleep(spacing)
			}
			return nil
		}
		select {
		case <-waiting:
			timer.Reset(g.guard)
		case <-timer.C:
			g.giveUp(done)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release notes that the call which completed as number done is out.
func (g *gate) release(done int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == len(g.order) || done < g.order[g.next] {
		return
	}
	g.out[done] = true
	moved := false
	for g.next < len(g.order) && g.out[g.order[g.next]] {
		delete(g.out, g.order[g.next])
		g.next++
		moved = true
	}
	if moved {
		g.signal()
	}
}

// giveUp stops waiting for everything before done.
func (g *gate) giveUp(done int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next < len(g.order) && g.order[g.next] < done {
		g.overdue++
	}
	for g.next < len(g.order) && g.order[g.next] < done {
		delete(g.out, g.order[g.next])
		g.next++
	}
	g.signal()
}

// open lets everything out, now and from now on.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next = len(g.order)
	clear(g.out)
	g.signal()
}

func (g *gate) signal() {
	close(g.waiting)
	g.waiting = make(chan struct{})
}

func (g *gate) overdueCount() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.overdue
}
