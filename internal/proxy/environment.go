package proxy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// direct are the hosts that no proxy is asked for: what runs on this machine, such
// as a collector that the program exports to.
const direct = "127.0.0.1,localhost"

// bundles are where systems have the authorities that they trust.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem", "/usr/local/etc/ssl/cert.pem",
}

// trusting are the variables that name a file of authorities, each of some clients.
var trusting = []string{
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO",
	"PIP_CERT", "DENO_CERT", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
}

// Environment is what has a program send its requests to the proxy at a URL and trust
// its authority, as NAME=VALUE. The authorities are written to a file in dir: those
// that the program trusts by getenv, else those of the system, and the proxy's.
func Environment(dir, url string, authority *Authority, getenv func(string) string) ([]string, error) {
	var known bytes.Buffer
	seen := map[string]bool{}
	for _, name := range append([]string{"SSL_CERT_FILE"}, trusting...) {
		if file := getenv(name); file != "" && !seen[file] {
			seen[file] = true
			// A file that is not there is what the program has to live with anyway.
			text, err := os.ReadFile(file)
			if err == nil {
				known.Write(append(bytes.TrimSpace(text), '\n'))
			}
		}
	}
	if getenv("SSL_CERT_FILE") == "" {
		for _, file := range bundles {
			if text, err := os.ReadFile(file); err == nil {
				known.Write(append(bytes.TrimSpace(text), '\n'))
				break
			}
		}
	}
	known.Write(authority.PEM())
	file := filepath.Join(dir, "authorities.pem")
	if err := os.WriteFile(file, known.Bytes(), 0o600); err != nil {
		return nil, fmt.Errorf("authorities of the proxy: %w", err)
	}
	env := []string{"NODE_USE_ENV_PROXY=1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+url, strings.ToLower(name)+"="+url)
	}
	// What the command had is not kept: a host in it would be asked directly.
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env = append(env, name+"="+direct)
	}
	for _, name := range trusting {
		env = append(env, name+"="+file)
	}
	return env, nil
}
