package walk

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/xpdata"
)

// MaxDepth is how deep maps and arrays are entered. A visitor that must judge
// all content handles a map or array at that depth itself; see [Path.Depth].
const MaxDepth = 512

func (w *walker) text(field, s string, set func(string)) {
	if s == "" {
		return
	}
	w.at.field = field
	if t := w.v.Text(&w.at, s); t != s {
		set(t)
	}
}

func (w *walker) texts(field string, list pcommon.StringSlice) {
	w.at.field = field
	w.at.push(step{})
	for i := range list.Len() {
		w.at.top().index = i
		s := list.At(i)
		if s == "" {
			continue
		}
		if t := w.v.Text(&w.at, s); t != s {
			list.SetAt(i, t)
		}
	}
	w.at.pop()
}

func (w *walker) attributes(m pcommon.Map) {
	w.at.field = "attributes"
	w.members(m)
}

func (w *walker) members(m pcommon.Map) {
	if m.Len() == 0 {
		return
	}
	var names []string
	i := 0
	for key, v := range m.All() {
		name := w.v.Key(&w.at, key)
		if name != key {
			if names == nil {
				names = keysOf(m)
			}
			names[i] = name
		}
		w.at.push(step{name: name, key: key, index: -1})
		w.value(v)
		w.at.pop()
		i++
	}
	if names != nil {
		w.rename(m, names)
	}
}

// rename rebuilds a map, the only way to change a name. It keeps order, values
// and duplicate names.
func (w *walker) rename(m pcommon.Map, names []string) {
	w.v.Renamed(keysOf(m), names)
	var b xpdata.MapBuilder
	b.EnsureCapacity(len(names))
	i := 0
	for _, v := range m.All() {
		v.MoveTo(b.AppendEmpty(names[i]))
		i++
	}
	b.UnsafeIntoMap(m)
}

func keysOf(m pcommon.Map) []string {
	keys := make([]string, 0, m.Len())
	for k := range m.All() {
		keys = append(keys, k)
	}
	return keys
}

func (w *walker) value(v pcommon.Value) {
	if !w.v.Value(&w.at, v) || w.at.Depth() >= MaxDepth {
		return
	}
	switch v.Type() {
	case pcommon.ValueTypeMap:
		w.members(v.Map())
	case pcommon.ValueTypeSlice:
		w.at.push(step{})
		for i, e := range v.Slice().All() {
			*w.at.top() = step{index: i}
			w.value(e)
		}
		w.at.pop()
	}
}
