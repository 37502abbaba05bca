package ingest

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// jsonMember is one member of an object, in the order of the text.
type jsonMember struct {
	name  string
	value json.RawMessage
}

// text is the value of a string, and any other value as JSON.
func (m jsonMember) text() string {
	var s string
	if json.Unmarshal(m.value, &s) == nil && len(m.value) > 0 && m.value[0] == '"' {
		return s
	}
	return string(m.value)
}

// membersOf are the members of an object, nil of anything else. The order counts:
// it is that in which a request was written.
func membersOf(text json.RawMessage) []jsonMember {
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	out := []jsonMember{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return out
		}
		m := jsonMember{}
		m.name, _ = name.(string)
		if dec.Decode(&m.value) != nil {
			return out
		}
		out = append(out, m)
	}
	return out
}

// elements are those of an array, nil of anything else.
func elements(text json.RawMessage) (out []json.RawMessage) {
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

func isArray(text json.RawMessage) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '['
}

// maxDepth bounds how deep values are taken apart: each level reads what is below
// it again. What is deeper stays JSON text.
const maxDepth = 32

// putMembers writes the members of an object as attributes.
func putMembers(attrs pcommon.Map, object json.RawMessage, prefix string) {
	for _, m := range membersOf(object) {
		putValue(attrs.PutEmpty(prefix+m.name), m.value)
	}
}

// putValue writes JSON as an attribute value: whole numbers as integers as far as
// these reach, other numbers as floats.
func putValue(to pcommon.Value, text json.RawMessage) { putDeep(to, text, 0) }

func putDeep(to pcommon.Value, text json.RawMessage, depth int) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	if nested := text[0] == '{' || text[0] == '['; nested && depth == maxDepth {
		to.SetStr(string(text))
		return
	}
	switch text[0] {
	case '"':
		var s string
		if json.Unmarshal(text, &s) == nil {
			to.SetStr(s)
		}
	case 't', 'f':
		to.SetBool(text[0] == 't')
	case 'n':
	case '{':
		object := to.SetEmptyMap()
		for _, m := range membersOf(text) {
			putDeep(object.PutEmpty(m.name), m.value, depth+1)
		}
	case '[':
		list := to.SetEmptySlice()
		for _, e := range elements(text) {
			putDeep(list.AppendEmpty(), e, depth+1)
		}
	default:
		n := json.Number(text)
		whole, err := n.Int64()
		if err == nil && !strings.ContainsAny(string(n), ".eE") {
			to.SetInt(whole)
			return
		}
		if f, err := n.Float64(); err == nil {
			to.SetDouble(f)
			return
		}
		to.SetStr(string(n))
	}
}
