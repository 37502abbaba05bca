package attribution

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// Good is what is kept of a run that went well, to compare failures with: which
// schema each tool had. It shares no memory with the tape it was made from, holds
// no descriptions, turns into JSON and back, and never changes.
type Good struct {
	// TraceID is that of the run, "" when unknown.
	TraceID string `json:"trace_id,omitempty"`
	// Tools are ordered by name, each once.
	Tools []GoodTool `json:"tools"`
}

// GoodTool is a tool of a run that went well.
type GoodTool struct {
	Name string `json:"name"`
	// Version is the schema version in force, "" when unknown.
	Version string `json:"schema_version,omitempty"`
	// Schema is the JSON schema without what only explains it, nil when unknown.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// NewGood takes the schemas of a run, nil where it tells of none: then an older
// good run says more.
func NewGood(t *tape.Tape) *Good {
	if t == nil {
		return nil
	}
	at := map[string]*GoodTool{}
	tool := func(name string) *GoodTool {
		if at[name] == nil {
			at[name] = &GoodTool{Name: strings.Clone(name)}
		}
		return at[name]
	}
	g := &Good{}
	if m := t.Manifest; m != nil {
		g.TraceID = strings.Clone(m.TraceID)
		for i := range m.Tools {
			defined := &m.Tools[i]
			schema := constraints(defined.Schema)
			if schema == nil && defined.SchemaVersion == "" {
				continue
			}
			if known := tool(defined.Name); known.Schema == nil {
				known.Schema, known.Version = schema, strings.Clone(defined.SchemaVersion)
			}
		}
	}
	for i := range t.Records {
		if rec := &t.Records[i]; rec.KindOf() == tape.KindTool && rec.SchemaVersion != "" && !rec.Failed() {
			tool(rec.Tool).Version = strings.Clone(rec.SchemaVersion)
		}
	}
	if len(at) == 0 {
		return nil
	}
	for _, known := range at {
		g.Tools = append(g.Tools, *known)
	}
	slices.SortFunc(g.Tools, func(a, b GoodTool) int { return cmp.Compare(a.Name, b.Name) })
	return g
}

// Size is about how many bytes of memory it takes.
func (g *Good) Size() int {
	const perTool = 64
	size := perTool + len(g.TraceID)
	for i := range g.Tools {
		t := &g.Tools[i]
		size += perTool + len(t.Name) + len(t.Version) + len(t.Schema)
	}
	return size
}

// SameTools reports whether both have the same tools with the same schemas, so
// that only one need be kept for many runs.
func (g *Good) SameTools(o *Good) bool {
	return slices.EqualFunc(g.Tools, o.Tools, func(a, b GoodTool) bool {
		return a.Name == b.Name && a.Version == b.Version && bytes.Equal(a.Schema, b.Schema)
	})
}

// toolsByName are the tools as definitions; a nil Good has none.
func (g *Good) toolsByName() map[string]*tape.Tool {
	if g == nil {
		return nil
	}
	out := make(map[string]*tape.Tool, len(g.Tools))
	for i := range g.Tools {
		t := &g.Tools[i]
		out[t.Name] = &tape.Tool{Name: t.Name, Schema: t.Schema, SchemaVersion: t.Version}
	}
	return out
}

// constraints is a schema without its remarks, its members sorted; nil for none
// and for one that is not JSON.
func constraints(schema []byte) json.RawMessage {
	if len(schema) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	// What was decoded can be encoded.
	out, _ := json.Marshal(withoutRemarks(v, false))
	return out
}

// withoutRemarks changes and gives v. Names of properties are no members of a
// schema, and a default or an enum is data.
func withoutRemarks(v any, names bool) any {
	object, ok := v.(map[string]any)
	if !ok {
		list, _ := v.([]any)
		for i := range list {
			list[i] = withoutRemarks(list[i], false)
		}
		return v
	}
	for name, inner := range object {
		switch {
		case names:
			object[name] = withoutRemarks(inner, false)
		case slices.Contains(remarks, name):
			delete(object, name)
		case name != "default" && name != "enum" && name != "const":
			object[name] = withoutRemarks(inner, holdsNames(name))
		}
	}
	return object
}

// holdsNames tells the members of a schema whose own members are named by its
// author.
func holdsNames(member string) bool {
	switch member {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return true
	}
	return false
}
