package loopback

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestName(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost:80": true, "127.0.0.1": true, "127.9.9.9:1": true, "[::1]:4380": true, "[::1]": true, "::1": true,
		"": false, "evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example:80": false,
		"0.0.0.0:80": false, "10.0.0.1": false, "[::]": false,
	} {
		assert.Equal(t, want, Name(host), host)
	}
}

func TestRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		host, origin string
		refused      bool
	}{
		"a program":             {"127.0.0.1:4380", "", false},
		"a page of the same":    {"localhost:4380", "http://localhost:3000", false},
		"a rebound name":        {"evil.example:4380", "", true},
		"a page of another":     {"127.0.0.1:4380", "https://evil.example", true},
		"a page without a name": {"127.0.0.1:4380", "null", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://"+c.host+"/v1/tapes", nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		assert.Equal(t, c.refused, Refuse(r) != "", name)
	}
}
