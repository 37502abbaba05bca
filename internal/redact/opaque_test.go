package redact

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestNoRuleFiresInsideOpaqueBase64(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	p := Default()
	secrets := []string{"-sk-" + "J8kq2mV7n1pQ9rT5sW0uT3BlbkFJ", "_gsk_" + "J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz01", "-xoxb-" + "123456789012-J8kq2mV7n1pQ"}
	for n := 0; n < 400; n++ {
		long := base64.RawURLEncoding.EncodeToString(randomBytes(r, 96+r.IntN(3000)))
		at := minHead + r.IntN(len(long)-minHead)
		if !byChance(long[:min(at, runHead)]) {
			continue
		}
		long = long[:at] + secrets[n%len(secrets)] + long[at:]
		for _, in := range []string{
			long, "signature: " + long + " end", `{"a":"` + long + `","b":1}`, `{'a': '` + long + `='}`, `"\n` + long + `"`, `{"cut":"` + long,
		} {
			out, _ := p.Text(in)
			require.Equal(t, in, out)
		}
	}
}

func TestPaddingOfOpaqueBase64IsNoAssignment(t *testing.T) {
	long := base64.StdEncoding.EncodeToString(randomBytes(rand.New(rand.NewPCG(1, 1)), 300))
	in := long[:len(long)-5] + "+otp= next line"
	out, _ := Default().Text(in)
	assert.Equal(t, in, out)
}

func TestOpaqueByPlace(t *testing.T) {
	key := "sk-" + "J8kq2mV7n1pQ9rT5sW0uT3BlbkFJYzAbCdEf"
	for _, in := range []string{
		`{"encrypted_content":"AAAA-` + key + `"}`,
		`{"thoughtSignature":"AAAA-` + key + `"}`,
		`{"gen_ai.output.0.signature":"AAAA-` + key + `"}`,
		`{"content":[{"type":"thinking","signature":"AAAA-` + key + `"}]}`,
		`{"url":"data:image/png;base64,AAAA-` + key + `"}`,
		`{"url":"data:image/png;base64,` + key + `"}`,
		`<img src="data:image/png;base64,AAAA-` + key + `">`,
	} {
		out, _ := Default().Text(in)
		assert.Equal(t, in, out)
	}
}

// A secret that is base64 itself is found where a word begins or under a secret
// name.
func TestSecretsInBase64AreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	body := base64.RawURLEncoding.EncodeToString(randomBytes(r, 117))
	std := base64.RawStdEncoding.EncodeToString(randomBytes(r, 117))
	for in, want := range map[string]string{
		"key sk-proj-" + body:                                 "key [REDACTED:openai_key]",
		"OPENAI_API_sk-proj-" + body:                          "OPENAI_API_[REDACTED:openai_key]",
		"name_of_the_project_of_this_key_sk-" + "ant-" + body: "name_of_the_project_of_this_key_[REDACTED:anthropic_key]",
		`a\nsk-proj-` + body:                                  `a\n[REDACTED:openai_key]`,
		"x%3Dsk-proj-" + body:                                 "x%3D[REDACTED:openai_key]",
		"token=" + body:                                       "token=[REDACTED:token]",
		"Bearer " + body:                                      "Bearer [REDACTED:bearer]",
		"ABSK" + std:                                          "[REDACTED:aws_bedrock_key]",
		std + " AKIA" + "IOSFODNN7EXAMPLE":                    std + " [REDACTED:aws_access_key]",
		std + ",bob@example.com":                              std + ",[REDACTED:email]",
		`{"secret":"` + std + `"}`:                            `{"secret":"[REDACTED:secret]"}`,
		`{"client_secret":{"signature":"` + std + `"}}`:       `{"client_secret":{"signature":"[REDACTED:secret]"}}`,
		`{"signature":"sk-proj-` + body + `"}`:                `{"signature":"[REDACTED:openai_key]"}`,
		`{"signature":"for bob@example.com"}`:                 `{"signature":"for [REDACTED:email]"}`,
		// Neither words nor paths are opaque, however long.
		"/Users/Bob/Projects/Agents/Release42/" + strings.Repeat("BuildProducts/DebugSymbols/Version2/", 4) + "AKIA" + "IOSFODNN7EXAMPLE": "/Users/Bob/Projects/Agents/Release42/" +
			strings.Repeat("BuildProducts/DebugSymbols/Version2/", 4) + "[REDACTED:aws_access_key]",
		strings.Repeat("a", 500) + "_sk-proj-" + body: strings.Repeat("a", 500) + "_[REDACTED:openai_key]",
	} {
		out, _ := Default().Text(in)
		assert.Equal(t, want, out)
	}
}

// What is opaque does not depend on where in a text it stands.
func TestOpaqueRunsAreFoundAtEveryOffset(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	long := base64.RawURLEncoding.EncodeToString(randomBytes(r, 120))
	in := long[:100] + "-sk-" + "J8kq2mV7n1pQ9rT5sW0uT3BlbkFJ" + long[100:]
	for n := range 200 {
		text := strings.Repeat("y ", n) + "x" + strings.Repeat(".", n%7) + " " + in + " z"
		out, _ := Default().Text(text)
		require.Equal(t, text, out)
	}
}

func FuzzOpaque(f *testing.F) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 8 {
		f.Add(base64.StdEncoding.EncodeToString(randomBytes(r, 150)), "sk-", "otp= x")
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		checkText(t, Default(), a+b+a+c)
		checkText(t, keyed(t), a+c+b+a)
		raw, err := json.Marshal(map[string]string{"signature": a + b, "text": a + c})
		require.NoError(t, err)
		checkJSON(t, Default(), raw)
	})
}
