package value

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// long is text around which no array or object is left to be read at once.
var long = strings.Repeat("x", unreadBytes)

func TestUnreadIsWhatReadingGives(t *testing.T) {
	pad := `,"` + long + `"]`
	for name, text := range map[string]string{
		"plain":           `[{"a":1,"b":[true,false,null,-1.5e+7]}` + pad,
		"spaced":          "[ {\"a\" : 1 ,\n\t\"b\": [ ] , \"c\":{ }}\r\n" + pad,
		"one":             `["` + long + `"]`,
		"empty inside":    `[[],{},""` + pad,
		"same name twice": `{"a":1,"a":"` + long + `"}`,
		"escapes kept":    `["\"\\\n\r\t"` + pad,
		"escapes changed": `["\/\b\f\u0041\u000a\u0001\ud83d\ude00\ud800"` + pad,
		"wide":            `["ü…😀"` + pad,
		"not UTF-8":       "[\"\xff\xc3\"" + pad,
		"commas in text":  `["a,b]}",{"x,":",{"}` + pad,
		"quotes in text":  `["\\\"",{"\"":"\\"}` + pad,
		"large inside":    `[{"a":{"b":[{"c":[[{"d":["` + long + `",{"e":1}]}]]}]}}` + pad,
		"deepest":         strings.Repeat("[", MaxDepth) + `"` + long + `"` + strings.Repeat("]", MaxDepth),
		"ends in space":   `[1` + pad + " \n",
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Parse(text)
			require.NoError(t, err)
			require.NotNil(t, v.unread)
			requireSame(t, text)
			require.Equal(t, v.JSON(), v.Clone().JSON())
		})
	}
}

func TestWhatIsNotWellFormedIsNotLeftUnread(t *testing.T) {
	pad := `,"` + long + `"]`
	for name, text := range map[string]string{
		"cut":              `[1` + pad[:len(pad)-1],
		"cut in a string":  `[1` + pad[:len(pad)-9],
		"cut in an escape": `["` + long + `\`,
		"comma at the end": `["` + long + `",]`,
		"no comma":         `[1 2` + pad,
		"no colon":         `[{"a" 1}` + pad,
		"no name":          `[{1:1}` + pad,
		"other bracket":    `[1}` + pad,
		"bad escape":       `["\x"` + pad,
		"bad digits":       `["\u00g0"` + pad,
		"control":          "[\"\n\"" + pad,
		"bad number":       `[01` + pad,
		"bad word":         `[nul` + pad,
		"more behind":      `[1` + pad + "1",
		"too deep":         strings.Repeat("[", MaxDepth+1) + `"` + long + `"` + strings.Repeat("]", MaxDepth+1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(text)
			require.Error(t, err)
			requireSame(t, text)
		})
	}
}

func FuzzUnread(f *testing.F) {
	for _, seed := range []string{`1`, `{"a":[1,"x",null]}`, `"\ud83d\ude00"`, `[[[[`, `{"a":"`, `1e400`, ` {"a" : {}}`, "\"\xff\""} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, object bool) {
		if object {
			text = `{"a":` + text + `,"b":"` + long + `"}`
		} else {
			text = `[` + text + `,[` + text + `,"` + long + `"]]`
		}
		requireSame(t, text)
	})
}

// requireSame compares what Parse gives of a text with what the parser reads at
// once.
func requireSame(t *testing.T, text string) {
	t.Helper()
	at := &parser{s: text, memo: &Memo{}}
	want, wantErr := at.whole()
	v, err := Parse(text)
	require.Equal(t, wantErr, err)
	if err != nil {
		return
	}
	require.Equal(t, want.JSON(), v.JSON())
	requireEqual(t, want, v)
}

func requireEqual(t *testing.T, want, v Value) {
	t.Helper()
	require.Equal(t, want.Kind(), v.Kind())
	require.Equal(t, want.Text(), v.Text())
	require.Equal(t, max(len(want.items), len(want.members)), v.Len())
	require.Len(t, v.Items(), len(want.items))
	require.Len(t, v.Members(), len(want.members))
	for i := range want.items {
		requireEqual(t, want.items[i], v.Items()[i])
	}
	for i := range want.members {
		require.Equal(t, want.members[i].Name, v.Members()[i].Name)
		requireEqual(t, want.members[i].Value, v.Members()[i].Value)
	}
	require.Equal(t, want.JSON(), v.JSON())
	require.Equal(t, want.Truthy(), v.Truthy())
}
