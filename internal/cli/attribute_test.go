package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/attribution"
)

// attributed is a tape of two failures, with the schema of the tool that failed
// last.
func attributed(outcome, property string) string {
	return `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","outcome":"` + outcome + `","failure":{"seq":2,"reason":"gave up after 30 s"},"complete":true,` +
		`"tools":[{"name":"search"},{"name":"pay_card","schema":{"type":"object","properties":{"` + property + `":{"type":"integer"}},"required":["` + property + `"]}}]}
{"seq":1,"tool":"search","key":"search:44136fa355b3","args":{},"result":null,"ms":1,"side_effect":null,"clock":null,"error":{"code":"403","message":"upstream timed out"}}
{"seq":2,"tool":"pay_card","key":"pay_card:0","args":{"amount":5},"result":null,"ms":1,"side_effect":null,"clock":null,"error":{"message":"gave up \u001b[31mafter 30 s"}}
`
}

func TestAttribute(t *testing.T) {
	r := tapeCmd(t, attributed("failed", "amount"), "attribute", "-")
	assert.Equal(t, result{`run 4bf92f3577b34da6a3ce929d0e0e4736  failed
the run failed at step 2: unattributed

step 1, search
  said: upstream timed out
  > permission_denied: error code 403
    external_timeout: message says "timed out"

step 2, pay_card
  said: gave up \x1b[31mafter 30 s
  > unattributed
`, "", exitOK}, r)

	r = tapeCmd(t, attributed("recovered", "amount"), "attribute", "-", "--json")
	require.Equal(t, exitOK, r.code)
	var report attribution.Report
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	require.Len(t, report.Records, 2)
	assert.Len(t, report.Records[0].Findings, 2)
	assert.Equal(t, 2, report.Run.Seq)
	assert.Contains(t, tapeCmd(t, attributed("recovered", "amount"), "attribute", "-").out, "the run recovered from step 2: unattributed\n")
}

func TestAttributeByRulesOfYourOwn(t *testing.T) {
	rules := temp(t, "rules.yaml", "rules:\n- class: external_timeout\n  tools: ['pay_*']\n  pattern: 'after [0-9]+ s'\napproval_tools: ['pay_*']\n")
	r := tapeCmd(t, attributed("failed", "amount"), "attribute", "-", "--rules", rules)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "the run failed at step 2: approval_missing\n")
	assert.Contains(t, r.out, `    external_timeout: message matches "after [0-9]+ s" and tool pay_card is one of "pay_*"`)

	bad := temp(t, "rules.yaml", "rules:\n- class: bad_luck\n  codes: [x]\n")
	r = tapeCmd(t, attributed("failed", "amount"), "attribute", "-", "--rules", bad)
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, `rules.yaml: line 2: rules[0].class: "bad_luck" is none of`)
	r = tapeCmd(t, "", "attribute", "-", "--rules", "testdata/none.yaml")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
}

func TestAttributeAgainstTheLastGoodRun(t *testing.T) {
	good := strings.Replace(attributed("succeeded", "cents"), `"failure":{"seq":2,"reason":"gave up after 30 s"},`, "", 1)
	r := tapeCmd(t, attributed("failed", "amount"), "attribute", "-", "--good", temp(t, "good.jsonl", good))
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Empty(t, r.err)
	assert.Contains(t, r.out, "compared with 4bf92f3577b34da6a3ce929d0e0e4736\n")
	assert.Contains(t, r.out, "the run failed at step 2: schema_mismatch\n")
	assert.Contains(t, r.out, "  > schema_mismatch: the schema is not that of the good run: /properties/amount is new, /properties/cents is gone, /required differs\n")

	r = tapeCmd(t, attributed("failed", "amount"), "attribute", "-", "--good", temp(t, "bad.jsonl", attributed("failed", "cents")))
	assert.Contains(t, r.err, "bad.jsonl is of a run that failed, which is hardly a good one")
	r = tapeCmd(t, attributed("failed", "amount"), "attribute", "-", "--good", "testdata/bare.jsonl")
	assert.Contains(t, r.err, "bare.jsonl lists no tools")
	r = tapeCmd(t, attributed("failed", "amount"), "attribute", "-", "--good", "testdata/none.jsonl")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
	r = tapeCmd(t, "", "attribute", "-", "--good", "-")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
}

func TestAttributeOfWhatDidNotFail(t *testing.T) {
	r := tapeCmd(t, "", "attribute", "testdata/bare.jsonl")
	assert.Equal(t, result{"no call failed\n", "", exitOK}, r)
	root := `{"tape":"1","outcome":"failed","failure":{"reason":"deadline exceeded"},"complete":true}` + "\n"
	r = tapeCmd(t, root, "attribute", "-")
	assert.Contains(t, r.out, "the run\n  said: deadline exceeded\n  > external_timeout: message says \"deadline exceeded\"\n")
}
