package rules

// pos is how far a rule's path leads to a place: at is the step that comes next,
// the number of steps if the place is the one.
type pos struct{ rule, at int }

// Place is a place in a value, as far as rules are concerned.
type Place struct {
	m    *Matcher
	here []pos
}

// Root is the whole value.
func (m *Matcher) Root() Place {
	var here []pos
	for rule := range m.rules {
		here = m.add(here, 0, pos{rule, 0})
	}
	return Place{m, here}
}

// Name is the place of a member.
func (p Place) Name(name string) Place {
	here := p.m.step(nil, p.here, func(s *segment) bool { return s.takesName(name) })
	return Place{p.m, here}
}

// Index is the place of an element.
func (p Place) Index(i int) Place {
	here := p.m.step(nil, p.here, func(s *segment) bool { return s.takesIndex(i) })
	return Place{p.m, here}
}

// Free reports whether no rule is about the place, or any inside of it.
func (p Place) Free() bool { return len(p.here) == 0 }

// Here reports whether a rule is about the place itself.
func (p Place) Here() bool {
	for _, at := range p.here {
		if at.at == len(p.m.rules[at.rule].path) {
			return true
		}
	}
	return false
}

// Is reports whether a rule of that match is about the place itself.
func (p Place) Is(match Match) bool {
	for _, at := range p.here {
		if r := &p.m.rules[at.rule]; at.at == len(r.path) && r.rule.Match == match {
			return true
		}
	}
	return false
}

// Ignored is the title of the rule by which the place itself is ignored, "" for none.
func (p Place) Ignored() string {
	for _, at := range p.here {
		if r := &p.m.rules[at.rule]; at.at == len(r.path) && r.rule.Match == Ignore {
			return r.title
		}
	}
	return ""
}

// add appends a position, and that behind ** which may stand for nothing, unless
// they are in list[from:].
func (m *Matcher) add(list []pos, from int, p pos) []pos {
	for _, old := range list[from:] {
		if old == p {
			return list
		}
	}
	list = append(list, p)
	if path := m.rules[p.rule].path; p.at < len(path) && path[p.at].deep {
		return m.add(list, from, pos{p.rule, p.at + 1})
	}
	return list
}

// step appends to list the positions of a place one step inside of here.
func (m *Matcher) step(list, here []pos, takes func(*segment) bool) []pos {
	from := len(list)
	for _, p := range here {
		path := m.rules[p.rule].path
		switch {
		case p.at == len(path):
		case path[p.at].deep:
			list = m.add(list, from, p)
		case takes(&path[p.at]):
			list = m.add(list, from, pos{p.rule, p.at + 1})
		}
	}
	return list
}
