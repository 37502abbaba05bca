package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnElementIsRedactedAsInsideOfItsArray(t *testing.T) {
	for _, element := range []string{
		`{"role":"user","content":"mail bob@example.com"}`,
		`{"bob@example.com":1,"password":{"a":[1,true,"x"]}}`,
		`{"name":"Authorization","value":"x"}`,
		`"mail bob@example.com"`,
		`"{\"api_key\":\"x\"}"`,
		`"plain"`, `[4111111111111111,"--token","x"]`, `1`, `{}`,
	} {
		whole, wholeHits := Default().Text("[" + element + ",0]")
		hits := &Hits{}
		out, end, ok := Default().Element("["+element+",0]", 1, hits)
		require.True(t, ok, element)
		assert.Equal(t, whole, "["+out+",0]")
		assert.Equal(t, 1+len(element), end)
		require.Len(t, hits.List, len(wholeHits))
		for i, h := range hits.List {
			assert.Equal(t, wholeHits[i].Type, h.Type)
			assert.Equal(t, wholeHits[i].Path, "[0]"+h.Path)
		}
	}
}

func TestWhatIsNoJSONIsLeftToOthers(t *testing.T) {
	for _, s := range []string{"", "x", `{"a":bob@example.com}`, `{"a":"bob@example.com"`, `["bob@example.com",]`, strings.Repeat("[", 2000)} {
		hits := &Hits{}
		_, _, ok := Default().Element(s, 0, hits)
		assert.False(t, ok, s)
		_, ok = Default().Document(s, hits)
		assert.False(t, ok, s)
		assert.Empty(t, hits.List)
	}
	hits := &Hits{}
	out, ok := Default().Document(` {"a":"bob@example.com"} `, hits)
	assert.True(t, ok)
	assert.Equal(t, ` {"a":"[REDACTED:email]"} `, out)
	assert.Equal(t, []Hit{{"a", "email"}}, hits.List)
}
