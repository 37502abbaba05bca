package diff

import (
	"encoding/json"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// facts compares manifests. Where one side has none, nothing can be said.
func (c *comparison) facts(r *Report, a, b *tape.Manifest) {
	if a == nil || b == nil {
		return
	}
	for _, f := range []struct{ what, a, b string }{
		{"service", a.Service, b.Service},
		{"agent", a.Agent, b.Agent},
		{"agent_version", a.AgentVersion, b.AgentVersion},
		{"code_version", a.CodeVersion, b.CodeVersion},
		{"environment", a.Environment, b.Environment},
		{"redaction", policyOf(a), policyOf(b)},
	} {
		if f.a != f.b {
			r.Context = append(r.Context, Change{What: f.what, A: text(f.a), B: text(f.b)})
		}
	}
	if a.Outcome != b.Outcome {
		r.Run = append(r.Run, Change{What: "outcome", A: text(string(a.Outcome)), B: text(string(b.Outcome))})
	}
	if x, y := classOf(a), classOf(b); x != y {
		r.Run = append(r.Run, Change{What: "failure", Path: "class", A: text(x), B: text(y)})
	}
	r.Run = append(r.Run, c.tools(a.Tools, b.Tools)...)
	for i := range r.Run {
		c.bound(&r.Run[i])
	}
}

func policyOf(m *tape.Manifest) string {
	if m.Redaction == nil {
		return ""
	}
	return m.Redaction.Policy
}

func classOf(m *tape.Manifest) string {
	if m.Failure == nil {
		return ""
	}
	return m.Failure.Class
}

// tools compares the definitions of tools by name. Where only one run lists tools,
// the other did not capture them.
func (c *comparison) tools(a, b []tape.Tool) (out []Change) {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	return Tools(a, b)
}

// Tools compares two lists of tool definitions by name: those that are gone, in the
// order of a, with the paths in which descriptions and schemas differ, and then those
// that are new.
func Tools(a, b []tape.Tool) (out []Change) {
	inB := map[string]*tape.Tool{}
	for i := range b {
		inB[b[i].Name] = &b[i]
	}
	seen := map[string]bool{}
	for i := range a {
		was := &a[i]
		is := inB[was.Name]
		switch {
		case seen[was.Name]:
		case is == nil:
			out = append(out, Change{What: "tools", Path: was.Name, A: definition(was)})
		default:
			list, err := replay.Diff(definition(was), definition(is))
			if err != nil {
				out = append(out, Change{What: "tools", Path: was.Name, A: definition(was), B: definition(is)})
			}
			for _, d := range list {
				out = append(out, Change{What: "tools", Path: was.Name + "." + d.Path, A: d.Recorded, B: d.Live})
			}
		}
		seen[was.Name] = true
	}
	for i := range b {
		if !seen[b[i].Name] {
			out = append(out, Change{What: "tools", Path: b[i].Name, B: definition(&b[i])})
			seen[b[i].Name] = true
		}
	}
	return out
}

// definition is what of a tool tells one version from another. A version that is
// the hash of the schema says nothing that the schema does not.
func definition(t *tape.Tool) json.RawMessage {
	d := struct {
		Description   string          `json:"description,omitempty"`
		Schema        json.RawMessage `json:"schema,omitempty"`
		SchemaVersion string          `json:"schema_version,omitempty"`
	}{t.Description, t.Schema, t.SchemaVersion}
	if len(d.Schema) > 0 {
		d.SchemaVersion = ""
	}
	out, err := json.Marshal(d)
	if err != nil {
		d.Schema = text(string(t.Schema))
		out, _ = json.Marshal(d)
	}
	return out
}
