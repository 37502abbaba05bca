package redact

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCodeIsNoValue(t *testing.T) {
	for _, in := range []string{
		`env = append(env, "PWD="+dir)`, `prev := p.nextToken; token := result.NextToken`, `creds: aws.Credentials{ID: x}`, `cred := &Credentials{}`,
		`token = await f()`, `password = new Password()`, `const secret = async (x) => x`, `if token := r.Header.Get("X"); token != "" {`,
	} {
		out, _ := Default().Text(in)
		assert.Equal(t, in, out)
	}
	for in, want := range map[string]string{
		`password := "hunter2"`:  `password := "[REDACTED:password]"`,
		`PASSWORD := hunter2.`:   `PASSWORD := [REDACTED:password]`,
		`"password="hunter2`:     `"password="hunter2`,
		`token := 0abc.def`:      `token := [REDACTED:token]`,
		`'token=' + "x" token=y`: `'token=' + "x" token=[REDACTED:token]`,
	} {
		out, _ := Default().Text(in)
		assert.Equal(t, want, out)
	}
}
