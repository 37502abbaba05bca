package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMembersComeInOrderWithoutACopy(t *testing.T) {
	text := json.RawMessage(` { "a" : [1, {"b": "]}"}] ,"s":"x\"y" , "n": -1.5e3,"t":true,"o":{},"z":null } `)
	var got []string
	require.True(t, Members(text, func(name string, value json.RawMessage) { got = append(got, name+"="+string(value)) }))
	assert.Equal(t, []string{`a=[1, {"b": "]}"}]`, `s="x\"y"`, `n=-1.5e3`, `t=true`, `o={}`, `z=null`}, got)
	for _, other := range []string{"", "1", "[]", `"{}"`, "null"} {
		assert.False(t, Members(json.RawMessage(other), nil), other)
	}
}

func TestAStringIsWrittenAsItsCharacters(t *testing.T) {
	for _, s := range []string{
		"", "plain", "é 漢 😀", "\x00\b\f\n\r\t\"\\/", strings.Repeat("x", 3*pieceBytes+1), strings.Repeat("é\n", pieceBytes),
		strings.Repeat("x", pieceBytes-1) + "\n\n\u2028<&>",
	} {
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, WriteString(&out, text))
		assert.Equal(t, s, out.String())
	}
}

// FuzzAgainstTheStandardLibrary: of JSON text it finds what the standard library
// finds, and of other text it does not panic.
func FuzzAgainstTheStandardLibrary(f *testing.F) {
	f.Add(`{"a":[1,"\ud83d\ude00\ud800x"],"b":{"c":"\\"}}`)
	f.Add(`{"a`)
	f.Add(`"\u12`)
	f.Fuzz(func(t *testing.T, text string) {
		members := map[string]string{}
		plain := true
		Members(json.RawMessage(text), func(name string, value json.RawMessage) {
			plain = plain && !strings.ContainsAny(name, `\`)
			members[name] = string(value)
		})
		var out bytes.Buffer
		require.NoError(t, WriteString(&out, json.RawMessage(text)))
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			return
		}
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) == nil && want != nil && plain {
			got := map[string]string{}
			for name, value := range want {
				got[name] = string(value)
			}
			assert.Equal(t, got, members)
		}
		var s string
		if trimmed := strings.Trim(text, " \t\r\n"); strings.HasPrefix(trimmed, `"`) && json.Unmarshal([]byte(trimmed), &s) == nil {
			out.Reset()
			require.NoError(t, WriteString(&out, json.RawMessage(trimmed)))
			assert.Equal(t, s, out.String())
		}
	})
}
