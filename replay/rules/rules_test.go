package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func canonical(t testing.TB, text string) []byte {
	out, err := tape.Canonical([]byte(text))
	require.NoError(t, err)
	return out
}

// fit compares two texts by the rules of a policy in YAML.
func fit(t testing.TB, policy, recorded, live string) *Fit {
	p, err := Parse("p.yaml", []byte(policy))
	require.NoError(t, err)
	set, err := Compile(p)
	require.NoError(t, err)
	m := set.Args(tape.KindTool, "get_page")
	require.NotNil(t, m)
	return m.Fits(m.Mask(canonical(t, recorded)), m.Mask(canonical(t, live)), &IDs{})
}

const (
	uuidA = `"6f1f4c1e-0d0a-4c8e-9a55-2f6b0f3d7a11"`
	uuidB = `"C2B7A6D0-93be-4f4e-8b61-7d5e0a1c9f02"`
)

func TestEachMatch(t *testing.T) {
	for name, c := range map[string]struct {
		rule, recorded, live string
		want                 bool
	}{
		"ignore another value":         {`{path: a, match: ignore}`, `{"a":1,"b":2}`, `{"a":{"x":[1]},"b":2}`, true},
		"ignore what is not there":     {`{path: a, match: ignore}`, `{"b":2}`, `{"a":1,"b":2}`, true},
		"ignore says nothing of b":     {`{path: a, match: ignore}`, `{"a":1,"b":2}`, `{"a":1,"b":3}`, false},
		"ignore elements":              {`{path: "a[*].at", match: ignore}`, `{"a":[{"at":1,"x":1},{"x":2}]}`, `{"a":[{"x":1},{"x":2,"at":3}]}`, true},
		"ignore an element":            {`{path: "a[1]", match: ignore}`, `{"a":[1,2,3]}`, `{"a":[1,9,3]}`, true},
		"ignore all":                   {`{path: "**", match: ignore}`, `{"a":1}`, `[]`, true},
		"ignore at any depth":          {`{path: "**.id", match: ignore}`, `{"id":1,"a":[{"b":{"id":2}}]}`, `{"id":3,"a":[{"b":{"id":4}}]}`, true},
		"ignore a name that is *":      {`{path: '["*"]', match: ignore}`, `{"*":1,"b":1}`, `{"*":2,"b":2}`, false},
		"uuid":                         {`{path: a, match: uuid}`, `{"a":` + uuidA + `}`, `{"a":` + uuidB + `}`, true},
		"uuid and text":                {`{path: a, match: uuid}`, `{"a":` + uuidA + `}`, `{"a":"x"}`, false},
		"texts are no uuids":           {`{path: a, match: uuid}`, `{"a":"y"}`, `{"a":"x"}`, false},
		"uuid and nothing":             {`{path: a, match: uuid}`, `{"a":` + uuidA + `}`, `{}`, false},
		"time":                         {`{path: a, match: time}`, `{"a":"2020-01-01T00:00:00Z"}`, `{"a":"2026-11-30"}`, true},
		"time near":                    {`{path: a, match: time, within: 1m}`, `{"a":"2026-01-01T00:00:00Z"}`, `{"a":"2026-01-01T01:01:00+01:00"}`, true},
		"time far":                     {`{path: a, match: time, within: 1m}`, `{"a":"2026-01-01T00:00:00Z"}`, `{"a":"2026-01-01T00:01:01Z"}`, false},
		"time in seconds and millis":   {`{path: a, match: time, within: 1s}`, `{"a":1767225600}`, `{"a":1767225600500}`, true},
		"a small number is no time":    {`{path: a, match: time}`, `{"a":1}`, `{"a":2}`, false},
		"number near":                  {`{path: a, match: number, abs: 0.5}`, `{"a":1}`, `{"a":1.5}`, true},
		"number far":                   {`{path: a, match: number, abs: 0.5}`, `{"a":1}`, `{"a":1.6}`, false},
		"number near in proportion":    {`{path: a, match: number, rel: 0.1}`, `{"a":100}`, `{"a":110}`, true},
		"number far in proportion":     {`{path: a, match: number, rel: 0.1}`, `{"a":100}`, `{"a":112}`, false},
		"number and text":              {`{path: a, match: number, abs: 5}`, `{"a":1}`, `{"a":"1"}`, false},
		"numbers anywhere":             {`{path: "**", match: number, abs: 5}`, `{"a":1,"b":[1,{"c":2}]}`, `{"a":2,"b":[3,{"c":4}]}`, true},
		"regexp":                       {`{path: a, match: regexp, pattern: 'run-\d+'}`, `{"a":"run-1"}`, `{"a":"run-22"}`, true},
		"regexp of the whole":          {`{path: a, match: regexp, pattern: 'run-\d+'}`, `{"a":"run-1"}`, `{"a":"run-22x"}`, false},
		"regexp with equal groups":     {`{path: a, match: regexp, pattern: '(\w+)-\d+'}`, `{"a":"x-1"}`, `{"a":"x-2"}`, true},
		"regexp with other groups":     {`{path: a, match: regexp, pattern: '(\w+)-\d+'}`, `{"a":"x-1"}`, `{"a":"y-1"}`, false},
		"case":                         {`{path: a, match: case}`, `{"a":"Straße"}`, `{"a":"STRASSE"}`, true},
		"case and other letters":       {`{path: a, match: case}`, `{"a":"A"}`, `{"a":"b"}`, false},
		"case of numbers":              {`{path: a, match: case}`, `{"a":1}`, `{"a":2}`, false},
		"nfc":                          {`{path: a, match: nfc}`, `{"a":"\u00e9"}`, `{"a":"e\u0301"}`, true},
		"nfc and other letters":        {`{path: a, match: nfc}`, `{"a":"\u00e9"}`, `{"a":"e"}`, false},
		"unordered":                    {`{path: a, match: unordered}`, `{"a":[1,{"x":2,"y":3},"3"]}`, `{"a":["3",1,{"y":3,"x":2}]}`, true},
		"unordered counts":             {`{path: a, match: unordered}`, `{"a":[1,1,2]}`, `{"a":[1,2,2]}`, false},
		"unordered and longer":         {`{path: a, match: unordered}`, `{"a":[1]}`, `{"a":[1,1]}`, false},
		"unordered inside in order":    {`{path: a, match: unordered}`, `{"a":[[1,2]]}`, `{"a":[[2,1]]}`, false},
		"unordered at any depth":       {`{path: "**", match: unordered}`, `{"a":[[1,2],3]}`, `{"a":[3,[2,1]]}`, true},
		"id":                           {`{path: "*", match: id}`, `{"a":"x","b":"y","c":"x"}`, `{"a":"1","b":"2","c":"1"}`, true},
		"id crossed":                   {`{path: "*", match: id}`, `{"a":"x","b":"y","c":"x"}`, `{"a":"1","b":"2","c":"2"}`, false},
		"id for two":                   {`{path: "*", match: id}`, `{"a":"x","b":"y"}`, `{"a":"1","b":"1"}`, false},
		"id of an object":              {`{path: a, match: id}`, `{"a":{}}`, `{"a":"1"}`, false},
		"id null":                      {`{path: "a[*]", match: id}`, `{"a":[null]}`, `{"a":["1"]}`, false},
		"of another tool":              {`{path: a, match: ignore, tool: "get_*"}`, `{"a":1}`, `{"a":2}`, true},
		"names that need quotes":       {`{path: 'h["x.y"]', match: ignore}`, `{"h":{"x.y":1}}`, `{"h":{"x.y":2}}`, true},
		"escapes in names and strings": {`{path: '["\n"]', match: ignore}`, `{"\n":"\"","b":"\\\""}`, `{"\n":"}","b":"\\\""}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := fit(t, "rules: ["+c.rule+"]", c.recorded, c.live)
			assert.Equal(t, c.want, got != nil)
			if got != nil {
				assert.Len(t, got.Rules, 1)
			}
			same := fit(t, "rules: ["+c.rule+"]", c.live, c.live)
			require.NotNil(t, same, "everything is the same as itself")
			assert.Empty(t, same.Rules, "and takes no rule for it")
		})
	}
}

func TestRulesTogether(t *testing.T) {
	got := fit(t, `rules:
  - {path: s, match: nfc}
  - {path: s, match: case}
  - {path: at, match: time, within: 1m, name: clock}
  - {path: ids, match: unordered}
  - {path: "ids[*]", match: number, abs: 1}
  - {path: "**.trace", match: ignore}
  - {path: "**", match: uuid}`,
		`{"s":"É","at":"2026-01-01T00:00:00Z","ids":[1,10,"x"],"trace":1,"o":{"trace":2,"u":`+uuidA+`}}`,
		`{"s":"e\u0301","at":"2026-01-01T00:00:09Z","ids":["x",11,2],"o":{"trace":2,"u":`+uuidB+`}}`)
	require.NotNil(t, got)
	assert.Equal(t, []string{"nfc at s", "case at s", "clock", "unordered at ids", "number at ids[*] ± 1", "ignore at **.trace", "uuid at **"}, got.Rules)
	assert.Equal(t, []Ignored{{"ignore at **.trace", "o.trace"}, {"ignore at **.trace", "trace"}}, got.Ignored)
}

func TestIDsAreKeptOverASession(t *testing.T) {
	set, err := Compile(&Policy{Rules: []Rule{{Path: "id", Match: ID}, {Path: "order", Match: ID, Namespace: "order"}, {Path: "id", In: InResult, Match: ID}}})
	require.NoError(t, err)
	m := set.Args(tape.KindTool, "t")
	var ids IDs
	pair := func(recorded, live string) bool {
		fit := m.Fits(m.Mask(canonical(t, recorded)), m.Mask(canonical(t, live)), &ids)
		if fit != nil {
			ids.Keep(fit)
		}
		return fit != nil
	}
	assert.True(t, pair(`{"id":"a"}`, `{"id":"x"}`))
	assert.True(t, pair(`{"id":"a"}`, `{"id":"x"}`))
	assert.False(t, pair(`{"id":"b"}`, `{"id":"x"}`), "x stands for a")
	assert.False(t, pair(`{"id":"a"}`, `{"id":"y"}`), "a is x")
	assert.True(t, pair(`{"order":"a"}`, `{"order":"y"}`), "another namespace")
	set.Results(tape.KindTool, "t").Serve(canonical(t, `{"id":"c"}`), &ids)
	assert.False(t, pair(`{"id":"c"}`, `{"id":"z"}`), "c was served as c")
	assert.True(t, pair(`{"id":"c"}`, `{"id":"c"}`))
	set.Results(tape.KindTool, "t").Serve(canonical(t, `{"id":"a"}`), &ids)
	assert.True(t, pair(`{"id":"a"}`, `{"id":"x"}`), "as before")
}

func TestOnlyToolsWithRulesHaveAMatcher(t *testing.T) {
	set, err := Compile(&Policy{Rules: []Rule{{Path: "a", Match: Ignore, Tool: "get_?", Kind: tape.KindTool}}})
	require.NoError(t, err)
	assert.NotNil(t, set.Args(tape.KindTool, "get_a"))
	assert.Nil(t, set.Args(tape.KindTool, "get_ab"))
	assert.Nil(t, set.Args(tape.KindModel, "get_a"))
	assert.Nil(t, set.Results(tape.KindTool, "get_a"))
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{"*", "", true}, {"a*c*e", "abcde", true}, {"a*c*e", "abcd", false}, {"?", "é", true}, {"**", "x", true}, {"a", "b", false}, {"", "", true}} {
		assert.Equal(t, c.want, glob(c.pattern, c.name), c)
	}
}

func TestPaths(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a.b": "a.b", "a[2].b": "a[2].b", `["a.b"]`: `["a.b"]`, "*": "[*]", "a.*": "a[*]", "a[*].b": "a[*].b", "**": "**", "a.**.b": "a.**.b",
		"**.**.b": "**.b", `["a"]`: "a", "[0][1]": "[0][1]", `a[""]`: `a[""]`, "搜索": "搜索", `["]"]`: `["]"]`,
	} {
		p, err := ParsePath(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, p.String())
		again, err := ParsePath(want)
		require.NoError(t, err)
		assert.Equal(t, p, again)
	}
	for text, want := range map[string]string{
		".": "want a name", "a.": "want a name", "a b": "want a dot", "a[": "not closed", "a[-1]": "no index", "a[x]": "no index", `a["x]`: "no JSON string",
		`a["x"b`: "want ]", ".a": "want a name", "a..b": "want a name", "a[*": "not closed", "*a": "want a dot", strings.Repeat("[0]", 65): "more than 64",
		"[99999999999999999999]": "no index", "[+1]": "no index",
	} {
		_, err := ParsePath(text)
		assert.ErrorContains(t, err, want, text)
	}
}
