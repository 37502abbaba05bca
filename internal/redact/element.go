package redact

// MaxElementDepth is how deep a value that is redacted by [Policy.Element] may
// be nested, with room for what stands around it: to here no bound on nesting
// makes a difference.
const MaxElementDepth = 32

// Element redacts the JSON value that begins at s[i] exactly as it is redacted
// inside of arrays and objects whose names give it no context (the zero
// [Context]), and reports where it ends. It appends what it replaced to hits,
// with paths to be put behind the path of the value as they are, such as
// ".content" and "[2].name". It is not ok, and hits are as before, where no valid
// JSON value begins.
func (p *Policy) Element(s string, i int, hits *Hits) (out string, end int, ok bool) {
	n := len(hits.List)
	defer func() {
		if recover() != nil {
			// Whoever redacts the whole text instead fails closed.
			hits.List = hits.List[:n]
			ok = false
		}
	}()
	w := walks.Get().(*jsonWalk)
	w.p, w.s, w.nest, w.hits = p, s[i:], 0, hits
	// Below a step, paths begin as they do below any other.
	const below = "[0]"
	w.path = append(w.path, Step{})
	size, ok := w.value(0, Context{}, 0)
	if !ok {
		hits.List = hits.List[:n]
		w.done()
		return "", i, false
	}
	for k := range hits.List[n:] {
		hits.List[n+k].Path = hits.List[n+k].Path[len(below):]
	}
	end = i + size
	if out = s[i:end]; len(w.edits) > 0 {
		w.s = out
		out = w.apply()
	}
	w.done()
	return out, end, true
}

// Document redacts s as [Policy.Text] does if it is a JSON text; else it is not
// ok, and nothing is judged.
func (p *Policy) Document(s string, hits *Hits) (out string, ok bool) {
	n := len(hits.List)
	defer func() {
		if recover() != nil {
			hits.List = hits.List[:n]
			out, ok = s, false
		}
	}()
	return p.jsonText(s, 0, hits)
}
