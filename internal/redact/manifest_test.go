package redact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// The files hold policies as earlier releases wrote them into manifests, and
// what they redacted then.
func TestPoliciesOfOldTapesStillRedactAsTheyDid(t *testing.T) {
	files, err := filepath.Glob("testdata/policy_v*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			var golden struct {
				Cases []struct {
					In  string `json:"in"`
					Out string `json:"out"`
				} `json:"cases"`
				Manifest tape.Redaction `json:"manifest"`
			}
			require.NoError(t, json.Unmarshal(raw, &golden))
			require.NotEmpty(t, golden.Cases)
			p, err := FromManifest(&golden.Manifest)
			require.NoError(t, err)
			assert.Equal(t, golden.Manifest.Policy, p.Manifest().Policy)
			for _, c := range golden.Cases {
				out, _ := p.Text(c.In)
				assert.Equal(t, c.Out, out)
			}
		})
	}
}

// Each option is a part of what the id stands for.
func TestEveryOptionChangesTheID(t *testing.T) {
	seen := map[string]string{Default().Manifest().Policy: "none"}
	for name, cfg := range map[string]Config{
		"enable":         {Enable: []string{"iban"}},
		"enable another": {Enable: []string{"phone"}},
		"disable":        {Disable: []string{"email"}},
		"keys":           {Keys: []string{"tenant pin"}},
		"allow_keys":     {AllowKeys: []string{"secret"}},
		"allow":          {Allow: []string{"x@y"}},
		"rules":          {Rules: []Rule{{Type: "a", Keywords: []string{"abc"}, Expression: "abc"}}},
		"validate":       {Rules: []Rule{{Type: "a", Keywords: []string{"abc"}, Expression: "abc", Validate: "luhn"}}},
		"surrogate":      {Surrogate: &Surrogate{Key: testKey}},
	} {
		p, err := New(cfg)
		require.NoError(t, err)
		id := p.Manifest().Policy
		assert.Empty(t, seen[id], name)
		seen[id] = name
		var rules any
		require.NoError(t, json.Unmarshal(p.Manifest().Rules, &rules))
	}
}
