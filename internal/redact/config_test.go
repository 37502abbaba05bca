package redact

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestEveryFieldIsReadFromAConfiguration(t *testing.T) {
	var c Config
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"enable": []any{"iban"}, "disable": []any{"email"}, "keys": []any{"tenant pin"}, "allow_keys": []any{"page.cookie"}, "allow": []any{"x@y"},
		"rules":     []any{map[string]any{"type": "a", "keywords": []any{"abc"}, "expression": "abc", "validate": "luhn"}},
		"surrogate": map[string]any{"key": testKey},
	}).Unmarshal(&c))
	assert.Equal(t, Config{
		Enable: []string{"iban"}, Disable: []string{"email"}, Keys: []string{"tenant pin"}, AllowKeys: []string{"page.cookie"}, Allow: []string{"x@y"},
		Rules:     []Rule{{Type: "a", Keywords: []string{"abc"}, Expression: "abc", Validate: "luhn"}},
		Surrogate: &Surrogate{Key: testKey},
	}, c)
	require.NoError(t, c.Validate())
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", c, *c.Surrogate, c.Surrogate), testKey)
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), testKey)
	require.Error(t, confmap.NewFromStringMap(map[string]any{"surogate": 1}).Unmarshal(&c))
}

func TestWhatCannotBeIsRefusedWithItsPlace(t *testing.T) {
	for want, c := range map[string]Config{
		`enable[0]: "email" is none of the types that are off by default`: {Enable: []string{"email"}},
		`enable[1]: "phone" is disabled too`:                              {Enable: []string{"iban", "phone"}, Disable: []string{"phone"}},
		`surrogate: key: shorter than 16 bytes`:                           {Surrogate: &Surrogate{Key: "short"}},
		`surrogate: key:`:                                                 {Surrogate: &Surrogate{}},
	} {
		assert.ErrorContains(t, c.Validate(), want)
		_, err := New(c)
		assert.ErrorContains(t, err, want)
	}
}

// What is allowed exempts the range that is matched and nothing beside it, in
// whatever notation the range is written.
func TestAllowExemptsTheMatchedRangeOnly(t *testing.T) {
	p, err := New(Config{Enable: []string{"iban"}, Allow: []string{
		`bot@example\.com`, `test-[0-9]+@example\.com`, `4111 ?1111 ?1111 ?1111`, `AKIA`, `DE89 3704 0044 0532 0130 00`, `say "[^"]*"`,
	}})
	require.NoError(t, err)
	for in, want := range map[string]string{
		`bot@example.com,bob@example.com`:                          `bot@example.com,[REDACTED:email]`,
		`bob@example.com bot@example.com bob@example.com`:          `[REDACTED:email] bot@example.com [REDACTED:email]`,
		`xbot@example.com`:                                         `[REDACTED:email]`,
		`bot@example.com.evil.test`:                                `[REDACTED:email]`,
		`test-12@example.com test-x@example.com`:                   `test-12@example.com [REDACTED:email]`,
		`4111111111111111 5500000000000004`:                        `4111111111111111 [REDACTED:card]`,
		`AKIA` + `IOSFODNN7EXAMPLE`:                                `[REDACTED:aws_access_key]`,
		`DE89 3704 0044 0532 0130 00 GB29NWBK60161331926819`:       `DE89 3704 0044 0532 0130 00 [REDACTED:iban]`,
		`{"a":"bot\u0040example.com, bob\u0040example.com"}`:       `{"a":"bot@example.com, [REDACTED:email]"}`,
		`{"a":"{\"b\":\"bot@example.com bob@example.com\"}"}`:      `{"a":"{\"b\":\"bot@example.com [REDACTED:email]\"}"}`,
		`{"say \"":"bob@example.com","b":"\""}`:                    `{"say \"":"[REDACTED:email]","b":"\""}`,
		`{"bot@example.com":"bob@example.com"}`:                    `{"bot@example.com":"[REDACTED:email]"}`,
		`{"password":"bot@example.com","email":"bot@example.com"}`: `{"password":"[REDACTED:password]","email":"bot@example.com"}`,
		`password=bot@example.com`:                                 `password=[REDACTED:password]`,
		`say "write to bob@example.com" or bob@example.com`:        `say "write to bob@example.com" or [REDACTED:email]`,
		"bot@example.com\nbob@example.com\n":                       "bot@example.com\n[REDACTED:email]\n",
		`["4111 1111 1111 1111",4111111111111111]`:                 `["4111 1111 1111 1111",0]`,
	} {
		out, _ := p.Text(in)
		assert.Equal(t, want, out, in)
		again, _ := p.Text(out)
		assert.Equal(t, out, again)
	}
}
