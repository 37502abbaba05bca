package replay

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/tapedeck/tapedeck/replay/rules"
)

// ruledDiff is a comparison that leaves out what rules take for the same.
type ruledDiff struct {
	list    []Difference
	ignored []rules.Ignored
	pairs   *rules.Pairs
}

// DiffByRules is [Diff] of two valid texts but for what rules take for the same, and the
// places that differ and are ignored. Ids count as in ids, which stays as it is. There
// may be no difference where each place can be excused, and all together cannot.
func DiffByRules(m *rules.Matcher, ids *rules.IDs, recorded, live json.RawMessage) ([]Difference, []rules.Ignored) {
	a, errA := parseCanonical(recorded)
	b, errB := parseCanonical(live)
	if errA != nil || errB != nil {
		return nil, nil
	}
	d := &ruledDiff{pairs: rules.NewPairs(ids)}
	d.value("", m.Root(), a, b)
	return d.list, d.ignored
}

// ignore notes a place that differs, and reports whether a rule ignores it.
func (d *ruledDiff) ignore(path string, at rules.Place) bool {
	title := at.Ignored()
	if title != "" {
		d.ignored = append(d.ignored, rules.Ignored{Rule: title, Path: path})
	}
	return title != ""
}

func (d *ruledDiff) value(path string, at rules.Place, a, b any) {
	if at.Free() {
		diffInto(&d.list, path, a, b)
		return
	}
	if at.Here() {
		recorded, live := render(a), render(b)
		if d.pairs.Same(at, recorded, live) {
			if !bytes.Equal(recorded, live) {
				d.ignore(path, at)
			}
			return
		}
	}
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.object(path, at, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			if at.Is(rules.Unordered) {
				x, y = d.left(at, x, y)
			}
			d.array(path, at, x, y)
			return
		}
	}
	diffInto(&d.list, path, a, b)
}

func (d *ruledDiff) object(path string, at rules.Place, a, b map[string]any) {
	for _, name := range names(a, b) {
		inner, place := joinName(path, name), at.Name(name)
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case inA && inB:
			d.value(inner, place, x, y)
		case d.ignore(inner, place):
		case inA:
			d.list = append(d.list, Difference{Path: inner, Recorded: render(x)})
		default:
			d.list = append(d.list, Difference{Path: inner, Live: render(y)})
		}
	}
}

func (d *ruledDiff) array(path string, at rules.Place, a, b []any) {
	for i := range max(len(a), len(b)) {
		inner, place := path+"["+strconv.Itoa(i)+"]", at.Index(i)
		switch {
		case i < len(a) && i < len(b):
			d.value(inner, place, a[i], b[i])
		case d.ignore(inner, place):
		case i < len(a):
			d.list = append(d.list, Difference{Path: inner, Recorded: render(a[i])})
		default:
			d.list = append(d.list, Difference{Path: inner, Live: render(b[i])})
		}
	}
}

// maxUnordered bounds arrays in which equal elements are looked for one by one.
const maxUnordered = 1000

// left takes out of two unordered arrays what is in both.
func (d *ruledDiff) left(at rules.Place, a, b []any) (onlyA, onlyB []any) {
	if len(a) > maxUnordered || len(b) > maxUnordered {
		return a, b
	}
	taken := make([]bool, len(b))
	for i, x := range a {
		found := false
		for k, y := range b {
			if !taken[k] && d.pairs.Same(at.Index(i), render(x), render(y)) {
				taken[k], found = true, true
				break
			}
		}
		if !found {
			onlyA = append(onlyA, x)
		}
	}
	for k, y := range b {
		if !taken[k] {
			onlyB = append(onlyB, y)
		}
	}
	return onlyA, onlyB
}
