package redact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testKey = "0123456789abcdef0123456789abcdef"

var keyedPolicy = sync.OnceValues(func() (*Policy, error) {
	return New(Config{Enable: optionalTypes, Surrogate: &Surrogate{Key: testKey}})
})

func keyed(t testing.TB) *Policy {
	p, err := keyedPolicy()
	require.NoError(t, err)
	return p
}

func TestSurrogatesKeepTheForm(t *testing.T) {
	p := keyed(t)
	for in, form := range map[string]string{
		"bob@example.com":                 `^u_[0-9a-f]{16}@redacted\.invalid$`,
		"bob%40example.com":               `^u_[0-9a-f]{16}%40redacted\.invalid$`,
		"4111 1111 1111 1111":             `^9999 99\d\d \d{4} \d{4}$`,
		"4111111111111111":                `^999999\d{10}$`,
		"3782-822463-10005":               `^9999-99\d{4}-\d{5}$`,
		"DE89 3704 0044 0532 0130 00":     `^DE(00|01|99) \d{4} \d{4} \d{4} \d{4} \d\d$`,
		"GB29NWBK60161331926819":          `^GB(00|01|99)[A-Z]{4}\d{14}$`,
		"+49 30 1234567":                  `^\+999\d{10}$`,
		"(555) 234-5678":                  `^\+999\d{10}$`,
		"AKIA" + "IOSFODNN7EXAMPLE":       `^AKIAREDACTED[A-Z2-7]{8}$`,
		"dapi" + strings.Repeat("a1", 16): `^dapic0ded00dc0de[0-9a-f]{20}$`,
		"sk-ant-" + "api03-J8kq2mV7n1pQ9rT5sW0uYzAbCdEf-GhIjKlMnAA":     `^sk-ant-api03-REDACTED[0-9A-Za-z]{20}-[A-Za-z]{10}$`,
		"xoxb-" + "123456789012-1234567890123-J8kq2mV7n1pQ9rT5sW0uYzAb": `^xoxb-\d{12}-\d{13}-REDACTED[0-9A-Za-z]{16}$`,
	} {
		out, hits := p.Text("say " + in + " now")
		require.Len(t, hits, 1, in)
		out = strings.TrimSuffix(strings.TrimPrefix(out, "say "), " now")
		assert.Regexp(t, form, out, in)
		assert.NotEqual(t, in, out)
		assert.True(t, IsSurrogate(out), out)
		assert.True(t, Redacted("a: "+out+", b"), out)
		assert.False(t, IsSurrogate(in), in)
		assert.False(t, Redacted(in), in)
		if luhn(in) {
			assert.True(t, luhn(out), out)
		}
		if isIBAN(in) {
			assert.Equal(t, 1, ibanRest(out), out)
		}
	}
	out, _ := p.Text(`psql postgres://bob:hunter2@db/x; password=hunter2`)
	assert.Regexp(t, `^psql postgres://bob:(REDACTED-[0-9a-f]{16})@db/x; password=(REDACTED-[0-9a-f]{16})$`, out)
}

// Whoever checks a key by its form still finds the form.
func TestSurrogatesOfKeysMatchTheRuleOfTheKey(t *testing.T) {
	p := keyed(t)
	for _, r := range builtinRules() {
		for _, s := range r.pos {
			t.Run(r.Type, func(t *testing.T) {
				in := sample(s)
				out, hits := p.Text(in)
				require.NotEmpty(t, hits)
				again, more := p.Text(out)
				assert.Equal(t, out, again)
				assert.Empty(t, more)
				assert.True(t, Redacted(out), out)
				if !strings.Contains(out, wordSurrogate) {
					assert.Len(t, out, len(in), "%s -> %s", in, out)
				}
				// Of keys with parts of several kinds the length alone is kept.
				if !strings.Contains(out, wordSurrogate) && r.Type != "jina_key" && r.Type != "flutterwave_key" {
					assert.Regexp(t, strings.TrimPrefix(r.Expression, "^"), out)
				}
			})
		}
	}
}

func TestTheSameSecretHasTheSameSurrogateWhereverItStands(t *testing.T) {
	p := keyed(t)
	key := "sk-proj-" + "J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj"
	out, _ := p.JSON(fmt.Appendf(nil, `{"api_key":%q,"text":"use %s","args":"{\"token\":\" %s\"}","other":"sk-proj-J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIJ"}`, key, key, key))
	var got struct {
		Key   string `json:"api_key"`
		Text  string `json:"text"`
		Args  string `json:"args"`
		Other string `json:"other"`
	}
	require.NoError(t, json.Unmarshal(out, &got))
	assert.True(t, IsSurrogate(got.Key))
	assert.Equal(t, "use "+got.Key, got.Text)
	assert.JSONEq(t, fmt.Sprintf(`{"token":%q}`, got.Key), got.Args)
	assert.NotEqual(t, got.Key, got.Other)

	another, err := New(Config{Surrogate: &Surrogate{Key: "another key of 32 bytes, or more"}})
	require.NoError(t, err)
	other, _ := another.Text(key)
	assert.NotEqual(t, got.Key, other)
	assert.NotEqual(t, p.Manifest().Policy, another.Manifest().Policy)
}

func TestSurrogatesOfManySecretsDiffer(t *testing.T) {
	p := keyed(t)
	seen := map[string]bool{}
	for i := range 500 {
		for _, s := range []string{fmt.Sprintf("user%d@example.com", i), fmt.Sprintf("hunter%d", i), fmt.Sprintf("AKIA%016d", i)} {
			s = strings.NewReplacer("0", "A", "1", "B", "8", "C", "9", "D").Replace(s)
			out, hits := p.JSON([]byte(`{"password":"` + s + `"}`))
			require.Len(t, hits, 1)
			assert.False(t, seen[string(out)], s)
			seen[string(out)] = true
		}
	}
}

// The key is no part of what a tape carries, and without it a policy is not
// taken for one that redacts alike.
func TestAPolicyWithSurrogatesNeedsItsKey(t *testing.T) {
	p := keyed(t)
	m := p.Manifest()
	assert.NotContains(t, string(m.Rules), testKey)
	again, err := FromManifest(m, WithKey(testKey))
	require.NoError(t, err)
	assert.Equal(t, m, again.Manifest())
	for _, in := range pieces {
		want, _ := p.Text(in)
		got, _ := again.Text(in)
		assert.Equal(t, want, got)
	}
	_, err = FromManifest(m)
	require.ErrorIs(t, err, ErrKeyNeeded)
	assert.ErrorContains(t, err, m.Policy)
	_, err = FromManifest(m, WithKey("another key of 32 bytes, or more"))
	require.ErrorIs(t, err, ErrKeyWrong)
	_, err = FromManifest(Default().Manifest(), WithKey(testKey))
	require.NoError(t, err)
}

func TestRandomRedactionWithSurrogatesIsIdempotentForEveryPolicy(t *testing.T) {
	p := keyed(t)
	r := rand.New(rand.NewPCG(7, 8))
	for range 1_000 {
		raw, err := json.Marshal(randomValue(r, 4))
		require.NoError(t, err)
		checkJSON(t, p, raw)
		out, _ := p.JSON(raw)
		checkLeft(t, string(out))

		s := randomText(r)
		checkText(t, p, s)
		text, _ := p.Text(s)
		checkLeft(t, text)
	}
}

// checkLeft checks that a policy without the key has nothing to redact in what
// one with a key has redacted: the exporter redacts again what the processor
// has redacted.
func checkLeft(t *testing.T, s string) {
	out, hits := Default().Text(s)
	require.Equal(t, s, out)
	require.Empty(t, hits)
}

func TestWhatIsNoSurrogate(t *testing.T) {
	for _, s := range []string{
		"", "REDACTED", "[REDACTED:email]", "REDACTED-0123", "u_x@redacted.invalid", "REDACTEDabc", "999999", "9999990000000000", "DE89370400440532013000",
		"+99912345", "REDACTED and more than that", strings.Repeat("REDACTED", 100),
	} {
		assert.False(t, IsSurrogate(s), s)
	}
	for _, s := range []string{"", "plain text of 12 words", "REDACTED", "9999 9999 9999", "AB12 cd34", "1 2 3 4 5 6"} {
		assert.False(t, Redacted(s), s)
	}
	assert.True(t, Redacted("x [REDACTED:email] y"))
}
