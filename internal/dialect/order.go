package dialect

import (
	"container/heap"
	"slices"
)

// order puts calls into recorded order: by start, ties by span id, but never a
// call before the call it is part of, the model call that asked for it, or
// after the model call that was told its outcome. Clocks of several machines
// differ; causes do not.
func (r *run) order(calls []*node) []*node {
	slices.SortStableFunc(calls, compareNodes)
	at := make(map[*node]int, len(calls))
	for i, n := range calls {
		at[n] = i
	}
	blocks := make([][]int, len(calls))
	waits := make([]int, len(calls))
	before := func(a *node, b int) {
		if i, ok := at[a]; ok && i != b {
			blocks[i] = append(blocks[i], b)
			waits[b]++
		}
	}
	for i, n := range calls {
		for up := n.near; up != nil; up = up.near {
			if _, ok := at[up]; ok {
				before(up, i)
				break
			}
		}
		if n.asked == nil {
			continue
		}
		before(n.asked.model, i)
		if by, ok := at[n.asked.by]; ok {
			before(n, by)
		}
	}
	ready := &indexHeap{}
	for i, w := range waits {
		if w == 0 {
			heap.Push(ready, i)
		}
	}
	out := make([]*node, 0, len(calls))
	done := make([]bool, len(calls))
	next := 0
	for len(out) < len(calls) {
		if ready.Len() == 0 {
			// Causes that go in a circle are no causes: go on by the clock.
			for done[next] {
				next++
			}
			heap.Push(ready, next)
		}
		i := heap.Pop(ready).(int)
		if done[i] {
			continue
		}
		done[i] = true
		out = append(out, calls[i])
		for _, b := range blocks[i] {
			if waits[b]--; waits[b] == 0 && !done[b] {
				heap.Push(ready, b)
			}
		}
	}
	return out
}

type indexHeap []int

func (h indexHeap) Len() int           { return len(h) }
func (h indexHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h indexHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *indexHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// completion numbers the calls by end, 1-based; 0 for those without an end.
func completion(calls []*node) map[*node]int {
	ended := make([]*node, 0, len(calls))
	for _, n := range calls {
		if n.end != 0 {
			ended = append(ended, n)
		}
	}
	slices.SortStableFunc(ended, func(a, b *node) int {
		switch {
		case a.end != b.end && a.end < b.end:
			return -1
		case a.end != b.end:
			return 1
		}
		return compareNodes(a, b)
	})
	out := make(map[*node]int, len(ended))
	for i, n := range ended {
		out[n] = i + 1
	}
	return out
}
