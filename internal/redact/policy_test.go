package redact

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func custom(t *testing.T) *Policy {
	p, err := New(Config{
		Disable:   []string{"email", "jwt"},
		Keys:      []string{"tenant pin", "internalCode"},
		AllowKeys: []string{"page.cookie", "secret"},
		Allow:     []string{`4111 1111 1111 1111`, `AKIAIOSFODNN7EXAMPLE`},
		Rules: []Rule{
			{Type: "employee", Keywords: []string{"EMP-"}, Expression: `^EMP-[0-9]{6}`},
			{Type: "ticket", Keywords: []string{"#sec"}, Expression: `[a-z]+#sec([0-9]+)`},
		},
	})
	require.NoError(t, err)
	return p
}

func TestConfigurationChangesWhatIsRedacted(t *testing.T) {
	p := custom(t)
	for in, want := range map[string]string{
		`{"tenantPin":"1","x-tenant-pin-2":"2","internal_code_eu":"3"}`:     `{"tenantPin":"[REDACTED:secret]","x-tenant-pin-2":"[REDACTED:secret]","internal_code_eu":"[REDACTED:secret]"}`,
		`{"page_cookie":"a","secret":"b","cookie":"c","client_secret":"d"}`: `{"page_cookie":"a","secret":"b","cookie":"[REDACTED:cookie]","client_secret":"[REDACTED:secret]"}`,
		`"bob@example.com"`:      `"bob@example.com"`,
		`"EMP-123456 of EMP-12"`: `"[REDACTED:employee] of EMP-12"`,
		`"see abc#sec42 now"`:    `"see abc#sec[REDACTED:ticket] now"`,
		`{"EMP-123456":1}`:       `{"[REDACTED:employee]":1}`,
		// What is allowed exempts its own range alone.
		`"4111 1111 1111 1111 and 5500 0000 0000 0004"`: `"4111 1111 1111 1111 and [REDACTED:card]"`,
	} {
		out, _ := p.JSON([]byte(in))
		assert.Equal(t, want, string(out))
	}
}

func TestConfigurationErrorsNameThePlace(t *testing.T) {
	err := Config{
		Disable:   []string{"nothing"},
		Keys:      []string{"--"},
		AllowKeys: []string{""},
		Allow:     []string{"(", ".*"},
		Rules: []Rule{
			{Type: "Bad Type", Keywords: []string{"abc"}, Expression: "x"},
			{Type: "a", Expression: "x"},
			{Type: "a", Keywords: []string{"ab"}, Expression: "x"},
			{Type: "a", Keywords: []string{"abc"}, Expression: "("},
			{Type: "a", Keywords: []string{"abc"}, Expression: "x*"},
			{Type: "a", Keywords: []string{"abc"}, Expression: "x", Validate: "magic"},
		},
	}.Validate()
	require.Error(t, err)
	for _, want := range []string{
		`disable[0]: no rule has the type "nothing"`, `keys[0]: "--" has no letter or digit`, `allow_keys[0]:`, `allow[0]:`, `allow[1]: matches the empty text`,
		`rules[0]: type:`, `rules[1]: keywords:`, `rules[2]: keywords[0]:`, `rules[3]: expression:`, `rules[4]: expression: matches the empty text`, `rules[5]: validate:`,
	} {
		assert.ErrorContains(t, err, want)
	}
	_, err = New(Config{Allow: []string{"("}})
	assert.ErrorContains(t, err, "redaction: allow[0]")
	assert.NoError(t, Config{}.Validate())
}

func TestAPolicyIsRebuiltFromItsManifest(t *testing.T) {
	for name, p := range map[string]*Policy{"default": Default(), "custom": custom(t)} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(p.Manifest())
			require.NoError(t, err)
			var m tape.Redaction
			require.NoError(t, json.Unmarshal(raw, &m))
			again, err := FromManifest(&m)
			require.NoError(t, err)
			assert.Equal(t, p.Manifest(), again.Manifest())
			for _, in := range pieces {
				want, _ := p.Text(in)
				got, _ := again.Text(in)
				assert.Equal(t, want, got)
			}
		})
	}
}

func TestEqualIDsMeanEqualRules(t *testing.T) {
	same, err := New(Config{})
	require.NoError(t, err)
	assert.Equal(t, Default().Manifest(), same.Manifest())
	assert.NotEqual(t, Default().Manifest().Policy, custom(t).Manifest().Policy)
	assert.Less(t, len(same.Manifest().Rules), 32<<10, "it is in every manifest")
	assert.Regexp(t, `^v2:[0-9a-f]{16}$`, same.Manifest().Policy)
}

func TestRulesOfAnotherKindAreRefusedByName(t *testing.T) {
	_, err := FromManifest(&tape.Redaction{Policy: "v9:abc", Rules: []byte(`{"version":9}`)})
	require.ErrorIs(t, err, ErrVersion)
	assert.ErrorContains(t, err, `policy "v9:abc"`)
	for _, rules := range []string{"", "x", `{"version":1,"values":[{"type":"a"}]}`, `{"version":1,"allow":["("]}`} {
		_, err := FromManifest(&tape.Redaction{Policy: "p", Rules: []byte(rules)})
		assert.Error(t, err, rules)
	}
	_, err = FromManifest(nil)
	assert.Error(t, err)
}

// A tape must not redact differently from what its manifest says, even where
// the rules in it are odd.
func TestAManifestWithoutRulesStillRedactsForms(t *testing.T) {
	p, err := FromManifest(&tape.Redaction{Policy: "p", Rules: []byte(`{"version":1}`)})
	require.NoError(t, err)
	out, _ := p.Text("bob@example.com password=x")
	assert.Equal(t, "[REDACTED:email] password=x", out)
}
