package diff

import "sort"

// maxCells bounds the table of an exact comparison. Larger windows are first cut
// at symbols that occur once on both sides.
const maxCells = 1 << 20

// window is a part of either side, from and to.
type window struct{ al, ah, bl, bh int }

func (w window) empty() bool { return w.al == w.ah || w.bl == w.bh }

func (w window) cells() int { return (w.ah - w.al) * (w.bh - w.bl) }

// aligner pairs equal symbols of two sequences in order.
type aligner struct {
	a, b []int
	// pair is the partner in b of each of a, -1 for none.
	pair []int
	// table is used again from window to window.
	table []uint16
	open  []window
}

// align pairs as many equal symbols of a and b as it can without crossing: the
// longest common subsequence, exactly where that is affordable.
func align(a, b []int) []int {
	x := &aligner{a: a, b: b, pair: make([]int, len(a))}
	for i := range x.pair {
		x.pair[i] = -1
	}
	x.open = append(x.open, window{0, len(a), 0, len(b)})
	for len(x.open) > 0 {
		w := x.open[len(x.open)-1]
		x.open = x.open[:len(x.open)-1]
		x.window(w)
	}
	return x.pair
}

func (x *aligner) window(w window) {
	for !w.empty() && x.a[w.al] == x.b[w.bl] {
		x.pair[w.al] = w.bl
		w.al, w.bl = w.al+1, w.bl+1
	}
	for !w.empty() && x.a[w.ah-1] == x.b[w.bh-1] {
		w.ah, w.bh = w.ah-1, w.bh-1
		x.pair[w.ah] = w.bh
	}
	switch {
	case w.empty():
	case w.cells() <= maxCells:
		x.exact(w)
	default:
		x.cut(w)
	}
}

// exact fills the table of lengths from the end and walks it from the start, so
// that among equals the earliest pairs win.
func (x *aligner) exact(w window) {
	n, m := w.ah-w.al, w.bh-w.bl
	// A length is at most the shorter side, and so below 2^16 by maxCells.
	if need := (n + 1) * (m + 1); cap(x.table) < need {
		x.table = make([]uint16, need)
	} else {
		x.table = x.table[:need]
		clear(x.table)
	}
	row := m + 1
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if x.a[w.al+i] == x.b[w.bl+j] {
				x.table[i*row+j] = x.table[(i+1)*row+j+1] + 1
			} else {
				x.table[i*row+j] = max(x.table[(i+1)*row+j], x.table[i*row+j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case x.a[w.al+i] == x.b[w.bl+j]:
			x.pair[w.al+i] = w.bl + j
			i, j = i+1, j+1
		case x.table[(i+1)*row+j] >= x.table[i*row+j+1]:
			i++
		default:
			j++
		}
	}
}

// cut pairs the symbols that occur once on both sides, as far as they do not
// cross, and leaves the windows between them to be aligned. Where there are none,
// the n-th of a symbol goes with the n-th.
func (x *aligner) cut(w window) {
	type places struct{ inA, inB, a, b int }
	at := map[int]*places{}
	for i := w.al; i < w.ah; i++ {
		p := at[x.a[i]]
		if p == nil {
			p = &places{}
			at[x.a[i]] = p
		}
		p.inA, p.a = p.inA+1, i
	}
	for j := w.bl; j < w.bh; j++ {
		if p := at[x.b[j]]; p != nil {
			p.inB, p.b = p.inB+1, j
		}
	}
	var anchors [][2]int
	for i := w.al; i < w.ah; i++ {
		if p := at[x.a[i]]; p.inA == 1 && p.inB == 1 {
			anchors = append(anchors, [2]int{p.a, p.b})
		}
	}
	if len(anchors) == 0 {
		for _, p := range ascending(x.byOccurrence(w)) {
			x.pair[p[0]] = p[1]
		}
		return
	}
	from := w
	for _, p := range ascending(anchors) {
		x.pair[p[0]] = p[1]
		x.open = append(x.open, window{from.al, p[0], from.bl, p[1]})
		from.al, from.bl = p[0]+1, p[1]+1
	}
	x.open = append(x.open, from)
}

// byOccurrence pairs the n-th of each symbol with the n-th, in the order of a.
func (x *aligner) byOccurrence(w window) (pairs [][2]int) {
	waiting := map[int][]int{}
	for j := w.bl; j < w.bh; j++ {
		waiting[x.b[j]] = append(waiting[x.b[j]], j)
	}
	for i := w.al; i < w.ah; i++ {
		if list := waiting[x.a[i]]; len(list) > 0 {
			pairs = append(pairs, [2]int{i, list[0]})
			waiting[x.a[i]] = list[1:]
		}
	}
	return pairs
}

// ascending is a longest part of pairs, which ascend in the first place, that
// ascends in the second too.
func ascending(pairs [][2]int) [][2]int {
	// ends[k] is the pair with the least second place that a run of length k+1 ends in.
	var ends []int
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]][1] >= p[1] })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	out := make([][2]int, len(ends))
	if len(ends) == 0 {
		return out
	}
	for k, i := len(ends)-1, ends[len(ends)-1]; k >= 0; k, i = k-1, before[i] {
		out[k] = pairs[i]
	}
	return out
}
