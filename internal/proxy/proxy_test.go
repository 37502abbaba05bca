package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// proxied is a proxy that runs, whose handler says what it was asked for.
type proxied struct {
	address   string
	authority *Authority
	stop      func() error

	mu     sync.Mutex
	broken []string
}

func (p *proxied) notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.broken...)
}

func start(t *testing.T) *proxied {
	authority, err := NewAuthority()
	require.NoError(t, err)
	p := &proxied{authority: authority}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %q", r.Method, r.URL, body)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	server := New(authority, echo, func(host, why string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.broken = append(p.broken, host+": "+why)
	})
	go func() { ended <- server.Serve(ctx, listener) }()
	p.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { assert.NoError(t, p.stop()) })
	return p
}

// client asks by the proxy, and trusts its authority if trust is set.
func (p *proxied) client(t *testing.T, trust bool) *http.Client {
	pool := x509.NewCertPool()
	if trust {
		require.True(t, pool.AppendCertsFromPEM(p.authority.PEM()))
	}
	transport := &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: p.address}),
		TLSClientConfig:   &tls.Config{RootCAs: pool},
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestRequestsOfEveryServerReachTheHandler(t *testing.T) {
	p := start(t)
	client := p.client(t, true)
	for _, c := range []struct{ target, want string }{
		{"http://plain.example/x?y=1", `POST http://plain.example/x?y=1 "body"`},
		{"http://plain.example:8080/x", `POST http://plain.example:8080/x "body"`},
		{"https://secret.example/x?y=1", `POST https://secret.example/x?y=1 "body"`},
		{"https://secret.example:8443/x", `POST https://secret.example:8443/x "body"`},
		{"https://192.0.2.7/x", `POST https://192.0.2.7/x "body"`},
		{"https://" + strings.Repeat("long.", 30) + "example/", `POST https://` + strings.Repeat("long.", 30) + `example/ "body"`},
		{"https://[2001:db8::1]/x", `POST https://[2001:db8::1]/x "body"`},
	} {
		response, err := client.Post(c.target, "text/plain", strings.NewReader("body"))
		require.NoError(t, err, c.target)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, c.want, string(text))
	}
	assert.Empty(t, p.notes())
}

func TestAClientThatDoesNotTrustUsIsNamed(t *testing.T) {
	p := start(t)
	response, err := p.client(t, false).Get("https://secret.example/")
	if !assert.Error(t, err) {
		_ = response.Body.Close()
	}
	require.Eventually(t, func() bool { return len(p.notes()) > 0 }, time.Second, time.Millisecond)
	assert.Equal(t, []string{"secret.example: TLS: the client does not trust the certificate: it reads no variable that names the authorities"}, p.notes())
}

// dial makes a connection to the proxy and says something.
func (p *proxied) dial(t *testing.T, text string) (net.Conn, *bufio.Reader) {
	conn, err := net.Dial("tcp", p.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	return conn, bufio.NewReader(conn)
}

func TestWhatIsNoTLSInsideIsRefused(t *testing.T) {
	p := start(t)
	conn, answer := p.dial(t, "CONNECT db.example:5432 HTTP/1.1\r\nHost: db.example:5432\r\n\r\n")
	response, err := http.ReadResponse(answer, &http.Request{Method: http.MethodConnect})
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 200, response.StatusCode)
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n")
	require.NoError(t, err)
	response, err = http.ReadResponse(answer, nil)
	require.NoError(t, err)
	assert.Equal(t, 403, response.StatusCode)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, "this proxy takes nothing but TLS inside\n", string(text))
	_, err = answer.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, []string{"db.example:5432: no TLS"}, p.notes())
}

// TestBadRequestsOfTheProxyItself are answered, also those of a web page, which
// cannot ask for an absolute URL.
func TestBadRequestsOfTheProxyItself(t *testing.T) {
	p := start(t)
	for _, c := range []struct {
		request string
		status  int
	}{
		{"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400},
		{"GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 400},
		{"GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 400},
		{"CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n", 400},
		{"CONNECT a@b:443 HTTP/1.1\r\nHost: a@b:443\r\n\r\n", 400},
		{"CONNECT :443 HTTP/1.1\r\nHost: :443\r\n\r\n", 400},
		{"rubbish\r\n\r\n", 400},
	} {
		_, answer := p.dial(t, c.request)
		response, err := http.ReadResponse(answer, nil)
		require.NoError(t, err, c.request)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, c.status, response.StatusCode, c.request)
	}
	assert.Empty(t, p.notes())
}

// TestItEndsWithClientsInEveryState: idle, in a handshake, in a tunnel, gone.
func TestItEndsWithClientsInEveryState(t *testing.T) {
	p := start(t)
	p.dial(t, "")
	p.dial(t, "CONNECT silent.example:443 HTTP/1.1\r\nHost: silent.example:443\r\n\r\n")
	gone, _ := p.dial(t, "CONNECT gone.example:443 HTTP/1.1\r\nHost: gone.example:443\r\n\r\n")
	require.NoError(t, gone.Close())
	response, err := p.client(t, true).Get("https://open.example/")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	before := time.Now()
	require.NoError(t, p.stop())
	assert.Less(t, time.Since(before), shutdownTimeout+time.Second)
}

func TestCertificatesAreKeptAndBounded(t *testing.T) {
	a, err := NewAuthority()
	require.NoError(t, err)
	first, err := a.leaf("A.example")
	require.NoError(t, err)
	again, err := a.leaf("a.example")
	require.NoError(t, err)
	assert.Same(t, first, again)
	for i := range maxLeaves {
		_, err := a.leaf(fmt.Sprintf("h%d.example", i))
		require.NoError(t, err)
	}
	assert.Len(t, a.leaves, maxLeaves)
	assert.Len(t, a.names, maxLeaves)
	_, err = a.leaf("é.example")
	assert.ErrorContains(t, err, `certificate for "é.example"`)
}

func TestTheEnvironmentOfACommand(t *testing.T) {
	a, err := NewAuthority()
	require.NoError(t, err)
	dir := t.TempDir()
	own := dir + "/own.pem"
	other, err := NewAuthority()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(own, other.PEM(), 0o600))
	env, err := Environment(dir, "http://127.0.0.1:9", a, func(name string) string {
		return map[string]string{"SSL_CERT_FILE": own, "CURL_CA_BUNDLE": own, "AWS_CA_BUNDLE": dir + "/none", "NO_PROXY": "corp.example"}[name]
	})
	require.NoError(t, err)
	file := dir + "/authorities.pem"
	assert.ElementsMatch(t, []string{
		"HTTP_PROXY=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9",
		"ALL_PROXY=http://127.0.0.1:9", "all_proxy=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"SSL_CERT_FILE=" + file, "REQUESTS_CA_BUNDLE=" + file, "CURL_CA_BUNDLE=" + file, "NODE_EXTRA_CA_CERTS=" + file, "AWS_CA_BUNDLE=" + file,
		"GIT_SSL_CAINFO=" + file, "PIP_CERT=" + file, "DENO_CERT=" + file, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=" + file, "NODE_USE_ENV_PROXY=1",
	}, env)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(other.PEM())+string(a.PEM()), string(text), "what the command trusted, once, and the proxy's")
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, err = Environment(dir+"/none", "http://127.0.0.1:9", a, func(string) string { return "" })
	assert.ErrorContains(t, err, "authorities of the proxy: ")
}
