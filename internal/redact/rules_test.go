package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample(s string) string { return strings.ReplaceAll(s, "·", "") }

func TestEveryRuleCatchesItsSamplesAndNothingElse(t *testing.T) {
	p := Default()
	for _, r := range builtinRules() {
		t.Run(r.Type, func(t *testing.T) {
			assert.NotEmpty(t, r.pos, "a rule needs a text it catches")
			assert.NotEmpty(t, r.neg, "a rule needs a text it does not catch")
			for _, s := range r.pos {
				out, hits := p.Text(sample(s))
				var types []string
				for _, h := range hits {
					types = append(types, h.Type)
				}
				assert.Contains(t, types, r.Type, "%s -> %s", s, out)
			}
			for _, s := range r.neg {
				out, _ := p.Text(sample(s))
				assert.Equal(t, sample(s), out)
			}
		})
	}
}

func TestEveryKeyRuleKnowsItsNamesAndNoOthers(t *testing.T) {
	p, err := New(Config{Enable: optionalTypes})
	require.NoError(t, err)
	for _, r := range keyRules {
		t.Run(r.typ, func(t *testing.T) {
			assert.NotEmpty(t, r.pos)
			assert.NotEmpty(t, r.neg)
			for _, name := range r.pos {
				_, ok := p.KeySecret(name)
				assert.True(t, ok, "%q is secret", name)
			}
			for _, name := range r.neg {
				typ, ok := p.KeySecret(name)
				assert.False(t, ok, "%q is no %s", name, typ)
			}
		})
	}
}
