package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
)

// tokenVariable names the token for servers that want one. Unlike a flag, others on
// the machine do not see it.
const tokenVariable = "TAPE_TOKEN"

// caVariable names the file of authorities where --ca does not.
const caVariable = "TAPE_CA"

// bearerToken is the token that goes along with requests, "" for none. No message
// repeats it.
func (a *app) bearerToken() (string, error) {
	token := cmp.Or(a.token, a.Env(tokenVariable))
	if path, ok := strings.CutPrefix(a.token, "@"); ok {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", usage("--token: %w", err)
		}
		if token = strings.TrimSpace(string(text)); token == "" {
			return "", usage("--token: %s is empty", path)
		}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usage("the token has characters that no token has: white space, or what is not ASCII")
	}
	return token, nil
}

// trust says which servers are believed to be who they say; nil is those that the
// system believes.
func (a *app) trust() (*tls.Config, error) {
	path := cmp.Or(a.ca, a.Env(caVariable))
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("--ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, usage("--ca: %s holds no certificate in PEM", path)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}
