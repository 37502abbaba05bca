package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRulesSuggest: two reports of the same drift make a proposal, which explains
// it when a person adopts it.
func TestRulesSuggest(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		return path
	}
	const drift = `{"experiment":"code_regression","stats":{"mode":"strict"},"policy":{"order":"content","completion":"free"},"events":[
		{"call":1,"verdict":"drift","seq":1,"kind":"tool","tool":"log","key":"k","message":"m",
		 "differences":[{"path":"at","recorded":"2026-01-01T00:00:00Z","live":"2026-01-01T00:00:30Z"}]}]}`
	one, two := file("1.json", drift), file("2.json", drift)
	got := tapeCmd(t, "", "rules", "suggest", one, two)
	assert.Equal(t, 0, got.code, got.err)
	golden(t, "rules_suggest.yaml", got.out)
	policy := file("rules.yaml", "")
	require.Zero(t, tapeCmd(t, "", "rules", "suggest", one, two, "-o", policy).code)
	written, err := os.ReadFile(policy)
	require.NoError(t, err)
	assert.Equal(t, got.out, string(written))
	assert.Contains(t, tapeCmd(t, drift, "rules", "suggest", "-", "--min", "1", "--json").out, `"match": "time"`)
	assert.Contains(t, tapeCmd(t, drift, "rules", "suggest", "-").out, "rules: []")

	for name, c := range map[string]struct {
		words []string
		code  int
		want  string
	}{
		"no report":     {[]string{"rules", "suggest", file("x.json", `{}`)}, 2, `no report of a replay: member "experiment" is missing`},
		"no JSON":       {[]string{"rules", "suggest", file("y.json", `x`)}, 2, "no report of a replay"},
		"no file":       {[]string{"rules", "suggest", filepath.Join(dir, "none")}, 2, "no such file"},
		"no reports":    {[]string{"rules", "suggest"}, 2, "call it as"},
		"no verb":       {[]string{"rules", "apply"}, 2, "rules apply"},
		"min":           {[]string{"rules", "suggest", one, "--min", "0"}, 2, "--min: want at least 1"},
		"a bad policy":  {[]string{"run", "t.jsonl", "--rules", file("bad.yaml", "rules:\n- {path: a, match: same}"), "--", "true"}, 2, `bad.yaml:2: rule 1 (same at a): member "match"`},
		"no such rules": {[]string{"run", "t.jsonl", "--rules", filepath.Join(dir, "none.yaml"), "--", "true"}, 2, "--rules: open"},
	} {
		got := tapeCmd(t, "", c.words...)
		assert.Equal(t, c.code, got.code, name)
		assert.Contains(t, got.err, c.want, name)
	}
}

// A diff takes the rules of a replay, and lists what they ignored.
func TestDiffByRules(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	monday := file("monday.jsonl", `{"seq":1,"tool":"log","args":{"at":1,"m":"x"}}`+"\n")
	tuesday := file("tuesday.jsonl", `{"seq":1,"tool":"log","args":{"at":2,"m":"x"}}`+"\n")
	policy := file("rules.yaml", "rules: [{tool: log, path: at, match: ignore, why: the time of the call}]\n")
	other := file("other.yaml", "rules: [{path: m, match: case}]\n")

	r := tapeCmd(t, "", "diff", monday, tuesday)
	assert.Equal(t, exitNo, r.code)
	r = tapeCmd(t, "", "diff", monday, tuesday, "--rules", other, "--rules", policy)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "no difference: 1 alike")
	assert.Contains(t, r.out, "by rule ignore at at of log: 1\nclaim: at of tool log: the time of the call (1 calls)\n")
	assert.Contains(t, tapeCmd(t, "", "diff", monday, tuesday, "--rules", policy, "--json").out, `"why": "the time of the call"`)

	report := file("report.json", `{"experiment":"code_regression","tape":{"records":1},"stats":{"mode":"strict"}}`)
	for want, words := range map[string][]string{
		`member "match"`:                   {"diff", monday, tuesday, "--rules", file("bad.yaml", "rules: [{path: m, match: clock}]\n")},
		"is the report of a replay, which": {"diff", monday, report, "--rules", policy},
	} {
		r := tapeCmd(t, "", words...)
		assert.Equal(t, exitUsage, r.code, r.out)
		assert.Contains(t, r.err, want)
		oneLineError(t, r)
	}
}
