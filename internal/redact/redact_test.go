package redact

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJSONBasics(t *testing.T) {
	for in, want := range map[string]string{
		`{"password":"x","a":1}`:                   `{"password":"[REDACTED:password]","a":1}`,
		`{"a":"{\"apiKey\":\"x\"}"}`:               `{"a":"{\"apiKey\":\"[REDACTED:api_key]\"}"}`,
		`{"db.password": {"x":[1,true,null,"s"]}}`: `{"db.password": {"x":[0,false,null,"[REDACTED:password]"]}}`,
		`{"max_tokens":5,"token_count":1}`:         `{"max_tokens":5,"token_count":1}`,
		`{'api_key': 'x', 'q': 1}`:                 `{'api_key': '[REDACTED:api_key]', 'q': 1}`,
		`Authorization: Bearer x`:                  `Authorization: [REDACTED:authorization]`,
	} {
		out, _ := Default().JSON([]byte(in))
		assert.Equal(t, want, string(out))
		again, hits := Default().JSON(out)
		assert.Equal(t, want, string(again))
		assert.Empty(t, hits)
	}
}
