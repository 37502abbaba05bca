package attribution

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/toolschema"
	"github.com/tapedeck/tapedeck/tape"
)

// arguments judges what the model wrote by the schema of the time. Arguments that
// fit the schema of the good run and not this one are the fault of who changed it,
// not of the model.
func (e *examination) arguments(rec *tape.Record, tool *tape.Tool, changed []Finding) []Finding {
	fault := e.fault(rec, tool)
	if fault == "" {
		return nil
	}
	if old := e.goodTools[rec.Tool]; len(changed) > 0 && old != nil && len(old.Schema) > 0 && e.check(old, rec.Args) == "" {
		return nil
	}
	return []Finding{{ArgsGeneration, "arguments do not fit the schema: " + fault}}
}

// fault is what in the arguments does not fit the schema, "" for nothing or where
// not enough of them is left to say.
func (e *examination) fault(rec *tape.Record, tool *tape.Tool) string {
	switch rec.Fidelity {
	case tape.FidelityAbsent, tape.FidelityTruncated, tape.FidelityRedacted:
		return ""
	}
	if tool == nil || len(tool.Schema) == 0 || len(rec.Args) == 0 {
		return ""
	}
	return e.check(tool, rec.Args)
}

func (e *examination) check(tool *tape.Tool, args []byte) string {
	s, known := e.schemas[tool]
	if !known {
		// One that cannot be compiled finds no fault.
		s, _ = toolschema.Compile(tool.Schema)
		e.schemas[tool] = s
	}
	return s.Fault(args)
}

// changed: the schema of the failing tool is not that of the good run.
func (e *examination) changed(rec *tape.Record, tool *tape.Tool) []Finding {
	old := e.goodTools[rec.Tool]
	if old == nil {
		return nil
	}
	if tool != nil && len(tool.Schema) > 0 && len(old.Schema) > 0 {
		paths := schemaPaths(old.Schema, tool.Schema)
		if len(paths) == 0 {
			return nil
		}
		const most = 3
		more := ""
		if n := len(paths) - most; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
			paths = paths[:most]
		}
		return []Finding{{SchemaMismatch, "the schema is not that of the good run: " + strings.Join(paths, ", ") + more}}
	}
	// The hash of a schema says that it differs, a version of its own may too.
	if was := old.SchemaVersion; was != "" && rec.SchemaVersion != "" && was != rec.SchemaVersion {
		return []Finding{{SchemaMismatch, fmt.Sprintf("schema version %s, in the good run %s", rec.SchemaVersion, was)}}
	}
	return nil
}

// remarks are the members of a schema that say nothing about what fits it.
var remarks = []string{"description", "title", "examples", "$comment"}

// schemaPaths lists where two schemas differ, in what constrains arguments. One
// that is not JSON says nothing.
func schemaPaths(was, is []byte) []string {
	var a, b any
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return nil
	}
	var out []string
	diffSchema(a, b, "", false, &out)
	return out
}

// diffSchema compares two values. Names of properties are no members of a schema,
// so that a property called title is not a remark.
func diffSchema(was, is any, at string, names bool, out *[]string) {
	a, isObject := was.(map[string]any)
	b, isObject2 := is.(map[string]any)
	if !isObject || !isObject2 {
		if !sameValue(was, is) {
			*out = append(*out, "/"+strings.TrimPrefix(at, "/")+" differs")
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(union(a, b))) {
		if !names && slices.Contains(remarks, name) {
			continue
		}
		path := at + "/" + name
		x, had := a[name]
		y, has := b[name]
		switch {
		case !had:
			*out = append(*out, path+" is new")
		case !has:
			*out = append(*out, path+" is gone")
		default:
			diffSchema(x, y, path, !names && holdsNames(name), out)
		}
	}
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// sameValue compares what is not two objects. The order of required members, of
// types and of the values of an enum means nothing.
func sameValue(was, is any) bool {
	a, isList := was.([]any)
	b, isList2 := is.([]any)
	if !isList || !isList2 {
		return text(was) == text(is)
	}
	return slices.Equal(sortedTexts(a), sortedTexts(b))
}

func sortedTexts(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = text(v)
	}
	slices.Sort(out)
	return out
}

// text is the JSON of a value that came from JSON, its members sorted.
func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
