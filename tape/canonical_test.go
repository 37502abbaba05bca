package tape

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// eachLine decodes each JSON line of a file in testdata.
func eachLine[T any](t testing.TB, name string, use func(T)) {
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	count := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); count++ {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		use(v)
	}
	require.NotZero(t, count)
}

type keyVector struct {
	Name      string `json:"name"`
	Tool      string `json:"tool"`
	ArgsJSON  string `json:"args_json"`
	Canonical string `json:"canonical"`
	Key       string `json:"key"`
}

func TestKeyVectors(t *testing.T) {
	eachLine(t, "key_vectors.jsonl", func(v keyVector) {
		t.Run(v.Name, func(t *testing.T) {
			canonical, err := Canonical([]byte(v.ArgsJSON))
			require.NoError(t, err)
			assert.Equal(t, v.Canonical, string(canonical))
			key, err := Key(v.Tool, []byte(v.ArgsJSON))
			require.NoError(t, err)
			assert.Equal(t, v.Key, key)
		})
	})
}

// TestCanonicalAsPython compares with what testdata/canonical.py printed.
func TestCanonicalAsPython(t *testing.T) {
	eachLine(t, "python_canonical.jsonl", func(c [2]string) {
		canonical, err := Canonical([]byte(c[0]))
		require.NoError(t, err, c[0])
		require.Equal(t, c[1], string(canonical), c[0])
		again, err := Canonical(canonical)
		require.NoError(t, err, c[0])
		require.Equal(t, c[1], string(again), c[0])
	})
}

func TestCanonicalWherePythonLeavesJSON(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"float overflow":                  {`[1e400,-1e309,1.5E+999]`, `[1e999,-1e999,1e999]`},
		"lone high surrogate":             {`"a\uD800b"`, `"a\ud800b"`},
		"lone low surrogate":              {`"\udc00"`, `"\udc00"`},
		"high surrogate twice":            {`"\ud83d\ud83d\ude80"`, `"\ud83d🚀"`},
		"surrogates out of order":         {`"\ude80\ud83d"`, `"\ude80\ud83d"`},
		"surrogate names by code point":   {`{"\ue000":1,"\ud800":2,"\ud7ff":3}`, "{\"\ud7ff\":3,\"\\ud800\":2,\"\ue000\":1}"},
		"bytes that are not UTF-8":        {"\"a\xff\xedb\"", `"a��b"`},
		"empty text counts as null":       {``, `null`},
		"names with escapes":              {`{"b":1,"\"":2,"\u0001":3,"\\":4}`, `{"\u0001":3,"\"":2,"\\":4,"b":1}`},
		"a name that begins another":      {`{"ab":1,"a":2,"a\"":3}`, `{"a":2,"a\"":3,"ab":1}`},
		"names equal after decoding":      {`{"\u0061":1,"a":2}`, `{"a":2}`},
		"last of a name wins though null": {`{"a":1,"b":2,"a":null}`, `{"b":2}`},
		"last of a name wins over null":   {`{"a":null,"a":1}`, `{"a":1}`},
		"all members null":                {`{"a":null}`, `{}`},
		"moved objects inside one another": {
			`{"z":[{"b":{"d":1,"c":2},"a":null},{"y":1}],"a":{"q":{"t":1,"s":2}}}`,
			`{"a":{"q":{"s":2,"t":1}},"z":[{"b":{"c":2,"d":1}},{"y":1}]}`,
		},
		"a dropped member with moved members": {`{"b":{"d":1,"c":2},"b":3}`, `{"b":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			canonical, err := AppendCanonical([]byte("x"), []byte(c.in))
			require.NoError(t, err)
			assert.Equal(t, "x"+c.want, string(canonical))
			again, err := Canonical(canonical[1:])
			require.NoError(t, err)
			assert.Equal(t, c.want, string(again))
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for in, want := range map[string]JSONError{
		`{"a":`:                  {Offset: 5, Reason: "unexpected end", AtEnd: true},
		`{"a":1`:                 {Offset: 6, Reason: "unexpected end", AtEnd: true},
		`"abc`:                   {Offset: 4, Reason: "unexpected end", AtEnd: true},
		`"\u12`:                  {Offset: 5, Reason: "unexpected end", AtEnd: true},
		`tru`:                    {Offset: 3, Reason: "unexpected end", AtEnd: true},
		` `:                      {Offset: 1, Reason: "unexpected end", AtEnd: true},
		`-`:                      {Offset: 1, Reason: "unexpected end", AtEnd: true},
		`NaN`:                    {Offset: 0, Reason: "not a JSON value"},
		`[Infinity]`:             {Offset: 1, Reason: "not a JSON value"},
		`-Infinity`:              {Offset: 1, Reason: "not a JSON value"},
		`01`:                     {Offset: 1, Reason: "text after the value"},
		`{} {}`:                  {Offset: 3, Reason: "text after the value"},
		`1.`:                     {Offset: 2, Reason: "no digit after the decimal point", AtEnd: true},
		`1.x`:                    {Offset: 2, Reason: "no digit after the decimal point"},
		`1e+x`:                   {Offset: 3, Reason: "no digit in the exponent"},
		`+1`:                     {Offset: 0, Reason: "not a JSON value"},
		"\"a\nb\"":               {Offset: 2, Reason: "control character in a string"},
		`"\x41"`:                 {Offset: 1, Reason: "unknown escape in a string"},
		`"\u12g4"`:               {Offset: 1, Reason: `\u without four hexadecimal digits`},
		`[1,]`:                   {Offset: 3, Reason: "comma before ]"},
		`[1 2]`:                  {Offset: 3, Reason: "expected a comma or ]"},
		`{"a":1,}`:               {Offset: 7, Reason: "comma before }"},
		`{a:1}`:                  {Offset: 1, Reason: "expected a member name"},
		`{"a" 1}`:                {Offset: 5, Reason: "expected a colon"},
		`{'a':1}`:                {Offset: 1, Reason: "expected a member name"},
		strings.Repeat("[", 2e4): {Offset: MaxDepth, Reason: "nested deeper than 10000"},
	} {
		t.Run(in[:min(len(in), 20)], func(t *testing.T) {
			_, err := AppendCanonical(nil, []byte(in))
			var got *JSONError
			require.ErrorAs(t, err, &got)
			assert.Equal(t, want, *got)
			_, keyErr := Key("t", []byte(in))
			require.Equal(t, err, keyErr)
			// Skipping a value judges it as canonicalising it does.
			require.Equal(t, err, valid([]byte(in)))
		})
	}
}

// TestCanonicalDeepIsLinear would take minutes if objects were sorted by
// moving their content once per level.
func TestCanonicalDeepIsLinear(t *testing.T) {
	const depth = MaxDepth - 1
	text := strings.Repeat(`{"b":1,"a":`, depth) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("}", depth)
	canonical, err := Canonical([]byte(text))
	require.NoError(t, err)
	require.Len(t, canonical, len(text))
	require.True(t, strings.HasPrefix(string(canonical), `{"a":{"a":{"a":`))
}

func TestKeyAndHash(t *testing.T) {
	key, hash, err := KeyAndHash("fetch_doc", []byte(`{"url": " https://example.com/agent-long-task"}`))
	require.NoError(t, err)
	assert.Equal(t, "fetch_doc:d3ad8a5ee74b", key)
	assert.True(t, strings.HasPrefix(hash, "sha256:d3ad8a5ee74b"))
	assert.Len(t, hash, len("sha256:")+64)
	alone, err := ArgsHash([]byte(`{"url":"https://example.com/agent-long-task"}`))
	require.NoError(t, err)
	assert.Equal(t, hash, alone)
	own, err := KeyOf(&Record{Tool: "fetch_doc", Key: "wrong", Args: []byte(`{"url":"https://example.com/agent-long-task"}`)})
	require.NoError(t, err)
	assert.Equal(t, key, own)
}

func TestAKeyIsThatOfTheSumOfTheCanonicalText(t *testing.T) {
	args := []byte(`{"b": [1.0], "a": null}`)
	canonical, err := Canonical(args)
	require.NoError(t, err)
	wantKey, wantHash, err := KeyAndHash("get", args)
	require.NoError(t, err)
	key, hash := KeyOfSum("get", sha256.Sum256(canonical))
	assert.Equal(t, wantKey, key)
	assert.Equal(t, wantHash, hash)
}

// benchmarkArgs is about 100 KB of arguments as agents send them: a document,
// short members in no order, some numbers, some text that is not ASCII.
func benchmarkArgs() []byte {
	const rows = 600
	var b strings.Builder
	b.WriteString(`{"text":"`)
	b.WriteString(strings.Repeat(`The quarterly report says \"up 4%\".\n`, 500))
	b.WriteString(`","rows":[`)
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"name":"Anna Müller","id":10042,"score":0.8731234567,"tags":["a","b"],"city":"Zürich","note":null,"count":3.50,"path":"/data/reports/2026/q3.csv"}`)
	}
	b.WriteString(`],"limit":10,"a":{"z":1,"y":2}}`)
	return []byte(b.String())
}

func BenchmarkCanonical(b *testing.B) {
	args := benchmarkArgs()
	var dst []byte
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = AppendCanonical(dst[:0], args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	floats := []byte("[0.0123456789012345" + strings.Repeat(",-0.0123456789012345", 5000) + "]")
	for name, args := range map[string][]byte{
		"mixed100KB":  benchmarkArgs(),
		"floats100KB": floats,
		"1KB":         []byte(`{"url":"https://example.com/agent-long-task","body":"` + strings.Repeat("word ", 190) + `"}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(args)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Key("tool", args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
