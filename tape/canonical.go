package tape

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"
)

// Canonical returns the canonical form of JSON text; empty text counts as
// null. Two argument objects that a careful reader would call the same have
// the same canonical form:
//
//   - members are sorted by the code points of their names, the last of several
//     with one name wins, and members whose value is null are left out
//     (elements of arrays are all kept, in order);
//   - strings, but not names, lose the Unicode white space at both ends that
//     Python's str.strip removes;
//   - numbers with a fraction or an exponent are floats: rounded to 6 decimals,
//     half to even on the exact binary value, and spelled as Python's repr;
//     other numbers are integers of any size and stay as they are, but -0 is 0;
//   - nothing is escaped but quotes, backslashes and control characters.
//
// The form is itself JSON, and canonical. Where the Python recorder that it
// follows leaves JSON behind, it does not follow: NaN and Infinity are refused;
// a float too large for 64 bits is spelled 1e999, not Infinity; a lone
// surrogate, which has no UTF-8, stays an escape in lower case (and sorts by
// its code point); bytes that are not UTF-8 become U+FFFD.
//
// Text that is not JSON, or nests deeper than [MaxDepth], is a [*JSONError].
//
// It takes one pass, and a second copy where members had to be moved; time and
// memory are linear in the text for any input.
func Canonical(raw []byte) ([]byte, error) { return AppendCanonical(nil, raw) }

// AppendCanonical appends the canonical form of JSON text to dst; see
// [Canonical]. On error dst is returned as it was.
func AppendCanonical(dst, raw []byte) ([]byte, error) {
	c := canonPool.Get().(*canon)
	defer c.release()
	text, err := c.run(raw)
	if err != nil {
		return dst, err
	}
	return append(dst, text...), nil
}

var canonPool = sync.Pool{New: func() any { return new(canon) }}

// keepScratch bounds what an idle canonicaliser holds on to.
const keepScratch = 4 << 20

// canon writes the canonical form in order of arrival and notes the objects
// whose members must move. Moving them object by object would copy the inner
// ones once per level; they are all moved in one copy at the end.
type canon struct {
	scanner
	out []byte
	// open holds the members of the objects being read, innermost last.
	open []member
	// moved lists, in the order they ended, the objects of out whose members
	// are not in their right place; kept holds those members, sorted.
	moved []movedObject
	kept  []member
	final []byte
}

// member is a span of out: "name":value.
type member struct {
	start, nameEnd, end int
	// escaped is set when the name has an escape in it.
	escaped bool
}

// movedObject is the span of an object in out and its members in kept.
type movedObject struct{ start, end, first, last int }

func (c *canon) release() {
	c.data = nil
	if cap(c.out)+cap(c.final)+32*(cap(c.open)+cap(c.kept))+32*cap(c.moved) <= keepScratch {
		canonPool.Put(c)
	}
}

// run returns the canonical form of raw; it is good until release.
func (c *canon) run(raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		raw = nullText
	}
	c.scanner = scanner{data: raw}
	c.out, c.final = c.out[:0], c.final[:0]
	c.open, c.moved, c.kept = c.open[:0], c.moved[:0], c.kept[:0]
	c.space()
	if err := c.value(); err != nil {
		return nil, err
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	if len(c.moved) == 0 {
		return c.out, nil
	}
	slices.SortFunc(c.moved, func(a, b movedObject) int { return cmp.Compare(a.start, b.start) })
	c.emit(0, len(c.out))
	return c.final, nil
}

func (c *canon) value() error {
	if c.pos == len(c.data) {
		return c.ended()
	}
	var word string
	switch c.data[c.pos] {
	case '{':
		return c.object()
	case '[':
		return c.array()
	case '"':
		return c.text(true)
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	default:
		return c.number()
	}
	c.out = append(c.out, word...)
	return c.literal(word)
}

func (c *canon) array() error {
	if err := c.enter(); err != nil {
		return err
	}
	c.out = append(c.out, '[')
	for first := true; ; first = false {
		done, err := c.separator(']', first)
		if err != nil {
			return err
		}
		if done {
			c.out = append(c.out, ']')
			return nil
		}
		if !first {
			c.out = append(c.out, ',')
		}
		if err := c.value(); err != nil {
			return err
		}
	}
}

func (c *canon) object() error {
	if err := c.enter(); err != nil {
		return err
	}
	start, base, move := len(c.out), len(c.open), false
	c.out = append(c.out, '{')
	for first := true; ; first = false {
		done, err := c.separator('}', first)
		if err != nil {
			return err
		}
		if done {
			break
		}
		if !first {
			c.out = append(c.out, ',')
		}
		m := member{start: len(c.out)}
		if m.escaped, err = c.memberName(); err != nil {
			return err
		}
		m.nameEnd = len(c.out)
		c.out = append(c.out, ':')
		if err := c.value(); err != nil {
			return err
		}
		m.end = len(c.out)
		move = move || c.isNull(m) ||
			(len(c.open) > base && c.compare(c.open[len(c.open)-1], m) >= 0)
		c.open = append(c.open, m)
	}
	c.out = append(c.out, '}')
	if move {
		c.sort(c.open[base:], start)
	}
	c.open = c.open[:base]
	return nil
}

func (c *canon) memberName() (escaped bool, err error) {
	if err := c.quote(); err != nil {
		return false, err
	}
	from := len(c.out)
	if err := c.text(false); err != nil {
		return false, err
	}
	return bytes.IndexByte(c.out[from:], '\\') >= 0, c.colon()
}

func (c *canon) isNull(m member) bool { return c.out[m.nameEnd+1] == 'n' }

// sort notes the object that began at start and just ended as moved.
func (c *canon) sort(list []member, start int) {
	slices.SortFunc(list, func(a, b member) int {
		if order := c.compare(a, b); order != 0 {
			return order
		}
		return cmp.Compare(a.start, b.start)
	})
	first := len(c.kept)
	for i, m := range list {
		overridden := i+1 < len(list) && c.compare(m, list[i+1]) == 0
		if !overridden && !c.isNull(m) {
			c.kept = append(c.kept, m)
		}
	}
	c.moved = append(c.moved, movedObject{start: start, end: len(c.out), first: first, last: len(c.kept)})
}

// emit copies out[from:to] to final with every moved object in it rewritten.
func (c *canon) emit(from, to int) {
	for {
		i := sort.Search(len(c.moved), func(i int) bool { return c.moved[i].start >= from })
		if i == len(c.moved) || c.moved[i].start >= to {
			c.final = append(c.final, c.out[from:to]...)
			return
		}
		object := c.moved[i]
		c.final = append(c.final, c.out[from:object.start]...)
		c.final = append(c.final, '{')
		for n, m := range c.kept[object.first:object.last] {
			if n > 0 {
				c.final = append(c.final, ',')
			}
			if first := c.out[m.nameEnd+1]; first == '{' || first == '[' {
				c.emit(m.start, m.end)
			} else {
				c.final = append(c.final, c.out[m.start:m.end]...)
			}
		}
		c.final = append(c.final, '}')
		from = object.end
	}
}

// compare orders two members by the code points of their names.
func (c *canon) compare(a, b member) int {
	x, y := c.out[a.start+1:a.nameEnd-1], c.out[b.start+1:b.nameEnd-1]
	if !a.escaped && !b.escaped {
		// UTF-8 sorts as its code points do.
		return bytes.Compare(x, y)
	}
	for len(x) > 0 && len(y) > 0 {
		var r, s rune
		r, x = canonicalRune(x)
		s, y = canonicalRune(y)
		if r != s {
			return cmp.Compare(r, s)
		}
	}
	return cmp.Compare(len(x), len(y))
}

// canonicalRune takes the first code point off canonical string content.
func canonicalRune(b []byte) (rune, []byte) {
	if b[0] != '\\' {
		r, size := utf8.DecodeRune(b)
		return r, b[size:]
	}
	s := scanner{data: b}
	// The content was written by appendRune, so the escape is a good one.
	r, _ := s.escape()
	return r, b[s.pos:]
}
