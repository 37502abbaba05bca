package redact

// Leaf redacts a string that stands in the given context and appends what it
// replaced to hits, with paths relative to the string.
func (p *Policy) Leaf(c Context, s string, hits *Hits) string { return p.leaf(c, s, 0, hits) }

func (p *Policy) leaf(c Context, s string, nest int, hits *Hits) string {
	if s == "" {
		return s
	}
	if typ, secret := c.Secret(); secret {
		if IsPlaceholder(s) || IsSurrogate(s) || typ == typeDir && isFilePath(s) {
			return s
		}
		hits.add("", typ)
		return p.instead(s, typ)
	}
	if c.id && digitsEnd(s, 0) == len(s) {
		return s
	}
	if c.opaque && p.scan.opaque && isBase64(s) && !p.scan.begins(s, &hits.found) {
		return s
	}
	return p.text(s, nest, hits)
}

// Number reports whether a number written as lit is secret in the given
// context, and of which type.
func (p *Policy) Number(c Context, lit string) (typ string, secret bool) {
	if typ, secret = c.Secret(); secret {
		return typ, true
	}
	if !c.id && p.cards && len(lit) >= minCard && isCard(lit) {
		return typeCard, true
	}
	return "", false
}

// Name redacts a member name and appends what it replaced to hits.
func (p *Policy) Name(name string, hits *Hits) string {
	if p.shortNames && isShortName(name) || p.clean.has(name) {
		return name
	}
	out := p.text(name, maxNesting, hits)
	if out == name {
		p.clean.add(name)
	}
	return out
}

// isShortName reports whether a name is too short and too plain for any
// built-in rule to match in it.
func isShortName(s string) bool {
	if len(s) >= minCard {
		return false
	}
	for i := range len(s) {
		if !isWordByte(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return true
}
