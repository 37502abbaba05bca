package value_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

func TestParseKeepsOrderAndSpelling(t *testing.T) {
	for _, text := range []string{
		`{"b":1,"a":2}`, `[1.0,1,1e3,-0,12345678901234567890123]`, `"\u00e9\n\"\\"`, `null`, `true`, `{"a":{"b":[{}]},"c":[]}`,
	} {
		v, err := value.Parse(text)
		require.NoError(t, err, text)
		again, err := value.Parse(v.JSON())
		require.NoError(t, err)
		assert.Equal(t, v.JSON(), again.JSON())
		assert.JSONEq(t, text, v.JSON())
	}
	v, err := value.Parse(` { "b" : 1.50 , "a" : 12345678901234567890123 } `)
	require.NoError(t, err)
	assert.Equal(t, `{"b":1.50,"a":12345678901234567890123}`, v.JSON())
}

func TestParseTellsCutFromWrong(t *testing.T) {
	for text, want := range map[string]error{
		`{"a":"unfinis`: value.ErrTruncated, `{"a":1`: value.ErrTruncated, `[1,`: value.ErrTruncated, `{"a`: value.ErrTruncated,
		`"x\u00`: value.ErrTruncated, `tru`: value.ErrTruncated, `{"a":-`: value.ErrTruncated, `1.`: value.ErrTruncated, ``: value.ErrTruncated,
		`{'a':1}`: value.ErrSyntax, `{"a":1}x`: value.ErrSyntax, `hello`: value.ErrSyntax, `{"a" 1}`: value.ErrSyntax, `01`: value.ErrSyntax,
		"\"a\nb\"": value.ErrSyntax, `NaN`: value.ErrSyntax, `"\x"`: value.ErrSyntax,
		strings.Repeat("[", 100000): value.ErrDepth,
	} {
		_, err := value.Parse(text)
		assert.ErrorIs(t, err, want, "%.40q", text)
	}
}

func TestStringsSurvive(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"\ud800"`: "\uFFFD", `"\ud800x"`: "\uFFFDx", `"\ud800\u0041"`: "\uFFFDA", `"\b\f\r\t\/"`: "\b\f\r\t/",
	} {
		v, err := value.Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, v.Str())
	}
	assert.Equal(t, "\"a\uFFFDb\uFFFD\"", value.Str("a\xffb\xc3").JSON(), "invalid UTF-8 has no JSON form")
	assert.Equal(t, `"\u0001"`, value.Str("\x01").JSON())
}

func TestPythonLiterals(t *testing.T) {
	for text, want := range map[string]string{
		`{'city': 'Oslo', 'note': None, 'ok': True, 'no': False}`:           `{"city":"Oslo","note":null,"ok":true,"no":false}`,
		`[1, 2.5, -3, (4, 'x'), ()]`:                                        `[1,2.5,-3,[4,"x"],[]]`,
		`{'it': "it's", 'q': 'say "x"', 'e': 'a\'b\n\x41\u00e9\U0001f600'}`: `{"it":"it's","q":"say \"x\"","e":"a'b\nAé😀"}`,
		`{1: 'a', None: 'b', True: 'c'}`:                                    `{"1":"a","null":"b","True":"c"}`,
		`{'a', 'b'}`:                                                        `["a","b"]`,
		`{}`:                                                                `{}`,
		`set()`:                                                             `[]`,
		`(1,)`:                                                              `[1]`,
		`[1., 1e5]`:                                                         `[1.0,1e5]`,
	} {
		v, err := value.ParsePython(text)
		require.NoError(t, err, text)
		want = strings.ReplaceAll(want, `"True"`, `"true"`)
		assert.Equal(t, want, v.JSON(), text)
	}
}

func TestPythonIsNeverGuessed(t *testing.T) {
	for _, text := range []string{
		`b'x'`, `datetime(2020, 1, 1)`, `nan`, `{'a': inf}`, `<object at 0x1>`, `{'a': Foo(1)}`, `('x')`, `{'a': 1, 2}`, `{[1]: 2}`, `{'a': 'b'} x`, `'a' 'b'`, `1_000`,
	} {
		_, err := value.ParsePython(text)
		assert.Error(t, err, text)
	}
	_, err := value.ParsePython(`{'a': 'unfinis`)
	assert.ErrorIs(t, err, value.ErrTruncated)
	_, err = value.ParsePython(strings.Repeat("(", 100000))
	assert.ErrorIs(t, err, value.ErrDepth)
}

func TestPythonPrefix(t *testing.T) {
	v, n, err := value.PythonPrefix(`'a b' name='c'`)
	require.NoError(t, err)
	assert.Equal(t, "a b", v.Str())
	assert.Equal(t, 5, n)
}

func TestNumbersKeepTheirKind(t *testing.T) {
	assert.Equal(t, "4.0", value.Float(4).JSON())
	assert.Equal(t, "0.1", value.Float(0.1).JSON())
	assert.Equal(t, "1e+21", value.Float(1e21).JSON())
	assert.Equal(t, `"NaN"`, value.Float(math.NaN()).JSON())
	assert.Equal(t, "4", value.Int(4).JSON())
}

func TestAccessors(t *testing.T) {
	v, err := value.Parse(`{"a":1,"a":2,"n":null,"s":"x","z":0,"l":[],"num":"12"}`)
	require.NoError(t, err)
	assert.Equal(t, "2", v.At("a").Text(), "the last of equal names counts")
	assert.Equal(t, "x", v.First("missing", "n", "s").Str())
	assert.True(t, v.Has("a", "n"))
	assert.False(t, v.Only("a"))
	assert.False(t, value.Obj().Only("a"))
	assert.False(t, v.At("z").Truthy())
	assert.False(t, v.At("l").Truthy())
	assert.False(t, v.At("n").Truthy())
	assert.True(t, v.At("s").Truthy())
	n, ok := v.At("num").Int64()
	assert.True(t, ok)
	assert.EqualValues(t, 12, n)
	assert.Equal(t, `{"a":3,"a":3}`, value.Obj(value.M("a", value.Int(1)), value.M("a", value.Int(2))).With("a", value.Int(3)).JSON())
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x",null]}`, `{'a': (1, None)}`, `"\ud83d\ude00"`, `[[[[`, `{"a":"`, `1e400`, `-`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Parse(text)
		if err == nil {
			if !json.Valid([]byte(text)) {
				t.Fatalf("%q is no JSON", text)
			}
			out := v.JSON()
			if !json.Valid([]byte(out)) {
				t.Fatalf("%q became %q, which is no JSON", text, out)
			}
			again, err := value.Parse(out)
			if err != nil || again.JSON() != out {
				t.Fatalf("%q does not survive: %v", out, err)
			}
		} else if json.Valid([]byte(text)) && strings.Count(text, "[")+strings.Count(text, "{") <= value.MaxDepth {
			t.Fatalf("%q is JSON: %v", text, err)
		}
		if v, err := value.ParsePython(text); err == nil && !json.Valid(v.Append(nil)) {
			t.Fatalf("%q became %q", text, v.JSON())
		}
	})
}
