package scrub

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/walk"
)

type visitor struct {
	s     *Scrubber
	p     *redact.Policy
	texts Texts
	stats Stats
	names names
	// levels follows the path of the walk, from the field down.
	levels []level
	hits   redact.Hits
	paths  []string
}

// level is what the names above say about one step of the path.
type level struct {
	context redact.Context
	// pair holds, for a map with members that name another, what they say.
	pair map[string]string
	// before is, for an array, the string that the last element was.
	before string
}

func (v *visitor) Enter(walk.Node) { v.paths = v.paths[:0] }

func (v *visitor) Leave(n walk.Node) {
	if len(v.paths) > 0 {
		note(n.Attributes, v.paths)
	}
}

func (v *visitor) Text(at *walk.Path, s string) string {
	return v.leaf(at, redact.Context{}, s)
}

func (v *visitor) Key(at *walk.Path, key string) string {
	d := at.Depth()
	around := v.level(d).context
	alone := around == redact.Context{}
	if alone {
		if c, ok := v.names.context(key); ok {
			v.set(d+1, c)
			return key
		}
	}
	name := v.p.Name(key, &v.hits)
	c := v.p.Member(around, name)
	v.set(d+1, c)
	if len(v.hits.List) > 0 {
		for i := range v.hits.List {
			v.hits.List[i].Path = name
		}
		v.found(at)
	} else if alone {
		v.names.remember(key, c)
	}
	return name
}

func (v *visitor) Renamed(from, to []string) { redact.KeepApart(from, to) }

func (v *visitor) Value(at *walk.Path, val pcommon.Value) bool {
	c := v.enter(at, val)
	switch val.Type() {
	case pcommon.ValueTypeStr:
		s := val.Str()
		if t := v.str(at, c, s); t != s {
			val.SetStr(t)
		}
	case pcommon.ValueTypeBytes:
		s := string(val.Bytes().AsRaw())
		if t := v.leaf(at, c, s); t != s {
			// Copies of pdata share the bytes of values, so they are not written over.
			val.SetEmptyBytes().FromRaw([]byte(t))
		}
	case pcommon.ValueTypeInt:
		if v.number(at, c, float64(val.Int()), func() string { return strconv.FormatInt(val.Int(), 10) }) {
			val.SetInt(0)
		}
	case pcommon.ValueTypeDouble:
		if v.number(at, c, val.Double(), func() string { return strconv.FormatFloat(val.Double(), 'f', -1, 64) }) {
			val.SetDouble(0)
		}
	case pcommon.ValueTypeBool:
		if typ, secret := c.Secret(); secret && val.Bool() {
			v.hit(at, typ)
			val.SetBool(false)
		}
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		if at.Depth() >= walk.MaxDepth {
			// Nobody looks inside, so nobody passes it on.
			v.hit(at, redact.TypeError)
			val.SetStr(redact.Placeholder(redact.TypeError))
			return false
		}
		if val.Type() == pcommon.ValueTypeMap {
			v.findPair(at.Depth(), val.Map())
		}
	}
	return true
}

// enter works out the context of the value at the path. Key has set that of a
// member; a field stands under no name.
func (v *visitor) enter(at *walk.Path, val pcommon.Value) redact.Context {
	d := at.Depth()
	if d == 0 {
		v.set(0, redact.Context{})
		return redact.Context{}
	}
	key, _, member := at.Member()
	switch {
	case !member:
		around := &v.levels[d-1]
		v.set(d, v.p.Following(around.context.Element(), around.before))
		// The levels may have moved.
		if around = &v.levels[d-1]; val.Type() == pcommon.ValueTypeStr {
			around.before = val.Str()
		} else {
			around.before = ""
		}
	case redact.IsPairValue(key) && v.level(d-1).pair != nil:
		v.set(d, v.p.Pair(v.level(d).context, v.level(d-1).pair))
	}
	return v.level(d).context
}

func (v *visitor) level(d int) level {
	if d >= len(v.levels) {
		return level{}
	}
	return v.levels[d]
}

func (v *visitor) set(d int, c redact.Context) {
	for len(v.levels) <= d {
		v.levels = append(v.levels, level{})
	}
	// Most levels say nothing, again and again; what stays is not written.
	l := &v.levels[d]
	if l.context != c {
		l.context = c
	}
	if l.pair != nil {
		l.pair = nil
	}
	if l.before != "" {
		l.before = ""
	}
}

// findPair notes what the members say that name the member "value".
func (v *visitor) findPair(d int, m pcommon.Map) {
	hasValue := false
	var pair map[string]string
	for k, e := range m.All() {
		if redact.IsPairName(k) && e.Type() == pcommon.ValueTypeStr {
			if pair == nil {
				pair = map[string]string{}
			}
			pair[k] = e.Str()
		}
		hasValue = hasValue || redact.IsPairValue(k)
	}
	if hasValue {
		v.levels[d].pair = pair
	}
}

// str redacts a string value, in another's way if there is one.
func (v *visitor) str(at *walk.Path, c redact.Context, s string) string {
	if v.texts == nil {
		return v.leaf(at, c, s)
	}
	t := v.texts.Text(at, c, s, &v.hits)
	v.found(at)
	return t
}

// leaf redacts a string in its context.
func (v *visitor) leaf(at *walk.Path, c redact.Context, s string) string {
	t := v.s.Leaf(c, s, &v.hits)
	v.found(at)
	return t
}

// number reports whether a number is secret. Small ones are so by name only,
// which spares writing them out.
func (v *visitor) number(at *walk.Path, c redact.Context, f float64, text func() string) bool {
	typ, secret := c.Secret()
	if !secret && f >= redact.MinNumber && f == math.Trunc(f) {
		typ, secret = v.p.Number(c, text())
	}
	if !secret || f == 0 {
		return false
	}
	v.hit(at, typ)
	return true
}

func (v *visitor) hit(at *walk.Path, typ string) {
	v.hits.List = append(v.hits.List, redact.Hit{Type: typ})
	v.found(at)
}

// found moves new hits to the statistics and the paths of the node.
func (v *visitor) found(at *walk.Path) {
	if len(v.hits.List) == 0 {
		return
	}
	if v.stats.Types == nil {
		v.stats.Types = map[string]int{}
	}
	base := at.String()
	for _, h := range v.hits.List {
		v.stats.Values++
		v.stats.Types[h.Type]++
		v.paths = append(v.paths, redact.JoinPath(base, h.Path))
	}
	v.hits.List = v.hits.List[:0]
}
