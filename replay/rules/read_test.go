package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func TestParse(t *testing.T) {
	text := `# everything a rule can have
presets: [model-ids]
rules:
  - name: clock
    kind: tool
    tool: get_*
    path: at
    match: time
    within: 5m
    why: it is only logged
  - {path: price, match: number, abs: 0.01, rel: 1e-3}
  - {path: ref, match: regexp, pattern: 'v\d+'}
  - {path: session, match: id, namespace: session, in: result}
model:
  params: [temperature, seed]
`
	want := &Policy{
		Presets: []string{PresetModelIDs},
		Rules: []Rule{
			{Name: "clock", Kind: tape.KindTool, Tool: "get_*", Path: "at", Match: Time, Within: Duration(5 * time.Minute), Why: "it is only logged"},
			{Path: "price", Match: Number, Abs: 0.01, Rel: 1e-3},
			{Path: "ref", Match: Regexp, Pattern: `v\d+`},
			{Path: "session", Match: ID, Namespace: "session", In: InResult},
		},
		Model: Model{Params: []string{"temperature", "seed"}},
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	got, err := ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	encoded, err := json.Marshal(got)
	require.NoError(t, err)
	again, err := Parse("report.json", encoded)
	require.NoError(t, err, "what a report prints can be read")
	assert.Equal(t, want, again)
	none, err := Parse("x", []byte("model: {params: []}"))
	require.NoError(t, err)
	assert.NotNil(t, none.Model.Params, "none is not all")
	assert.False(t, none.Empty())
	assert.Equal(t, `  of model calls, compared parameters are: none
  of model calls, compared parameters are: temperature, seed
  rules of preset model-ids
  rule clock: time at at of tool get_* within 5m0s (it is only logged)
  rule number at price ± 0.01 ± 0.001 of the larger
  rule regexp at ref like v\d+
  rule id in results at session in namespace session
`, none.Text()+got.Text())
}

// TestBadPolicies: errors name the file, the line and the rule.
func TestBadPolicies(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "p.yaml: there is no policy in it",
		"- a":                              "p.yaml:1: the policy is no mapping",
		"rules: {}":                        "p.yaml:1: rules is no list",
		"rules:\n- x":                      "p.yaml:2: rule 1: it is no mapping",
		"rules:\n- {path: a}":              `p.yaml:2: rule 1: member "match" is missing`,
		"rules:\n- {match: uuid}":          `p.yaml:2: rule 1: member "path" is missing`,
		"rule: []":                         `p.yaml:1: there is no member "rule"; want rules, presets or model`,
		"model: {param: []}":               `p.yaml:1: model has no member "param", only params`,
		"model: {params: a}":               "p.yaml:1: params is no list",
		"model: {params: [~]}":             "p.yaml:1: params is no text",
		"presets: [x]":                     `p.yaml: member "presets": there is no preset "x", only "model-ids"`,
		"rules: []\nrules: []":             "p.yaml:2: member \"rules\" is there twice",
		"a: [":                             "p.yaml: no YAML: yaml: line 1",
		"rules: []\n---\nrules: []":        "p.yaml: more than one document",
		"rules: &a [*a]":                   "p.yaml",
		strings.Repeat(" ", MaxSize+1):     "p.yaml: longer than 1048576 bytes",
		"rules:\n- path: a\n  match: same": `p.yaml:3: rule 1 (same at a): member "match": "same" is none of`,
		"rules:\n- path: a\n  match: uuid\n- path: a..b\n  match: uuid\n  name: two": `p.yaml:4: rule 2 (two): member "path": "a..b": at 2: want a name`,
		"rules:\n- path: a\n  match: regexp\n  pattern: '('":                         `p.yaml:4: rule 1 (regexp at a like (): member "pattern": error parsing regexp`,
		"rules:\n- path: a\n  match: number":                                         `p.yaml:2: rule 1 (number at a): member "abs": numbers need a tolerance`,
		"rules:\n- {path: a, match: regexp}":                                         `member "pattern": it is missing`,
		"rules:\n- {path: a, match: number, abs: -1}":                                `member "abs": -1: want a number that is not negative`,
		"rules:\n- {path: a, match: number, rel: 2}":                                 `member "rel": 2: want a number from 0 to 1`,
		"rules:\n- {path: a, match: number, rel: x}":                                 `p.yaml:2: rule 1: rel: "x" is no number`,
		"rules:\n- {path: a, match: number, rel: .nan}":                              `is no number`,
		"rules:\n- {path: a, match: number, rel: nan}":                               `is no number`,
		"rules:\n- {path: a, match: time, within: 5}":                                `p.yaml:2: rule 1: within: want a duration like 90s or 5m`,
		"rules:\n- {path: a, match: time, within: -5s}":                              `member "within": it is negative`,
		"rules:\n- {path: a, match: uuid, within: 5s}":                               `member "within": only rules that match "time" have it`,
		"rules:\n- {path: a, match: uuid, in: result}":                               `member "in": "result": want args, or result for ids`,
		"rules:\n- {path: a, match: uuid, kind: x}":                                  `member "kind": "x" is none of`,
		"rules:\n- {path: a, match: uuid, because: x}":                               `p.yaml:2: rule 1: there is no member "because"`,
		"rules:\n- {path: a, match: uuid}\n- {path: a, match: uuid}":                 `p.yaml:3: rule 2 (uuid at a): member "name": rule 1 has the same`,
		"rules:" + strings.Repeat("\n- {path: a, match: uuid}", MaxRules+1):          `1001 rules; at most 1000 are allowed`,
	} {
		_, err := Parse("p.yaml", []byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
		var wrong *FileError
		require.ErrorAs(t, err, &wrong)
	}
	_, err := ReadFile(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzParse: whatever a policy file holds, it is refused or makes a policy whose
// JSON is the same policy.
func FuzzParse(f *testing.F) {
	f.Add([]byte("rules:\n- {path: a, match: number, abs: 1}\nmodel: {params: [x]}\npresets: [model-ids]"))
	f.Add([]byte(`{"rules":[{"path":"a[*].**[\"x y\"]","match":"time","within":"5m","name":"n"}]}`))
	f.Add([]byte("rules: &a [*a]"))
	f.Add([]byte("a: &a [b, b]\nrules: [*a, *a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("p", text)
		if err != nil {
			return
		}
		encoded, err := json.Marshal(p)
		require.NoError(t, err)
		again, err := Parse("p", encoded)
		require.NoError(t, err, string(encoded))
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(encoded), string(twice))
	})
}

// FuzzPath: a path that can be read can be written, and is the same path then.
func FuzzPath(f *testing.F) {
	for _, text := range []string{"a.b[2]", `["a.b"].**.c[*]`, "*", "**", `a["\u00e9\""]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		again, err := ParsePath(p.String())
		require.NoError(t, err, p.String())
		require.Equal(t, p, again)
	})
}

// FuzzMask: masking any JSON text ends, and every text is the same as itself.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"id":"x","at":"2026-01-01"},[2,1]],"b":"é"}`), "a.**")
	f.Add([]byte(`[[],{},"\"",-0.5e9,null]`), "*")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		form, err := tape.Canonical(text)
		if err != nil {
			return
		}
		var list []Rule
		for _, match := range Matches {
			r := Rule{Path: path, Match: match}
			switch match {
			case Number:
				r.Abs = 1
			case Regexp:
				r.Pattern = "(.).*"
			case Ignore:
				r.Path = "**.ignored"
			}
			list = append(list, r)
		}
		set, err := Compile(&Policy{Rules: list})
		if err != nil {
			return
		}
		m := set.Args(tape.KindTool, "t")
		fit := m.Fits(m.Mask(form), m.Mask(form), &IDs{})
		require.NotNil(t, fit)
		require.Empty(t, fit.Rules)
	})
}
