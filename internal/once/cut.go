package once

import (
	"hash/maphash"

	"github.com/tapedeck/tapedeck/internal/redact"
)

const (
	// minString and minObject are the least lengths, in bytes, of a string and
	// an object that become a text of their own.
	minString = 128
	minObject = 48
	// maxCutDepth is how deep in arrays and objects texts are looked for.
	maxCutDepth = 6
)

// cutter goes over one JSON value and finds what can be a text of its own. It
// trusts nothing it has not seen: a value is valid JSON if all its texts are, and
// what is left when a string stands in the place of each, which is for
// [redact.Policy.Document] to say.
type cutter struct {
	enc *encoding
	v   string
	// attribute is a hash of the attribute's name.
	attribute uint64
	pieces    []piece
	hits      *redact.Hits
	path      redact.Path
	// prev is the text found last, plus 1, in the array the cutter is in; next
	// is the one that followed it the last time.
	prev, next uint32
	// row is the number of the array, and rows how many there were.
	row, rows int
	saved     int64

	frame, framed []byte
}

// maxPieces bounds the pieces that a cutter keeps room for.
const maxPieces = 1 << 14

// piece is v[from:to], which is the text n.
type piece struct {
	from, to int
	n        uint32
}

func (c *cutter) forget() {
	*c = cutter{pieces: c.pieces[:0], path: c.path[:0], frame: c.frame[:0], framed: c.framed[:0]}
	clear(c.path[:cap(c.path)])
	if cap(c.frame) > maxKept || cap(c.framed) > maxKept || cap(c.pieces) > maxPieces {
		c.frame, c.framed, c.pieces = nil, nil, nil
	}
}

// find cuts all of v, and reports whether it is well formed as far as it was
// looked at.
func (c *cutter) find() bool {
	i := space(c.v, 0)
	ok := false
	switch c.v[i] {
	case '[':
		i, ok = c.array(i, 0)
	case '{':
		i, ok = c.object(i, 0)
	}
	return ok && space(c.v, i) == len(c.v)
}

// array goes over the array at i, whose elements have no context, and gives the
// index after it.
func (c *cutter) array(i, depth int) (int, bool) {
	prev, next, row := c.prev, c.next, c.row
	c.beginRow()
	c.path = append(c.path, redact.Step{})
	i = space(c.v, i+1)
	flag := false
	for n := 0; i < len(c.v) && c.v[i] != ']'; n++ {
		c.path[len(c.path)-1].Index = n
		start := i
		var ok bool
		if i, ok = c.element(i, depth, flag); !ok {
			return i, false
		}
		// What follows may be the value of this flag.
		flag = mayBeFlag(c.v[start:])
		if i = space(c.v, i); i < len(c.v) && c.v[i] == ',' {
			i = space(c.v, i+1)
		}
	}
	c.path = c.path[:len(c.path)-1]
	c.prev, c.next, c.row = prev, next, row
	return i + 1, i < len(c.v)
}

// element goes over one element of an array.
func (c *cutter) element(i, depth int, flag bool) (int, bool) {
	switch b := c.v[i]; {
	case flag:
	case b == '{' || b == '"' && !mayBeFlag(c.v[i:]):
		return c.piece(i)
	case b == '[' && depth < maxCutDepth:
		return c.array(i, depth+1)
	}
	end, _ := skip(c.v, i)
	return end, end > i
}

// mayBeFlag reports whether s, which begins with an element, begins with a
// string that could be the name of a flag, written with escapes or not.
func mayBeFlag(s string) bool {
	return len(s) > 1 && s[0] == '"' && (s[1] == '-' || s[1] == '\\')
}

// object goes over the object at i, which has no context.
func (c *cutter) object(i, depth int) (int, bool) {
	c.path = append(c.path, redact.Step{Index: -1})
	i = space(c.v, i+1)
	for i < len(c.v) && c.v[i] == '"' {
		end := stringEnd(c.v, i)
		if end <= i {
			return i, false
		}
		name := c.v[i+1 : end-1]
		if i = space(c.v, end); i >= len(c.v) || c.v[i] != ':' {
			return i, false
		}
		if i = space(c.v, i+1); i >= len(c.v) {
			return i, false
		}
		c.path[len(c.path)-1].Name = name
		var ok bool
		if i, ok = c.member(name, i, depth); !ok {
			return i, false
		}
		if i = space(c.v, i); i < len(c.v) && c.v[i] == ',' {
			i = space(c.v, i+1)
		}
	}
	c.path = c.path[:len(c.path)-1]
	return i + 1, i < len(c.v) && c.v[i] == '}'
}

// member goes over the value of a member.
func (c *cutter) member(name string, i, depth int) (int, bool) {
	switch b := c.v[i]; {
	case b != '[' && b != '{' && b != '"' || depth >= maxCutDepth || !c.neutral(name):
	case b == '[':
		return c.array(i, depth+1)
	case b == '{':
		return c.object(i, depth+1)
	case !redact.IsPairName(name):
		c.beginRow()
		return c.piece(i)
	}
	end, _ := skip(c.v, i)
	return end, end > i
}

// maxNeutral bounds the names below which texts are looked for.
const maxNeutral = 128

// neutral reports whether what stands under a name is redacted as if it stood
// alone.
func (c *cutter) neutral(name string) bool {
	if len(name) > maxNeutral || !plainString(name) || redact.IsPairValue(name) {
		return false
	}
	p := c.enc.policy
	had := len(c.hits.List)
	same := p.Name(name, c.hits) == name
	c.hits.List = c.hits.List[:had]
	return same && p.Member(redact.Context{}, name) == redact.Context{}
}

// beginRow begins a row of texts that follow each other.
func (c *cutter) beginRow() {
	c.row = c.rows
	c.rows++
	c.prev, c.next = 0, c.enc.k.head(c.attribute, c.row)
}

// piece goes over an object or a string, and makes it a text if it is long
// enough.
func (c *cutter) piece(i int) (int, bool) {
	k := c.enc.k
	if c.next != 0 {
		if end := c.expected(i); end > 0 {
			c.take(i, end, c.next-1, true)
			return end, true
		}
	}
	end, depth := skip(c.v, i)
	if end <= i {
		return i, false
	}
	if size := end - i; size < minObject || c.v[i] == '"' && size < minString {
		return end, true
	}
	hash := maphash.String(pieceSeed, c.v[i:end])
	if n, ok := k.find(hash, end-i); ok {
		c.take(i, end, n, true)
		return end, true
	}
	if depth > redact.MaxElementDepth {
		return i, false
	}
	had := len(c.hits.List)
	out, to, ok := c.enc.policy.Element(c.v, i, c.hits)
	if !ok || to != end {
		return i, false
	}
	n := c.enc.add(hash, end-i, out, c.hits.List[had:])
	c.hits.List = c.hits.List[:had]
	c.take(i, end, n, false)
	return end, true
}

// expected is where the text ends that is expected at i, or 0 if it is not there.
func (c *cutter) expected(i int) int {
	t := &c.enc.k.texts[c.next-1]
	end := i + int(t.size)
	if end >= len(c.v) || c.v[end-1] != c.v[i] && (c.v[i] != '{' || c.v[end-1] != '}') ||
		maphash.String(pieceSeed, c.v[i:end]) != t.hash {
		return 0
	}
	return end
}

// take makes v[i:end] the text n.
func (c *cutter) take(i, end int, n uint32, known bool) {
	k := c.enc.k
	if known {
		c.saved += int64(end - i)
	}
	if k.texts[n].hits {
		at := c.path.String()
		for _, h := range k.hits[n] {
			c.hits.List = append(c.hits.List, redact.Hit{Path: at + h.Path, Type: h.Type})
		}
	}
	if c.prev == 0 {
		k.setHead(c.attribute, c.row, n+1)
	} else {
		k.texts[c.prev-1].next = n + 1
	}
	c.pieces = append(c.pieces, piece{i, end, n})
	c.prev, c.next = n+1, k.texts[n].next
}
