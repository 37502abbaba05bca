package redact

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// maxDepth bounds nesting; what is deeper is redacted as plain text.
const maxDepth = 1000

// JSON redacts a JSON text in place: bytes outside of replaced leaves stay as
// they are, and what was valid stays valid. A text that is not JSON is
// redacted as [Policy.Text] does. It returns raw itself when there is nothing
// to redact.
func (p *Policy) JSON(raw []byte) ([]byte, []Hit) {
	if len(raw) == 0 {
		return raw, nil
	}
	// The string is only read, and nothing of it outlives this call.
	s := unsafe.String(unsafe.SliceData(raw), len(raw))
	collector := collectors.Get().(*Hits)
	out := p.jsonOrText(s, collector)
	hits := collector.done()
	if hits == nil {
		return raw, nil
	}
	return []byte(out), hits
}

func (p *Policy) jsonOrText(s string, hits *Hits) (out string) {
	defer func() {
		// Fail closed, and stay JSON.
		if recover() != nil {
			out = encode(Placeholder(TypeError))
			hits.add("", TypeError)
		}
	}()
	if out, ok := p.jsonText(s, 0, hits); ok {
		return out
	}
	return p.text(s, 0, hits)
}

// jsonWalk is one pass over one JSON text. It checks syntax and collects edits
// at the same time; the edits count only if the text turns out to be valid.
type jsonWalk struct {
	p     *Policy
	s     string
	nest  int
	edits []edit
	hits  *Hits
	path  Path
	buf   []byte
}

// edit replaces s[start:end].
type edit struct {
	start, end int
	text       string
}

var walks = sync.Pool{New: func() any { return new(jsonWalk) }}

// maxKept bounds the scratch space that outlives a call.
const maxKept = 1 << 20

// jsonText redacts s if it is valid JSON, and reports whether it is.
func (p *Policy) jsonText(s string, nest int, hits *Hits) (string, bool) {
	w := walks.Get().(*jsonWalk)
	w.p, w.s, w.nest, w.hits = p, s, nest, hits
	n := len(hits.List)
	i, ok := w.value(w.space(0), Context{}, 0)
	if ok = ok && w.space(i) == len(s); !ok {
		hits.List = hits.List[:n]
	} else if len(w.edits) > 0 {
		s = w.apply()
	}
	w.done()
	return s, ok
}

func (w *jsonWalk) done() {
	clear(w.edits)
	clear(w.path[:cap(w.path)])
	*w = jsonWalk{edits: w.edits[:0], path: w.path[:0], buf: w.buf[:0]}
	if cap(w.buf) <= maxKept {
		walks.Put(w)
	}
}

func (w *jsonWalk) apply() string {
	slices.SortFunc(w.edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	b.Grow(len(w.s) + 32*len(w.edits))
	done := 0
	for _, e := range w.edits {
		b.WriteString(w.s[done:e.start])
		b.WriteString(e.text)
		done = e.end
	}
	b.WriteString(w.s[done:])
	return b.String()
}

func (w *jsonWalk) space(i int) int {
	for i < len(w.s) && isJSONSpace(w.s[i]) {
		i++
	}
	return i
}

// value goes over the value at i and returns the index after it.
func (w *jsonWalk) value(i int, c Context, depth int) (int, bool) {
	if i >= len(w.s) || depth > maxDepth {
		return i, false
	}
	switch b := w.s[i]; {
	case b == '"':
		end, escapes, ok := stringEnd(w.s, i)
		if ok {
			w.str(i, end, escapes, c)
		}
		return end, ok
	case b == '{':
		return w.object(i, c, depth)
	case b == '[':
		return w.array(i, c.Element(), depth)
	case b == '-' || b >= '0' && b <= '9':
		end, ok := numberEnd(w.s, i)
		if ok {
			w.number(i, end, c)
		}
		return end, ok
	case strings.HasPrefix(w.s[i:], "true"):
		if typ, secret := c.Secret(); secret {
			w.edit(i, i+4, "false", typ)
		}
		return i + 4, true
	case strings.HasPrefix(w.s[i:], "false"):
		return i + 5, true
	case strings.HasPrefix(w.s[i:], "null"):
		return i + 4, true
	}
	return i, false
}

func (w *jsonWalk) array(i int, c Context, depth int) (int, bool) {
	i = w.space(i + 1)
	if i < len(w.s) && w.s[i] == ']' {
		return i + 1, true
	}
	w.path = append(w.path, Step{})
	before := ""
	for n := 0; ; n++ {
		w.path[len(w.path)-1].Index = n
		element := w.p.Following(c, before)
		start := i
		var ok bool
		if i, ok = w.value(i, element, depth+1); !ok {
			return i, false
		}
		if before = ""; w.s[start] == '"' {
			before = flagText(w.s[start+1 : i-1])
		}
		if i = w.space(i); i >= len(w.s) {
			return i, false
		}
		switch w.s[i] {
		case ',':
			i = w.space(i + 1)
		case ']':
			w.path = w.path[:len(w.path)-1]
			return i + 1, true
		default:
			return i, false
		}
	}
}

// flagText is what the body of a JSON string stands for if that can be a flag.
func flagText(body string) string {
	const longest = len(`\u0000`) * (maxName + len("--"))
	if body == "" || body[0] != '-' && body[0] != '\\' || len(body) > longest {
		return ""
	}
	return decoded(body)
}

// str redacts the string w.s[i:end], quotes included.
func (w *jsonWalk) str(i, end int, escapes bool, c Context) {
	body := w.s[i+1 : end-1]
	mark := len(w.buf)
	if escapes {
		w.buf = appendDecoded(w.buf, body)
		body = unsafe.String(unsafe.SliceData(w.buf[mark:]), len(w.buf)-mark)
	}
	n := len(w.hits.List)
	out := w.p.leaf(c, body, w.nest+1, w.hits)
	if len(w.hits.List) > n {
		at := w.path.String()
		for k := range w.hits.List[n:] {
			h := &w.hits.List[n+k]
			h.Path = JoinPath(at, h.Path)
		}
		w.edits = append(w.edits, edit{i, end, encode(out)})
	}
	w.buf = w.buf[:mark]
}

func (w *jsonWalk) number(i, end int, c Context) {
	lit := w.s[i:end]
	if lit == "0" {
		return
	}
	if typ, secret := w.p.Number(c, lit); secret {
		w.edit(i, end, "0", typ)
	}
}

func (w *jsonWalk) edit(i, end int, text, typ string) {
	w.edits = append(w.edits, edit{i, end, text})
	w.hits.add(w.path.String(), typ)
}

// Path leads to a value inside of a JSON text.
type Path []Step

// Step is a member of that name, or an element if Index is not negative.
type Step struct {
	Name  string
	Index int
}

// String writes the path as a [Hit] has it. It shares no memory with the names.
func (p Path) String() string {
	if len(p) == 1 && p[0].Index < 0 {
		return strings.Clone(p[0].Name)
	}
	var b strings.Builder
	for _, s := range p {
		if s.Index >= 0 {
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.Index))
			b.WriteByte(']')
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.Name)
	}
	return b.String()
}

// JoinPath puts the path inside a value behind the path to it.
func JoinPath(a, b string) string {
	if a == "" || b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}
