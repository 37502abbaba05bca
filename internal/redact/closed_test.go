package redact

import (
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARuleThatCannotRunBlocksTheValueOnly(t *testing.T) {
	p, err := New(Config{Rules: []Rule{{Type: "broken", Keywords: []string{"boom"}, Expression: `boom`}}})
	require.NoError(t, err)
	p.scan.rules[0].check = func(string) bool { panic("no") }
	out, hits := p.JSON([]byte(`{"a":"fine","b":"boom","c":"{\"d\":\"boom\",\"e\":\"bob@example.com\"}"}`))
	assert.JSONEq(t, `{"a":"fine","b":"[REDACTED:error]","c":"{\"d\":\"[REDACTED:error]\",\"e\":\"[REDACTED:email]\"}"}`, string(out))
	assert.Equal(t, []Hit{{"b", TypeError}, {"c.d", TypeError}, {"c.e", "email"}}, hits)
	text, hits := p.Text("boom")
	assert.Equal(t, "[REDACTED:error]", text)
	assert.Equal(t, []Hit{{"", TypeError}}, hits)
	again, hits := p.Text(text)
	assert.Equal(t, text, again)
	assert.Empty(t, hits)
}

// An expression with no begin of its own reads thousands of bytes around each
// of its keywords; a text full of them would keep it busy for minutes.
func TestATextMadeToKeepARuleBusyIsBlocked(t *testing.T) {
	p, err := New(Config{Rules: []Rule{{Type: "slow", Keywords: []string{"abc"}, Expression: `x?abc[a-z ]+[0-9]`}}})
	require.NoError(t, err)
	out, hits := p.JSON([]byte(`{"a":"` + strings.Repeat("abc ", 1<<16) + `","b":"bob@example.com","c":"x abc x1"}`))
	assert.JSONEq(t, `{"a":"[REDACTED:error]","b":"[REDACTED:email]","c":"x [REDACTED:slow]"}`, string(out))
	assert.Equal(t, []Hit{{"a", TypeError}, {"b", "email"}, {"c", "slow"}}, hits)

	// One keyword in each KiB is no such text.
	text := strings.Repeat(strings.Repeat("1 ", 512)+"abc", 48)
	same, hits := p.Text(text)
	assert.Equal(t, text, same)
	assert.Empty(t, hits)
}

func TestRowsOfKeysAreRedactedNotBlocked(t *testing.T) {
	for _, unit := range []string{"sk-ant-", "tvly-", "xoxb-", "ATBB-", "pypi-", "sk-proj-"} {
		out, hits := Default().Text(strings.Repeat(unit, 1<<16/len(unit)))
		for _, h := range hits {
			assert.NotEqual(t, TypeError, h.Type, unit)
		}
		again, _ := Default().Text(out)
		assert.Equal(t, out, again)
	}
}

func TestARuleSeesAsMuchTextAsItCanMatch(t *testing.T) {
	for expr, want := range map[string]int{
		`abc`: 12, `[a-z]{3,5}`: 5, `é`: 4, `[^a]`: 4, `(a|[0-9]{2})x?`: 8, `[a-z]*`: windowAfter, `[a-z]{3,}`: windowAfter, `([0-9]{30}){33}`: 990, `.`: 4,
	} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		require.NoError(t, err)
		assert.Equal(t, want, longestMatch(tree), expr)
	}
}
