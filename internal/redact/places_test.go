package redact

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blocks reads a file of texts, each under a line "=== name".
func blocks(t testing.TB, file string) map[string]string {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	all := map[string]string{}
	for _, b := range strings.Split(string(raw), "\n=== ")[1:] {
		name, text, ok := strings.Cut(b, "\n")
		require.True(t, ok, name)
		require.NotContains(t, all, name)
		all[name] = strings.TrimSuffix(text, "\n")
	}
	return all
}

var (
	betweenMarks = regexp.MustCompile(`(?s)«.*?»`)
	placeholders = regexp.MustCompile(`\[REDACTED:[a-z0-9_]+\]`)
)

func TestSecretsWhereTheyAreMet(t *testing.T) {
	cases := blocks(t, "testdata/secrets.txt")
	require.GreaterOrEqual(t, len(cases), 60)
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			in := strings.NewReplacer("«", "", "»", "").Replace(sample(text))
			want := betweenMarks.ReplaceAllString(sample(text), "«»")
			out, hits := Default().Text(in)
			assert.Equal(t, want, placeholders.ReplaceAllString(out, "«»"))
			assert.NotEmpty(t, hits)
			checkText(t, Default(), in)
			checkText(t, keyed(t), in)
			for _, secret := range betweenMarks.FindAllString(sample(text), -1) {
				out, _ := keyed(t).Text(in)
				assert.NotContains(t, out, strings.Trim(secret, "«»"))
			}
		})
	}
}

func TestLookAlikesStay(t *testing.T) {
	cases := blocks(t, "testdata/lookalikes.txt")
	require.GreaterOrEqual(t, len(cases), 60)
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			out, hits := Default().Text(in)
			assert.Equal(t, in, out)
			assert.Empty(t, hits)
			checkText(t, Default(), in)
			checkText(t, keyed(t), in)
		})
	}
}
