package redact

// Context says what the names above a value make of it. The zero Context is
// that of a value under no name.
type Context struct {
	typ string
}

// Member is the context of the member name of an object.
func (c Context) Member(p *Policy, name string) Context {
	if c.typ != "" {
		return c
	}
	if typ, ok := p.KeySecret(name); ok {
		return Context{typ: typ}
	}
	return c
}

func (c Context) object() Context { return c }
func (c Context) array() Context  { return c }

// leaf reports whether a leaf in this context is secret, and of which type.
func (c Context) leaf() (string, bool) { return c.typ, c.typ != "" }
