package diff

import (
	"bytes"
	"encoding/json"
	"hash/maphash"

	"github.com/tapedeck/tapedeck/tape"
)

// pairing says which step of A goes with which of B, -1 for none. In-order pairs
// do not cross one another; moved ones may cross anything.
type pairing struct {
	ofA, ofB           []int
	movedA, movedB     []bool
	recordsA, recordsB []*tape.Record
	symbols            map[string]int
	seed               maphash.Seed
}

// pairUp aligns two runs. Symbol, where it is not "", takes the place of a record's key.
func pairUp(a, b []*tape.Record, symbol func(*tape.Record) string) *pairing {
	p := &pairing{
		recordsA: a, recordsB: b, ofB: make([]int, len(b)),
		movedA: make([]bool, len(a)), movedB: make([]bool, len(b)),
		symbols: map[string]int{}, seed: maphash.MakeSeed(),
	}
	name := func(r *tape.Record) string {
		if s := symbol(r); s != "" {
			return string(r.KindOf()) + "\x00rules\x00" + s
		}
		return keyOf(r)
	}
	keysA, keysB := p.intern(a, name), p.intern(b, name)
	p.ofA = align(keysA, keysB)
	for j := range p.ofB {
		p.ofB[j] = -1
	}
	for i, j := range p.ofA {
		if j >= 0 {
			p.ofB[j] = i
		}
	}
	ordered := append([]int(nil), p.ofA...)
	p.move(keysA, keysB)
	toolsA, toolsB := p.intern(a, toolOf), p.intern(b, toolOf)
	// Between two aligned steps, those left over are paired by tool.
	from := window{}
	for i, j := range ordered {
		if j >= 0 {
			from.ah, from.bh = i, j
			p.gap(from, toolsA, toolsB)
			from.al, from.bl = i+1, j+1
		}
	}
	from.ah, from.bh = len(a), len(b)
	p.gap(from, toolsA, toolsB)
	return p
}

func keyOf(r *tape.Record) string {
	key := r.Key
	if key == "" {
		// Of arguments that are not JSON the tool is all there is to go by.
		key, _ = tape.KeyOf(r)
	}
	return string(r.KindOf()) + "\x00key\x00" + key
}

func toolOf(r *tape.Record) string { return string(r.KindOf()) + "\x00tool\x00" + r.Tool }

func (p *pairing) intern(records []*tape.Record, name func(*tape.Record) string) []int {
	out := make([]int, len(records))
	for i, r := range records {
		text := name(r)
		n, known := p.symbols[text]
		if !known {
			n = len(p.symbols)
			p.symbols[text] = n
		}
		out[i] = n
	}
	return out
}

// move pairs what has the same key and is out of order.
func (p *pairing) move(keysA, keysB []int) {
	waiting := map[int][]int{}
	for j, i := range p.ofB {
		if i < 0 {
			waiting[keysB[j]] = append(waiting[keysB[j]], j)
		}
	}
	for i, j := range p.ofA {
		if j >= 0 {
			continue
		}
		if list := waiting[keysA[i]]; len(list) > 0 {
			p.join(i, list[0])
			p.movedA[i], p.movedB[list[0]] = true, true
			waiting[keysA[i]] = list[1:]
		}
	}
}

func (p *pairing) join(i, j int) { p.ofA[i], p.ofB[j] = j, i }

// maxSimilar bounds the pairs of a gap whose similarity is looked at.
const maxSimilar = 1 << 12

// gap pairs what is left over between two aligned steps.
func (p *pairing) gap(w window, toolsA, toolsB []int) {
	var left, right, symbolsA, symbolsB []int
	for i := w.al; i < w.ah; i++ {
		if p.ofA[i] < 0 {
			left, symbolsA = append(left, i), append(symbolsA, toolsA[i])
		}
	}
	for j := w.bl; j < w.bh; j++ {
		if p.ofB[j] < 0 {
			right, symbolsB = append(right, j), append(symbolsB, toolsB[j])
		}
	}
	switch {
	case len(left) == 0 || len(right) == 0:
	case len(left)*len(right) <= maxSimilar:
		p.similar(left, right, symbolsA, symbolsB)
	default:
		for i, j := range align(symbolsA, symbolsB) {
			if j >= 0 {
				p.join(left[i], right[j])
			}
		}
	}
}

// similar pairs as many of one tool as it can without crossing and, among such
// pairings, those that have most in common.
func (p *pairing) similar(left, right, symbolsA, symbolsB []int) {
	shapesA, shapesB := p.shapes(p.recordsA, left), p.shapes(p.recordsB, right)
	n, m := len(left), len(right)
	row := m + 1
	score, weight := make([]float64, (n+1)*row), make([]float64, (n+1)*row)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best := max(score[(i+1)*row+j], score[i*row+j+1])
			if symbolsA[i] == symbolsB[j] {
				// One more pair outweighs the likeness of all others.
				weight[i*row+j] = float64(min(n, m)) + shapesA[i].like(&shapesB[j])
				best = max(best, weight[i*row+j]+score[(i+1)*row+j+1])
			}
			score[i*row+j] = best
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch here := score[i*row+j]; {
		case weight[i*row+j] > 0 && here == weight[i*row+j]+score[(i+1)*row+j+1]:
			p.join(left[i], right[j])
			i, j = i+1, j+1
		case here == score[(i+1)*row+j]:
			i++
		default:
			j++
		}
	}
}

// maxShape bounds the arguments that are looked into for likeness, in bytes.
const maxShape = 16 << 10

// shape is what likeness goes by: the leaves of the arguments, and the result.
type shape struct {
	leaves map[uint64]bool
	result []byte
}

func (p *pairing) shapes(records []*tape.Record, which []int) []shape {
	out := make([]shape, len(which))
	for k, i := range which {
		r := records[i]
		out[k] = shape{map[uint64]bool{}, r.Result}
		var args any
		if len(r.Args) <= maxShape && json.Unmarshal(r.Args, &args) == nil {
			p.leaves(out[k].leaves, "", args)
		}
	}
	return out
}

func (p *pairing) leaves(into map[uint64]bool, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			p.leaves(into, path+"\x00"+name, inner)
		}
	case []any:
		for _, inner := range v {
			p.leaves(into, path+"\x00[]", inner)
		}
	default:
		text, _ := json.Marshal(v)
		into[maphash.String(p.seed, path+"\x01"+string(text))] = true
	}
}

// like is from 0, nothing in common, to 1. Arguments say more than results.
func (s *shape) like(o *shape) float64 {
	common := 0
	for leaf := range s.leaves {
		if o.leaves[leaf] {
			common++
		}
	}
	like := 0.0
	if total := len(s.leaves) + len(o.leaves) - common; total > 0 {
		like = 0.8 * float64(common) / float64(total)
	}
	if len(s.result) > 0 && bytes.Equal(s.result, o.result) {
		like += 0.2
	}
	return like
}
