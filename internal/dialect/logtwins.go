package dialect

import (
	"slices"
	"strings"
)

// logSlack is how far apart two records about one call may be written.
const logSlack = 10_000_000

// maxOverlap bounds how many calls are looked at to find one of the same time.
const maxOverlap = 256

// logIndex finds the call that a call known from a log record is.
type logIndex struct {
	// byTime are the calls in order of start.
	byTime []*node
	byID   map[string][]*node
	// absorbed are the events a call has been told by: a second of the same name
	// is about another call.
	absorbed map[*node]map[string]bool
}

func newLogIndex(calls []*node) *logIndex {
	ix := &logIndex{byTime: calls, byID: map[string][]*node{}, absorbed: map[*node]map[string]bool{}}
	for _, n := range calls {
		ix.addIDs(n)
	}
	return ix
}

func (ix *logIndex) addIDs(n *node) {
	for _, id := range [...]string{n.call.ID, n.call.RequestID} {
		if id != "" {
			ix.byID[id] = append(ix.byID[id], n)
		}
	}
}

func (ix *logIndex) add(n *node) {
	ix.byTime = slices.Insert(ix.byTime, ix.after(n.start), n)
	ix.addIDs(n)
}

// after is the place of the first call that starts later.
func (ix *logIndex) after(when int64) int {
	at, _ := slices.BinarySearchFunc(ix.byTime, when, func(n *node, when int64) int {
		if n.start > when {
			return 1
		}
		return -1
	})
	return at
}

func (ix *logIndex) absorb(n *node, event string) {
	if ix.absorbed[n] == nil {
		ix.absorbed[n] = map[string]bool{}
	}
	ix.absorbed[n][event] = true
}

// twin is the call that n is: the one its record is joined to, of its id, or of
// its name or model at the same time. nil for none.
func (ix *logIndex) twin(n *node) *node {
	if n.on != nil && n.on.kind == n.kind {
		return n.on
	}
	for _, id := range [...]string{n.call.ID, n.call.RequestID} {
		for _, o := range ix.byID[id] {
			if o.kind == n.kind && !ix.absorbed[o][n.log.event] {
				return o
			}
		}
	}
	from := ix.after(n.end + logSlack)
	for i := from - 1; i >= max(0, from-maxOverlap); i-- {
		if o := ix.byTime[i]; o.kind == n.kind && !ix.absorbed[o][n.log.event] && o.end >= n.start-logSlack && sameLogCall(o, n) {
			return o
		}
	}
	return nil
}

// sameLogCall reports whether nothing that two readings say differs.
func sameLogCall(x, y *node) bool {
	a, b := x.call, y.call
	if p, q := x.log.spanID(), y.log.spanID(); !p.IsEmpty() && !q.IsEmpty() && p != q {
		return false
	}
	if a.ID != "" && b.ID != "" || a.RequestID != "" && b.RequestID != "" {
		return false
	}
	if a.Kind == KindTool {
		return sameName(a.Tool, b.Tool) && sameArgs(a.Args, b.Args)
	}
	return a.Model == "" || b.Model == "" || strings.HasPrefix(a.Model, b.Model) || strings.HasPrefix(b.Model, a.Model) || a.ResponseModel == b.Model
}
