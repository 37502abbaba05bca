package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dry"
)

func TestDry(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	run := file("run.jsonl", `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","outcome":"failed","tools":[{"name":"pay","schema":{"type":"object","required":["cents"]}}],"gaps":[{"seq":3,"what":"result","why":"cut at 1024 characters"}]}
{"seq":1,"tool":"find","args":{"q":"a"},"result":"old"}
{"seq":2,"tool":"pay","args":{"account":"acme","cents":500},"result":"old","side_effect":true,"approval_id":"ap-7"}
{"seq":3,"tool":"chat","kind":"model","args":{},"result":null}
`)
	tools := file("tools.json", `[{"name":"pay","schema":{"required":["amount"]}}]`)
	rules := file("policy.yaml", "rules: [{name: large payments, tools: [pay], when: args.cents > 100, effect: approval, message: ask finance}]\n")

	r := tapeCmd(t, "", "dry", run, "--tools", tools, "--policy", rules)
	assert.Equal(t, 1, r.code)
	golden(t, "dry.txt", strings.ReplaceAll(r.out+r.err, dir+string(filepath.Separator), ""))

	r = tapeCmd(t, "", "dry", run, "--kind", "tool")
	assert.Equal(t, 0, r.code, r.err)
	r = tapeCmd(t, "", "dry", run, "--json", "--kind", "tool", "--fork", "2", "--isolated", "--allow", "pay")
	assert.Equal(t, 1, r.code)
	var report dry.Report
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.Equal(t, dry.Counts{Steps: 2, FromTape: 1, Refused: 1}, report.Counts)

	for _, words := range [][]string{
		{"dry"}, {"dry", run, "--kind", "x"}, {"dry", run, "--fork", "9"}, {"dry", run, "--tools", rules},
		{"dry", run, "--policy", tools}, {"dry", "nowhere.jsonl"}, {"dry", run, "--allow-kind", "x"},
	} {
		r := tapeCmd(t, "", words...)
		assert.Equal(t, 2, r.code, words)
		oneLineError(t, r)
	}
}
