//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// shopCalls are what an agent asks of the tape of [shopTape], with what its tools
// give when they run.
const shopCalls = `{"tool":"find","args":{"q":"a"},"result":"new"}
{"tool":"pay","args":{"account":"acme-prod","cents":500},"result":{"paid":500}}
`

// Agents with a client run what a replay lets run live, with the arguments that it
// says, and nothing else.
func TestAgentsWithAClientRunLive(t *testing.T) {
	clients, err := filepath.Abs("../../clients")
	require.NoError(t, err)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	calls := writeNamed(t, "calls.jsonl", shopCalls)
	accounts := writeNamed(t, "accounts.yaml", "values: {acme-prod: acme-test}\nmembers: [account]\n")
	for language, agent := range map[string][]string{
		"python": {"python3", filepath.Join(clients, "testdata", "agent.py")},
		"node":   {"node", filepath.Join(clients, "testdata", "agent.mjs")},
	} {
		if _, err := exec.LookPath(agent[0]); err != nil {
			t.Logf("no %s here", agent[0])
			continue
		}
		for name, c := range map[string]struct {
			flags             []string
			out, ran, derived string
			report            string
			code              int
		}{
			"a fork": {
				flags: []string{"--fork", "2", "--isolated", "--allow", "pay", "--allow-side-effects"},
				out:   `{"result":"old"}{"result":{"paid":500}}`, ran: "pay\n", derived: `{"paid":500}`, report: "exit code 0: 1 of 1",
			},
			"a live replay": {
				flags: []string{"--live", "--isolated", "--allow", "pay", "--allow-side-effects"},
				out:   `{"result":"old"}{"result":{"paid":500}}`, ran: "pay\n", derived: `{"paid":500}`, report: "live calls 1, real side effects 1",
			},
			"a call that is not allowed": {
				flags: []string{"--live", "--isolated", "--allow", "pay"},
				out:   `{"result":"old"}`, report: "say --allow-side-effects", code: 1,
			},
		} {
			t.Run(language+"/"+name, func(t *testing.T) {
				ran, derived := filepath.Join(t.TempDir(), "ran"), filepath.Join(t.TempDir(), "derived.jsonl")
				words := append([]string{"PYTHONPATH=" + filepath.Join(clients, "python"), "run", shopTape(t), "--substitute", accounts, "--derive", derived}, c.flags...)
				r := tapeCmd(t, "", append(append(append(words, "--"), agent...), calls, ran)...)
				assert.Equal(t, c.code, r.code, r.err)
				assert.Equal(t, c.out, strings.NewReplacer(" ", "", "\n", "").Replace(r.out))
				assert.Contains(t, r.err, c.report)
				text, _ := os.ReadFile(ran)
				assert.Equal(t, c.ran, string(text))
				if c.derived == "" {
					return
				}
				text, err := os.ReadFile(derived)
				require.NoError(t, err)
				assert.Contains(t, string(text), `"substituted":["account"]`)
				made, err := tape.ReadFile(derived)
				require.NoError(t, err)
				require.Len(t, made.Records, 2)
				assert.JSONEq(t, `{"account":"acme-prod","cents":500}`, string(made.Records[1].Args))
				assert.JSONEq(t, c.derived, string(made.Records[1].Result))
			})
		}
	}
}
