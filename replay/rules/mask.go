package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Form is arguments as rules see them: equal sums are equal but for what has to
// be compared value by value.
type Form struct {
	Sum [sha256.Size]byte
	// slots are the values to compare, in the order in which they stand.
	slots []slot
	// touched tells for each rule that did something what it did it to.
	touched []touch
}

// slot is a value that a mask cannot decide.
type slot struct {
	rule int
	text string
	// num is a number, nanos a time.
	num   float64
	nanos int64
}

// touch is what a rule did: two forms that a rule did not touch alike differ by
// that rule.
type touch struct {
	rule int
	sum  uint64
	// paths are where, with [*] for elements; only of what is ignored.
	paths []string
}

var seed = maphash.MakeSeed()

// mark begins and ends what stands in a masked text for a value. JSON texts have
// no such byte.
const mark = 0x01

// masker is one pass over one text.
type masker struct {
	m     *Matcher
	in    []byte
	out   []byte
	form  *Form
	path  []byte
	stack []pos
}

// Mask masks canonical JSON text; see tape.Canonical.
func (m *Matcher) Mask(canonical []byte) *Form { return m.maskAt(canonical, m.root) }

func (m *Matcher) maskAt(canonical []byte, here []pos) *Form {
	k := &masker{m: m, in: canonical, out: make([]byte, 0, len(canonical)), form: &Form{}}
	k.value(0, here)
	k.form.Sum = sha256.Sum256(k.out)
	slices.SortFunc(k.form.touched, func(a, b touch) int { return a.rule - b.rule })
	return k.form
}

// value masks the value at i and returns the index after it; gone is set if it
// is as if it were not there.
func (k *masker) value(i int, here []pos) (end int, gone bool) {
	if len(here) == 0 {
		end = skip(k.in, i)
		k.out = append(k.out, k.in[i:end]...)
		return end, false
	}
	end, done, gone := k.decide(i, here)
	if done {
		return end, gone
	}
	switch k.in[i] {
	case '{':
		return k.object(i, here), false
	case '[':
		return k.array(i, here), false
	}
	k.out = append(k.out, k.in[i:end]...)
	return end, false
}

// decide applies the rules about the place itself. It is done where one of them
// decides what the value counts as.
func (k *masker) decide(i int, here []pos) (end int, done, gone bool) {
	end = -1
	var text string
	folded := false
	for _, p := range here {
		c := &k.m.rules[p.rule]
		if p.at != len(c.path) || c.rule.Match == Unordered {
			continue
		}
		if end < 0 {
			end = skip(k.in, i)
		}
		raw := k.in[i:end]
		if c.rule.Match == Ignore {
			k.touch(p.rule, raw, true)
			return end, true, true
		}
		if raw[0] == '{' || raw[0] == '[' {
			continue
		}
		if raw[0] == '"' && !folded {
			text = decode(raw)
		}
		switch isText := raw[0] == '"'; {
		case c.rule.Match == Case && isText:
			k.touch(p.rule, raw, false)
			text, folded = cases.Fold().String(text), true
			continue
		case c.rule.Match == NFC && isText:
			k.touch(p.rule, raw, false)
			text, folded = norm.NFC.String(text), true
			continue
		}
		if k.mask(p.rule, c, raw, text) {
			k.touch(p.rule, raw, false)
			return end, true, false
		}
	}
	if end < 0 {
		if b := k.in[i]; b != '{' && b != '[' {
			end = skip(k.in, i)
		}
	}
	if folded {
		k.out = strconv.AppendQuote(append(k.out, mark), text)
	}
	return end, folded, false
}

// mask writes what stands for a value if a rule is about values of its type.
func (k *masker) mask(rule int, c *compiled, raw []byte, text string) bool {
	isText := raw[0] == '"'
	switch c.rule.Match {
	case UUID:
		if !isText || !isUUID(text) {
			return false
		}
	case Time:
		nanos, ok := readTime(raw, text)
		if !ok {
			return false
		}
		if c.rule.Within > 0 {
			k.form.slots = append(k.form.slots, slot{rule: rule, nanos: nanos})
		}
	case Number:
		num, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || isText {
			return false
		}
		k.form.slots = append(k.form.slots, slot{rule: rule, num: num, text: string(raw)})
	case Regexp:
		found := []string(nil)
		if isText {
			found = c.re.FindStringSubmatch(text)
		}
		if found == nil {
			return false
		}
		k.token(rule)
		for _, group := range found[1:] {
			k.out = strconv.AppendQuote(append(k.out, mark), group)
		}
		return true
	case ID:
		if !isText && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			return false
		}
		k.form.slots = append(k.form.slots, slot{rule: rule, text: string(raw)})
	default:
		return false
	}
	k.token(rule)
	return true
}

func (k *masker) token(rule int) {
	k.out = strconv.AppendInt(append(k.out, mark), int64(rule), 10)
	k.out = append(k.out, mark)
}

// touch notes what a rule did to a value here.
func (k *masker) touch(rule int, raw []byte, named bool) {
	var h maphash.Hash
	h.SetSeed(seed)
	h.Write(k.path)
	h.WriteByte(mark)
	h.Write(raw)
	i := slices.IndexFunc(k.form.touched, func(t touch) bool { return t.rule == rule })
	if i < 0 {
		i = len(k.form.touched)
		k.form.touched = append(k.form.touched, touch{rule: rule})
	}
	t := &k.form.touched[i]
	t.sum = t.sum*31 + h.Sum64()
	if named && len(t.paths) < maxPaths && !slices.Contains(t.paths, string(k.path)) {
		t.paths = append(t.paths, string(k.path))
	}
}

// maxPaths bounds the paths that one form keeps for one rule.
const maxPaths = 100

func (k *masker) object(i int, here []pos) int {
	k.out = append(k.out, '{')
	path, first := len(k.path), true
	for i++; k.in[i] != '}'; {
		if k.in[i] == ',' {
			i++
		}
		start, nameEnd := len(k.out), skip(k.in, i)
		name := decode(k.in[i:nameEnd])
		if !first {
			k.out = append(k.out, ',')
		}
		k.out = append(append(k.out, k.in[i:nameEnd]...), ':')
		k.path = AppendName(k.path, name)
		end, gone := k.inner(nameEnd+1, here, func(s *segment) bool { return s.takesName(name) })
		k.path = k.path[:path]
		if gone {
			k.out = k.out[:start]
		} else {
			first = false
		}
		i = end
	}
	k.out = append(k.out, '}')
	return i + 1
}

func (k *masker) inner(i int, here []pos, takes func(*segment) bool) (end int, gone bool) {
	from := len(k.stack)
	k.stack = k.m.step(k.stack, here, takes)
	// A growing stack may leave this part of it behind, which stays as it is.
	end, gone = k.value(i, k.stack[from:len(k.stack):len(k.stack)])
	k.stack = k.stack[:from]
	return end, gone
}

// element is where an element of an unordered array stands in the mask.
type element struct {
	out, outEnd, slot, slotEnd int
}

func (k *masker) array(i int, here []pos) int {
	unordered := -1
	for _, p := range here {
		if c := &k.m.rules[p.rule]; p.at == len(c.path) && c.rule.Match == Unordered {
			unordered = p.rule
		}
	}
	start, path := i, len(k.path)
	k.path = append(k.path, "[*]"...)
	k.out = append(k.out, '[')
	body, slots := len(k.out), len(k.form.slots)
	var list []element
	n := 0
	for i++; k.in[i] != ']'; n++ {
		if k.in[i] == ',' {
			i++
		}
		e := element{out: len(k.out), slot: len(k.form.slots)}
		end, gone := k.inner(i, here, func(s *segment) bool { return s.takesIndex(n) })
		if !gone {
			k.out = append(k.out, ',')
			e.outEnd, e.slotEnd = len(k.out), len(k.form.slots)
			list = append(list, e)
		} else {
			k.out = k.out[:e.out]
		}
		i = end
	}
	k.path = k.path[:path]
	if unordered >= 0 {
		k.sort(body, slots, list)
		k.touch(unordered, k.in[start:i+1], false)
	}
	k.out = append(k.out, ']')
	return i + 1
}

// sort puts the elements of an unordered array in order, and their slots with
// them: by their mask, and of equal masks by the values in their slots.
func (k *masker) sort(body, slots int, list []element) {
	out, values := bytes.Clone(k.out[body:]), slices.Clone(k.form.slots[slots:])
	slices.SortStableFunc(list, func(a, b element) int {
		if order := bytes.Compare(out[a.out-body:a.outEnd-body], out[b.out-body:b.outEnd-body]); order != 0 {
			return order
		}
		return slices.CompareFunc(values[a.slot-slots:a.slotEnd-slots], values[b.slot-slots:b.slotEnd-slots], compareSlots)
	})
	k.out, k.form.slots = k.out[:body], k.form.slots[:slots]
	for _, e := range list {
		k.out = append(k.out, out[e.out-body:e.outEnd-body]...)
		k.form.slots = append(k.form.slots, values[e.slot-slots:e.slotEnd-slots]...)
	}
}

func compareSlots(a, b slot) int {
	switch {
	case a.num < b.num || a.nanos < b.nanos:
		return -1
	case a.num > b.num || a.nanos > b.nanos:
		return 1
	}
	return 0
}

// skip is the index after the value at i of canonical JSON text.
func skip(in []byte, i int) int {
	for depth := 0; i < len(in); {
		switch in[i] {
		case '"':
			for i++; in[i] != '"'; i++ {
				if in[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
		default:
			for i < len(in) && in[i] != ',' && in[i] != '}' && in[i] != ']' {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// decode is what a JSON string stands for.
func decode(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	// Canonical text is JSON.
	_ = json.Unmarshal(raw, &text)
	return text
}
