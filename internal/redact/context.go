package redact

import "strings"

// Context says what the names above a value make of it. The zero Context is
// that of a value under no name.
type Context struct {
	typ  string
	mode mode
	// props: the members of this object are properties of a JSON schema.
	props bool
	// id: the name says that the value is an identifier.
	id bool
	// opaque: the name says that a value in base64 is no text.
	opaque bool
}

type mode uint8

const (
	plainMode mode = iota
	// secretMode: every leaf is secret.
	secretMode
	// schemaMode: the value describes a secret instead of being one, as
	// {"type":"string"} does under properties.password of a tool definition.
	// Its annotations stay, its defaults and examples go.
	schemaMode
	// schemaPropsMode: each member is in schemaMode.
	schemaPropsMode
)

// Members that describe, that hold schemas, and that name them.
var (
	schemaWords = set([]string{
		"type", "title", "description", "format", "pattern", "$ref", "$schema", "$id", "$comment",
		"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "uniqueItems",
		"minProperties", "maxProperties", "required", "nullable", "readOnly", "writeOnly", "deprecated",
		"contentEncoding", "contentMediaType",
	})
	schemaHolders = set([]string{
		"items", "prefixItems", "contains", "anyOf", "oneOf", "allOf", "not", "if", "then", "else",
		"additionalProperties", "propertyNames",
	})
	schemaMaps = set([]string{"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
)

// Member is the context of the value of a member, given the member's name as
// [Policy.Name] leaves it: a name that holds a secret itself then means the same
// before and after redaction.
func (p *Policy) Member(c Context, name string) Context {
	switch c.mode {
	case secretMode:
		return c
	case schemaMode:
		switch {
		case schemaWords[name]:
			return Context{}
		case schemaHolders[name]:
			return Context{typ: c.typ, mode: schemaMode}
		case schemaMaps[name]:
			return Context{typ: c.typ, mode: schemaPropsMode}
		}
		return Context{typ: c.typ, mode: secretMode}
	case schemaPropsMode:
		return Context{typ: c.typ, mode: schemaMode}
	}
	j := p.keys.judge(name)
	switch {
	case j.secret && c.props:
		return Context{typ: j.typ, mode: schemaMode}
	case j.secret:
		return Context{typ: j.typ, mode: secretMode}
	}
	return Context{props: j.schema, id: j.id, opaque: j.opaque}
}

// Element is the context of the elements of an array.
func (c Context) Element() Context {
	c.props = false
	return c
}

// Secret reports whether a leaf in this context is secret by name, and of which
// type.
func (c Context) Secret() (typ string, ok bool) { return c.typ, c.mode != plainMode }

// Pair is the context of the member "value" of an object in which other members
// name it, as in lists of headers and variables:
// {"name":"Authorization","value":"…"}. Names holds the content of those members
// by their own names, redacted or not; see [IsPairName].
func (p *Policy) Pair(c Context, names map[string]string) Context {
	var pair pairName
	for member, name := range names {
		p.named(&pair, member, name)
	}
	return c.pair(pair.typ)
}

// Following is the context of an element of an array that follows the string
// before: lists of arguments hold a flag and its value one after the other, as
// in ["--token", "x"].
func (p *Policy) Following(c Context, before string) Context {
	name, ok := strings.CutPrefix(before, "--")
	if !ok || c.mode != plainMode || len(name) > maxName {
		return c
	}
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return c
		}
	}
	typ, _ := p.KeySecret(name)
	return c.pair(typ)
}

func (c Context) pair(typ string) Context {
	if typ != "" && c.mode == plainMode {
		return Context{typ: typ, mode: secretMode}
	}
	return c
}

// IsPairName reports whether the member of that name may name the member
// "value" beside it.
func IsPairName(name string) bool {
	switch name {
	case "name", "key", "header", "field", "Name", "Key", "Header":
		return true
	}
	return false
}

// IsPairValue reports whether the member of that name is the value of a pair.
func IsPairValue(name string) bool { return name == "value" || name == "Value" }

// isIDName reports whether a name ends in the word id.
func isIDName(name string) bool {
	n := len(name)
	if n < 2 || !strings.EqualFold(name[n-2:], "id") {
		return n >= 3 && strings.EqualFold(name[n-3:], "ids") && isIDName(name[:n-1])
	}
	if n == 2 {
		return true
	}
	c := name[n-3]
	camel := name[n-2] == 'I' && c >= 'a' && c <= 'z'
	return camel || !isWordByte(c) || c == '_'
}
