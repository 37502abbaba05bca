package redact

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// maxDepth bounds nesting; what is deeper is redacted as plain text.
const maxDepth = 10000

// JSON redacts a JSON text in place: bytes outside of replaced leaves stay as
// they are, and what was valid stays valid. A text that is not JSON is
// redacted as [Policy.Text] does. It returns raw itself when there is nothing
// to redact.
func (p *Policy) JSON(raw []byte) ([]byte, []Hit) {
	if len(raw) == 0 {
		return raw, nil
	}
	// The string is only read, and dropped before raw is returned.
	s := unsafe.String(unsafe.SliceData(raw), len(raw))
	var hits []Hit
	hit := func(path, typ string) { hits = append(hits, Hit{path, typ}) }
	out, ok := p.jsonText(s, 0, hit)
	if !ok {
		out = p.text(s, 0, hit)
	}
	if len(hits) == 0 {
		return raw, nil
	}
	return []byte(out), hits
}

// edit replaces s[start:end].
type edit struct {
	start, end int
	text       string
}

type jsonWalk struct {
	p     *Policy
	s     string
	nest  int
	edits []edit
	hits  []Hit
	path  []step
	// keyEdits are objects in which a member name was replaced.
}

// step is one step of the path to a value.
type step struct {
	name  string
	index int
}

// jsonText redacts s if it is valid JSON, and reports whether it is.
func (p *Policy) jsonText(s string, nest int, hit func(path, typ string)) (string, bool) {
	w := jsonWalk{p: p, s: s, nest: nest}
	i, ok := w.value(w.space(0), Context{}, 0)
	if !ok || w.space(i) != len(s) {
		return s, false
	}
	if len(w.edits) == 0 {
		return s, true
	}
	for _, h := range w.hits {
		hit(h.Path, h.Type)
	}
	slices.SortFunc(w.edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	done := 0
	for _, e := range w.edits {
		b.WriteString(s[done:e.start])
		b.WriteString(e.text)
		done = e.end
	}
	b.WriteString(s[done:])
	return b.String(), true
}

func (w *jsonWalk) space(i int) int {
	for i < len(w.s) && isJSONSpace(w.s[i]) {
		i++
	}
	return i
}

func (w *jsonWalk) value(i int, ctx Context, depth int) (int, bool) {
	if i >= len(w.s) || depth > maxDepth {
		return i, false
	}
	switch c := w.s[i]; {
	case c == '{':
		return w.object(i, ctx.object(), depth)
	case c == '[':
		return w.array(i, ctx.array(), depth)
	case c == '"':
		end, ok := stringEnd(w.s, i)
		if ok {
			w.str(i, end, ctx)
		}
		return end, ok
	case c == '-' || c >= '0' && c <= '9':
		end, ok := numberEnd(w.s, i)
		if ok {
			w.number(i, end, ctx)
		}
		return end, ok
	case strings.HasPrefix(w.s[i:], "true"):
		if typ, secret := ctx.leaf(); secret {
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

func (w *jsonWalk) object(i int, ctx Context, depth int) (int, bool) {
	i = w.space(i + 1)
	if i < len(w.s) && w.s[i] == '}' {
		return i + 1, true
	}
	w.path = append(w.path, step{})
	for i < len(w.s) && w.s[i] == '"' {
		end, ok := stringEnd(w.s, i)
		if !ok {
			return i, false
		}
		name := decode(w.s[i+1 : end-1])
		i = w.space(end)
		if i >= len(w.s) || w.s[i] != ':' {
			return i, false
		}
		w.path[len(w.path)-1].name = name
		if i, ok = w.value(w.space(i+1), ctx.Member(w.p, name), depth+1); !ok {
			return i, false
		}
		i = w.space(i)
		if i < len(w.s) && w.s[i] == '}' {
			w.path = w.path[:len(w.path)-1]
			return i + 1, true
		}
		if i >= len(w.s) || w.s[i] != ',' {
			return i, false
		}
		i = w.space(i + 1)
	}
	return i, false
}

func (w *jsonWalk) array(i int, ctx Context, depth int) (int, bool) {
	i = w.space(i + 1)
	if i < len(w.s) && w.s[i] == ']' {
		return i + 1, true
	}
	w.path = append(w.path, step{})
	for n := 0; i < len(w.s); n++ {
		w.path[len(w.path)-1].index = n
		var ok bool
		if i, ok = w.value(i, ctx, depth+1); !ok {
			return i, false
		}
		i = w.space(i)
		if i < len(w.s) && w.s[i] == ']' {
			w.path = w.path[:len(w.path)-1]
			return i + 1, true
		}
		if i >= len(w.s) || w.s[i] != ',' {
			return i, false
		}
		i = w.space(i + 1)
	}
	return i, false
}

func (w *jsonWalk) str(i, end int, ctx Context) {
	in := decode(w.s[i+1 : end-1])
	n := len(w.hits)
	out := w.p.leafText(in, ctx, w.nest+1, func(path, typ string) {
		w.hits = append(w.hits, Hit{joinPath(w.pathText(), path), typ})
	})
	if len(w.hits) > n {
		w.edits = append(w.edits, edit{i, end, encode(out)})
	}
}

func (p *Policy) leafText(s string, ctx Context, nest int, hit func(path, typ string)) string {
	if typ, secret := ctx.leaf(); secret {
		if s == "" || IsPlaceholder(s) {
			return s
		}
		hit("", typ)
		return Placeholder(typ)
	}
	return p.text(s, nest, hit)
}

func (w *jsonWalk) number(i, end int, ctx Context) {
	typ, secret := ctx.leaf()
	if secret && w.s[i:end] != "0" {
		w.edit(i, end, "0", typ)
	}
}

func (w *jsonWalk) edit(i, end int, text, typ string) {
	w.edits = append(w.edits, edit{i, end, text})
	w.hits = append(w.hits, Hit{w.pathText(), typ})
}

func (w *jsonWalk) pathText() string {
	var b strings.Builder
	for _, s := range w.path {
		if s.name == "" {
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
	}
	return b.String()
}

func joinPath(a, b string) string {
	if a == "" || b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}
