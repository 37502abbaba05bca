package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// redactValue redacts a parsed value with the same exported parts that the walk
// over a trace uses: the reference that redaction of JSON texts is held against.
func redactValue(p *Policy, c Context, v any) any {
	var hits Hits
	switch v := v.(type) {
	case map[string]any:
		pair := map[string]string{}
		var from, to []string
		for k, e := range v {
			if s, ok := e.(string); ok && IsPairName(k) {
				pair[k] = s
			}
			from, to = append(from, k), append(to, p.Name(k, &hits))
		}
		KeepApart(from, to)
		out := map[string]any{}
		for i, k := range from {
			member := p.Member(c, p.Name(k, &hits))
			if IsPairValue(k) {
				member = p.Pair(member, pair)
			}
			out[to[i]] = redactValue(p, member, v[k])
		}
		return out
	case []any:
		out := make([]any, len(v))
		before := ""
		for i, e := range v {
			out[i] = redactValue(p, p.Following(c.Element(), before), e)
			before, _ = e.(string)
		}
		return out
	case string:
		return p.Leaf(c, v, &hits)
	case json.Number:
		if _, secret := p.Number(c, v.String()); secret {
			return json.Number("0")
		}
	case bool:
		if _, secret := c.Secret(); secret {
			return false
		}
	}
	return v
}

func parse(t *testing.T, raw []byte) any {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), "%s", raw)
	return v
}

// checkJSON checks what holds for every JSON text.
func checkJSON(t *testing.T, p *Policy, raw []byte) {
	out, hits := p.JSON(raw)
	require.True(t, json.Valid(out), "stays valid: %q -> %q", raw, out)
	if len(hits) == 0 {
		require.Equal(t, string(raw), string(out))
	}
	again, more := p.JSON(out)
	require.Equal(t, string(out), string(again), "idempotent on %q", raw)
	require.Empty(t, more, "nothing left in %q", out)
	if utf8.Valid(raw) && !strings.Contains(strings.ToLower(string(raw)), `\ud`) && !duplicates(raw) {
		require.Equal(t, redactValue(p, Context{}, parse(t, raw)), parse(t, out), "as its parsed value: %q", raw)
	}
}

// duplicates reports whether any object has a member twice, as far as the
// number of members shows.
func duplicates(raw []byte) bool {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	type frame struct {
		names map[string]bool
		key   bool
	}
	var stack []frame
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		top := len(stack) - 1
		switch tok := tok.(type) {
		case json.Delim:
			switch tok {
			case '{':
				stack = append(stack, frame{map[string]bool{}, true})
			case '[':
				stack = append(stack, frame{})
			default:
				stack = stack[:top]
				if top--; top >= 0 {
					stack[top].key = stack[top].names != nil
				}
			}
			continue
		case string:
			if top >= 0 && stack[top].key {
				if stack[top].names[tok] {
					return true
				}
				stack[top].names[tok] = true
				stack[top].key = false
				continue
			}
		}
		if top >= 0 {
			stack[top].key = stack[top].names != nil
		}
	}
}

// checkText checks what holds for every text.
func checkText(t *testing.T, p *Policy, s string) {
	out, hits := p.Text(s)
	if len(hits) == 0 {
		require.Equal(t, s, out)
	}
	again, more := p.Text(out)
	require.Equal(t, out, again, "idempotent on %q", s)
	require.Empty(t, more)
	if utf8.ValidString(s) {
		require.True(t, utf8.ValidString(out), "stays UTF-8: %q -> %q", s, out)
	}
	quoted := []byte(encode(s))
	checkJSON(t, p, quoted)
}

var pieces = []string{
	"password", "token", "api_key", "authorization", "cookie", "db.password", "max_tokens", "name", "value", "key", "id", "properties",
	"type", "string", "a", "q", "x y", "", " ", "hunter2", "user@example.com", "4111111111111111", "4111 1111 1111 1111",
	"AKIA" + "IOSFODNN7EXAMPLE", "sk-proj-" + "J8kq2mV7n1pQ9rT5sW0uYzAbCdEf", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
	"Bearer abcdef0123456789abcdef", "postgres://u:p4ss@h/db", "[REDACTED:token]", "[REDACTED:", "]", "-----BEGIN PRIVATE KEY-----",
	"-----END PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw", ":", "=", "\"", "'", "\\", "\n", "{", "}", "[", ",", "&", "?", "--", ">", "<", "</",
	"a=b; c=d", "é", "\u2028", "password=hunter2", "token: abc", "'api_key': 'x'", "\\n", "%40", "0", "true", "None", "(", ")", "@", "://", "$TOKEN", "1234567890123456", "--token", "--db-password",
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomValue(r *rand.Rand, depth int) any {
	n := r.IntN(10)
	if depth <= 0 && n > 5 {
		n -= 5
	}
	switch n {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return json.Number([]string{"0", "1", "-2.5e3", "4111111111111111", "1234567890123456"}[r.IntN(5)])
	case 3, 4:
		return pieces[r.IntN(len(pieces))]
	case 5:
		return randomText(r)
	case 6: // JSON in a string
		b, _ := json.Marshal(randomValue(r, depth-1))
		return string(b)
	case 7:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	default:
		m := map[string]any{}
		for range r.IntN(5) {
			m[pieces[r.IntN(len(pieces))]] = randomValue(r, depth-1)
		}
		return m
	}
}

func TestRedactionOfRandomJSONIsThatOfItsParsedValue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		raw, err := json.Marshal(randomValue(r, 4))
		require.NoError(t, err)
		checkJSON(t, Default(), raw)
	}
}

func TestRedactionOfRandomTextIsIdempotent(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		checkText(t, Default(), randomText(r))
	}
}

func FuzzText(f *testing.F) {
	for _, b := range pieces {
		f.Add(b)
	}
	for _, r := range builtinRules() {
		for _, s := range r.pos {
			f.Add(sample(s))
		}
	}
	f.Add("password: {'a': ['b', 1, True, None]}")
	f.Add(`{\"password\": \"hunter2\", \"q\": \"x`)
	f.Fuzz(func(t *testing.T, s string) { checkText(t, Default(), s) })
}

func FuzzJSON(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		raw, err := json.Marshal(randomValue(r, 4))
		assert.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if json.Valid(raw) {
			checkJSON(t, Default(), raw)
			return
		}
		out, _ := Default().JSON(raw)
		again, _ := Default().JSON(out)
		require.Equal(t, string(out), string(again))
	})
}
