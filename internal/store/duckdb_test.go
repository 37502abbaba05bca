package store_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/tape"
)

// duckdb runs statements and gives the rows of each.
func duckdb(t *testing.T, statements []string) [][]map[string]any {
	t.Helper()
	python, err := filepath.Abs("../../.tools/duckdb/bin/python")
	require.NoError(t, err)
	if _, err := os.Stat(python); err != nil {
		t.Skip("DuckDB is missing: internal/tools/duckdb.sh installs it")
	}
	input, err := json.Marshal(statements)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "query.py"))
	cmd.Stdin = bytes.NewReader(input)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	require.NoError(t, err, failed.String())
	var results [][]map[string]any
	for line := range strings.Lines(string(out)) {
		var rows []map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &rows))
		results = append(results, rows)
	}
	require.Len(t, results, len(statements))
	return results
}

// documented are the statements in the documentation of the index, about the
// store at root.
func documented(t *testing.T, root string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/index.md")
	require.NoError(t, err)
	var statements []string
	for _, m := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		require.Contains(t, m[1], "", "a statement")
		statements = append(statements, strings.ReplaceAll(m[1], "'store/index", "'"+filepath.ToSlash(root)+"/index"))
	}
	return statements
}

func TestDuckDBReadsTheIndexAsDocumented(t *testing.T) {
	root := t.TempDir()
	b := openDir(t, root)
	c := &clock{}
	s, _ := open(t, b, c.opt)
	cost := 0.25
	require.NoError(t, s.AppendRows(t.Context(), []tape.Row{
		{
			TraceID: idA, Service: "shop", Agent: "buyer", Outcome: "failed", Trigger: "root_ended", Kept: true,
			FailingTool: "pay", FailureClass: "external_timeout", FailureReason: "ünter \"quotes\"", Tools: []string{"search", "pay"},
			Steps: 3, InputTokens: 100, OutputTokens: 20, Cost: &cost, Start: at(-time.Minute), DurationMS: 1500, Decided: at(0),
		},
		{TraceID: idB, Agent: "buyer", Outcome: "succeeded", Tools: []string{"search"}, Decided: at(time.Second)},
		{TraceID: traceID(1), Agent: "seller", Outcome: "failed", FailingTool: "pay", FailureClass: "external_timeout", Decided: at(time.Hour)},
		{TraceID: traceID(2), Agent: "seller", Outcome: "failed", FailingTool: "ship", Decided: at(time.Hour)},
	}))
	require.NoError(t, s.Delete(t.Context(), traceID(2)))
	require.NoError(t, s.Flush(t.Context(), false))
	// The same rows again in other files, as a compaction that was stopped leaves them.
	c.set(24 * time.Hour)
	require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: idB, Agent: "buyer", Outcome: "succeeded", Tools: []string{"search"}, Decided: at(time.Second)}}))
	require.NoError(t, s.Flush(t.Context(), true))
	require.NoError(t, s.Compact(t.Context()))

	statements := append(documented(t, root),
		"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet('"+root+"/index/**/*.parquet'))")
	results := duckdb(t, statements)
	require.Len(t, results, 6)
	assert.Equal(t, []map[string]any{
		{"failing_tool": "pay", "failure_class": "external_timeout", "runs": 2.0},
	}, results[1])
	require.Len(t, results[2], 2, "by hour and agent: the deleted run is still a row of its hour")
	assert.Equal(t, map[string]any{
		"hour": 12.0, "agent": "buyer", "runs": 2.0, "failed": 1.0, "tokens": 120.0, "dollars": 0.25, "p95_ms": 1425.0,
	}, numbers(results[2][0]))
	assert.Equal(t, []any{idB, idA}, []any{results[3][0]["trace_id"], results[3][1]["trace_id"]})
	require.Len(t, results[4], 1)
	row := results[4][0]
	assert.Equal(t, "ünter \"quotes\"", row["failure_reason"])
	assert.Equal(t, []any{"search", "pay"}, row["tools"])
	assert.Equal(t, "2026-01-02 12:30:00+00:00", row["decided"])
	assert.Nil(t, row["environment"], "what is not known is NULL")
	types := map[string]any{}
	for _, column := range results[5] {
		types[column["column_name"].(string)] = column["column_type"]
	}
	assert.Equal(t, "TIMESTAMP WITH TIME ZONE", types["start"])
	assert.Equal(t, "VARCHAR[]", types["tools"])
	assert.Equal(t, "BIGINT", types["steps"])
	assert.Equal(t, "DOUBLE", types["cost"])
	assert.Equal(t, "BOOLEAN", types["kept"])
}

// numbers makes numbers of the texts that wide integers come as.
func numbers(row map[string]any) map[string]any {
	for name, v := range row {
		if s, ok := v.(string); ok {
			var n float64
			if json.Unmarshal([]byte(s), &n) == nil {
				row[name] = n
			}
		}
	}
	return row
}
