package rules

import "slices"

// IDs are the ids that stand for each other, one to one, by namespace. The zero
// value is ready. It is not safe for concurrent use.
type IDs struct {
	live, recorded map[id]string
}

type id struct{ namespace, text string }

// known reports whether one of a pair of ids stands for something, and whether
// they stand for each other.
func (ids *IDs) known(namespace, recorded, live string) (known, same bool) {
	l, isRecorded := ids.live[id{namespace, recorded}]
	r, isLive := ids.recorded[id{namespace, live}]
	return isRecorded || isLive, l == live && r == recorded
}

func (ids *IDs) pair(namespace, recorded, live string) {
	if ids.live == nil {
		ids.live, ids.recorded = map[id]string{}, map[id]string{}
	}
	ids.live[id{namespace, recorded}] = live
	ids.recorded[id{namespace, live}] = recorded
}

func (ids *IDs) add(more *IDs) {
	for at, live := range more.live {
		ids.pair(at.namespace, at.text, live)
	}
}

// Fit is how a call and a record are the same.
type Fit struct {
	// Rules are the titles of the rules that it took, in their order.
	Rules []string
	// Ignored are the places that differ and are ignored, by rule.
	Ignored []Ignored
	ids     IDs
}

// Ignored is a place that a rule ignored.
type Ignored struct {
	// Rule is its title, Path the place, with [*] for elements.
	Rule, Path string
}

// Fits compares two masked texts whose sums are equal, and returns how they are
// the same, nil if they are not. Ids that it takes for each other count from
// [IDs.Keep] on.
func (m *Matcher) Fits(recorded, live *Form, ids *IDs) *Fit { return m.fits(recorded, live, ids) }

// fits takes ids for each other only as all of known do.
func (m *Matcher) fits(recorded, live *Form, known ...*IDs) *Fit {
	if recorded.Sum != live.Sum || len(recorded.slots) != len(live.slots) {
		return nil
	}
	fit := &Fit{}
	for i := range recorded.slots {
		a, b := &recorded.slots[i], &live.slots[i]
		switch r := &m.rules[a.rule].rule; r.Match {
		case Number:
			if a.text != b.text && !near(a.num, b.num, r.Abs, r.Rel) {
				return nil
			}
		case Time:
			if apart(a.nanos, b.nanos) > uint64(r.Within) {
				return nil
			}
		case ID:
			if !fit.pair(m.rules[a.rule].namespace, a.text, b.text, known) {
				return nil
			}
		}
	}
	m.name(fit, recorded.touched, live.touched)
	return fit
}

// pair takes two ids for each other, if nothing speaks against it.
func (fit *Fit) pair(namespace, recorded, live string, known []*IDs) bool {
	for _, ids := range append(known, &fit.ids) {
		if found, same := ids.known(namespace, recorded, live); found {
			return same
		}
	}
	fit.ids.pair(namespace, recorded, live)
	return true
}

// Keep makes the ids of a fit stand for each other from now on.
func (ids *IDs) Keep(fit *Fit) { ids.add(&fit.ids) }

// Serve notes the ids in a result that was served as recorded: they are ids of
// both sides, and stand for themselves, unless they stand for another already.
func (m *Matcher) Serve(canonical []byte, ids *IDs) {
	form := m.Mask(canonical)
	for i := range form.slots {
		namespace, text := m.rules[form.slots[i].rule].namespace, form.slots[i].text
		if known, _ := ids.known(namespace, text, text); !known {
			ids.pair(namespace, text, text)
		}
	}
}

// name fills in the rules that had something to do, and what is ignored.
func (m *Matcher) name(fit *Fit, recorded, live []touch) {
	for len(recorded)+len(live) > 0 {
		var a, b touch
		switch {
		case len(live) == 0 || len(recorded) > 0 && recorded[0].rule < live[0].rule:
			a, recorded = recorded[0], recorded[1:]
		case len(recorded) == 0 || live[0].rule < recorded[0].rule:
			b, live = live[0], live[1:]
		default:
			a, b, recorded, live = recorded[0], live[0], recorded[1:], live[1:]
		}
		if a.sum == b.sum {
			continue
		}
		c := &m.rules[max(a.rule, b.rule)]
		fit.Rules = append(fit.Rules, c.title)
		for _, path := range a.paths {
			fit.Ignored = append(fit.Ignored, Ignored{c.title, path})
		}
		for _, path := range b.paths {
			if !slices.Contains(a.paths, path) {
				fit.Ignored = append(fit.Ignored, Ignored{c.title, path})
			}
		}
	}
}

// Pairs compares values place by place, for what is left to say of a call and a
// record that do not fit: ids that it took for each other count for the values
// after them.
type Pairs struct{ kept, seen *IDs }

// NewPairs begins with the ids kept so far.
func NewPairs(kept *IDs) *Pairs { return &Pairs{kept, &IDs{}} }

// Same reports whether rules take two canonical values for the same at a place.
func (pairs *Pairs) Same(p Place, recorded, live []byte) bool {
	fit := p.m.fits(p.m.maskAt(recorded, p.here), p.m.maskAt(live, p.here), pairs.kept, pairs.seen)
	if fit == nil {
		return false
	}
	pairs.seen.add(&fit.ids)
	return true
}
