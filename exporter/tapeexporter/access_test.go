package tapeexporter

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/bearertokenauthextension"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/cli"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"
)

const token = "s3cr3t-t0ken"

// withAuth is a host that has a bearertokenauth extension besides.
type withAuth struct {
	*tapestoretest.Host
	auth component.Component
}

func (h *withAuth) GetExtensions() map[component.ID]component.Component {
	all := maps.Clone(h.Host.GetExtensions())
	all[component.MustNewID("bearertokenauth")] = h.auth
	return all
}

func newAuth(t *testing.T) component.Component {
	t.Helper()
	factory := bearertokenauthextension.NewFactory()
	cfg := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"token": token}).Unmarshal(cfg))
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), nil))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.Background())) })
	return ext
}

// certificate writes a certificate for 127.0.0.1 that is its own authority.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tape"}, IPAddresses: []net.IP{{127, 0, 0, 1}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	return certFile, keyFile
}

// guarded is an exporter with a run in its store, whose API wants a token and
// speaks TLS.
func guarded(t *testing.T) (f *fixture, ca string) {
	t.Helper()
	certFile, keyFile := certificate(t)
	cfg := plain()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"http": map[string]any{
		"endpoint": "127.0.0.1:0",
		"auth":     map[string]any{"authenticator": "bearertokenauth"},
		"tls":      map[string]any{"cert_file": certFile, "key_file": keyFile},
	}}).Unmarshal(cfg))
	f = startOn(t, cfg, func(h *tapestoretest.Host) component.Host { return &withAuth{h, newAuth(t)} })
	require.NoError(t, f.ConsumeTraces(t.Context(), storetest.AgentRun(t, runID, noon, good, bad)))
	return f, certFile
}

const runID = "0102030405060708090a0b0c0d0e0f10"

// address is where the API listens.
func (f *fixture) address(t *testing.T) string { return strings.TrimPrefix(f.url(t), "http://") }

func TestWithoutTheTokenNothingIsAnswered(t *testing.T) {
	f, ca := guarded(t)
	pemText, err := os.ReadFile(ca)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pemText))
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	for name, header := range map[string]http.Header{
		"none":         {},
		"wrong":        {"Authorization": {"Bearer wrong"}},
		"longer":       {"Authorization": {"Bearer " + token + "x"}},
		"empty":        {"Authorization": {""}},
		"basic":        {"Authorization": {"Basic " + token}},
		"other header": {"X-Token": {token}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []string{
				"GET /v1/tapes", "GET /v1/tapes/" + runID, "GET /v1/tapes/" + runID + "/trace", "GET /v1/tapes/" + runID + "/bundle",
				"POST /v1/tapes/" + runID + "/keep", "DELETE /v1/tapes/" + runID, "GET /v1/blobs/sha256/" + strings.Repeat("a", 64), "GET /none",
			} {
				method, path, _ := strings.Cut(call, " ")
				r, err := http.NewRequestWithContext(t.Context(), method, "https://"+f.address(t)+path, nil)
				require.NoError(t, err)
				r.Header = header
				resp, err := c.Do(r)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, http.StatusUnauthorized, resp.StatusCode, call)
			}
		})
	}
	_, err = f.host.Store().Trace(t.Context(), runID)
	require.NoError(t, err, "nothing was deleted")
	assert.Empty(t, f.logs.FilterMessage("Audit").All())
}

func TestTheCommandLineReadsOverTLSWithAToken(t *testing.T) {
	f, ca := guarded(t)
	server := "https://" + f.address(t)
	run := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := cli.Main(append([]string{"--server", server}, args...), cli.Streams{
			In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) string { return "" },
		})
		return out.String(), errs.String(), code
	}
	out, errs, code := run("--ca", ca, "--token", token, "pull", runID)
	require.Zero(t, code, errs)
	assert.Contains(t, out, `"pay"`)
	_, errs, code = run("--ca", ca, "ls")
	assert.Equal(t, 3, code)
	assert.Contains(t, errs, "401")
	_, errs, code = run("--ca", ca, "--token", "wrong-t0ken", "ls")
	assert.Equal(t, 3, code)
	assert.NotContains(t, errs, "wrong-t0ken")
	_, errs, code = run("--token", token, "ls")
	assert.Equal(t, 3, code, "a certificate of an authority that is not known")
	assert.Contains(t, errs, "certificate")
	assert.NotContains(t, errs, token)

	lines := f.logs.FilterMessage("Audit").All()
	require.Len(t, lines, 1)
	line := lines[0].ContextMap()
	assert.Equal(t, "read_tape", line["action"])
	assert.Equal(t, runID, line["trace_id"])
	assert.Equal(t, "ok", line["outcome"])
	assert.Contains(t, line["remote"], "127.0.0.1:")
	for _, entry := range f.logs.All() {
		assert.NotContains(t, entry.Message, token)
		for _, v := range entry.ContextMap() {
			assert.NotContains(t, v, token)
		}
	}
}

func TestHostileRequests(t *testing.T) {
	f := start(t, plain())
	addr := f.address(t)
	for name, tt := range map[string]struct{ request, want string }{
		"a header without an end":  {"GET /v1/tapes HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 200<<10) + "\r\n\r\n", "431 "},
		"a path without an end":    {"GET /v1/tapes/" + strings.Repeat("a", 60<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 "},
		"no HTTP":                  {"\x16\x03\x01 hello\r\n\r\n", "400 "},
		"two lengths":              {"GET /v1/tapes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400 "},
		"another host":             {"GET /v1/tapes HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403 "},
		"a page of another origin": {"GET /v1/tapes HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n", "403 "},
		"a preflight":              {"OPTIONS /v1/tapes HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:1\r\nAccess-Control-Request-Method: DELETE\r\n\r\n", "405 "},
		"up and away":              {"GET /v1/tapes/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "30"},
		"a NUL":                    {"GET /v1/tapes/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 "},
		"a body nobody asked for":  {"DELETE /v1/tapes/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\nabc", "400 "},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", addr)
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
			// The server may close before all of it is written.
			_, _ = conn.Write([]byte(tt.request))
			line, err := bufio.NewReader(conn).ReadString('\n')
			require.NoError(t, err)
			assert.Contains(t, line, "HTTP/1.1 "+tt.want)
		})
	}
}
