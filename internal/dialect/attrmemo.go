package dialect

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// attrMemo does for content in attributes what value.Memo does for JSON text: a
// message that came before, as a map in a list or spread over attributes of one
// index, is compared with what came there before and not built again.
type attrMemo struct {
	seed  maphash.Seed
	known map[uint64]*attrElement
	// first is what lists began with the last time.
	first *attrElement
	bytes int
}

// attrElement is one message. Its leaves are the attributes it was built from; a
// map is a single leaf without a name.
type attrElement struct {
	leaves []leaf
	value  value.Value
	after  *attrElement
}

type leaf struct {
	name  string
	value value.Value
}

// attrLeaf is a leaf as it came.
type attrLeaf struct {
	name  string
	value pcommon.Value
}

// find is the element of the attributes, which came after another in its list.
func (m *attrMemo) find(from []attrLeaf, before *attrElement, build func() value.Value) *attrElement {
	next := &m.first
	if before != nil {
		next = &before.after
	}
	if *next != nil && (*next).is(from) {
		return *next
	}
	if m.known == nil {
		m.seed, m.known = maphash.MakeSeed(), map[uint64]*attrElement{}
	}
	var h maphash.Hash
	h.SetSeed(m.seed)
	size := 0
	for _, l := range from {
		hashString(&h, l.name)
		size += hashAttr(&h, l.value, 0)
	}
	sum := h.Sum64()
	e := m.known[sum]
	if e == nil || !e.is(from) {
		e = &attrElement{value: value.NewElement(build())}
		for _, l := range from {
			e.leaves = append(e.leaves, leaf{l.name, fromAttr(l.value)})
		}
		if m.bytes += size; m.bytes > value.MemoBytes {
			for _, old := range m.known {
				old.after = nil
			}
			clear(m.known)
			m.first, m.bytes = nil, size
			next = new(*attrElement)
		}
		m.known[sum] = e
	}
	*next = e
	return e
}

func (e *attrElement) is(from []attrLeaf) bool {
	return slices.EqualFunc(e.leaves, from, func(a leaf, b attrLeaf) bool {
		return a.name == b.name && sameAttr(a.value, b.value)
	})
}

// sameAttr reports whether fromAttr gives this value, without making it.
func sameAttr(v value.Value, a pcommon.Value) bool {
	switch a.Type() {
	case pcommon.ValueTypeStr:
		return v.Kind() == value.String && v.Text() == a.Str()
	case pcommon.ValueTypeMap:
		members := v.Members()
		if v.Kind() != value.Object || len(members) != a.Map().Len() {
			return false
		}
		i := 0
		for k, e := range a.Map().All() {
			if members[i].Name != k || !sameAttr(members[i].Value, e) {
				return false
			}
			i++
		}
		return true
	case pcommon.ValueTypeSlice:
		items := v.Items()
		if v.Kind() != value.Array || len(items) != a.Slice().Len() {
			return false
		}
		for i := range items {
			if !sameAttr(items[i], a.Slice().At(i)) {
				return false
			}
		}
		return true
	}
	made := fromAttr(a)
	return made.Kind() == v.Kind() && made.Text() == v.Text()
}

func hashString(h *maphash.Hash, s string) {
	maphash.WriteComparable(h, len(s))
	_, _ = h.WriteString(s)
}

// hashAttr hashes an attribute value and returns about how long it is.
func hashAttr(h *maphash.Hash, a pcommon.Value, depth int) (size int) {
	_ = h.WriteByte(byte(a.Type()))
	if depth > value.MaxDepth {
		return 0
	}
	switch a.Type() {
	case pcommon.ValueTypeStr:
		hashString(h, a.Str())
		return len(a.Str())
	case pcommon.ValueTypeInt:
		maphash.WriteComparable(h, a.Int())
	case pcommon.ValueTypeBool:
		maphash.WriteComparable(h, a.Bool())
	case pcommon.ValueTypeDouble:
		maphash.WriteComparable(h, math.Float64bits(a.Double()))
	case pcommon.ValueTypeBytes:
		hashString(h, string(a.Bytes().AsRaw()))
		return a.Bytes().Len()
	case pcommon.ValueTypeMap:
		maphash.WriteComparable(h, a.Map().Len())
		for k, e := range a.Map().All() {
			hashString(h, k)
			size += len(k) + hashAttr(h, e, depth+1)
		}
	case pcommon.ValueTypeSlice:
		maphash.WriteComparable(h, a.Slice().Len())
		for _, e := range a.Slice().All() {
			size += hashAttr(h, e, depth+1)
		}
	}
	return size + 8
}

// list is fromAttr of a list of maps.
func (m *attrMemo) list(a pcommon.Slice) value.Value {
	items := make([]value.Value, 0, a.Len())
	var before *attrElement
	var one [1]attrLeaf
	for _, e := range a.All() {
		if e.Type() != pcommon.ValueTypeMap {
			items = append(items, fromAttr(e))
			continue
		}
		one[0].value = e
		before = m.find(one[:], before, func() value.Value { return fromAttr(e) })
		items = append(items, before.value)
	}
	return value.List(items...)
}

// unflatten is [unflatten] of attributes that name elements of one list, each at
// one place; false if they do not.
func (m *attrMemo) unflatten(attributes pcommon.Map, prefix string) (value.Value, bool) {
	type indexed struct {
		index uint64
		*attrElement
	}
	var found []indexed
	var before *attrElement
	var leaves []attrLeaf
	at := ""
	end := func() {
		if len(leaves) == 0 {
			return
		}
		before = m.find(leaves, before, func() value.Value {
			root := &flatNode{}
			for _, l := range leaves {
				root.put(l.name, fromAttr(l.value))
			}
			return root.value()
		})
		index, _ := strconv.ParseUint(at, 10, 32)
		found = append(found, indexed{index, before})
		leaves = leaves[:0]
	}
	for k, v := range attributes.All() {
		rest, ok := strings.CutPrefix(k, prefix)
		if !ok {
			continue
		}
		index, name, ok := strings.Cut(rest, ".")
		if !ok || !plainIndex(index) {
			return value.Value{}, false
		}
		if index != at {
			end()
			at = index
		}
		leaves = append(leaves, attrLeaf{name, v})
	}
	end()
	if len(found) == 0 {
		return value.Value{}, true
	}
	slices.SortStableFunc(found, func(a, b indexed) int { return cmp.Compare(a.index, b.index) })
	items := make([]value.Value, 0, len(found))
	for i, e := range found {
		if i > 0 && e.index == found[i-1].index {
			return value.Value{}, false
		}
		items = append(items, e.value)
	}
	return value.List(items...), true
}

// plainIndex reports a number as it is counted: short, and without zeros before.
func plainIndex(s string) bool {
	if s == "" || len(s) > 9 || s[0] == '0' && len(s) > 1 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
