//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// program needs another program, and skips the test where it is not installed.
func program(t *testing.T, name string) {
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
}

const byCurl = `set -e
curl -m 20 -sS --fail "https://api.example.com/rates?base=EUR"
curl -m 20 -sS -w '%{http_code}\n' -d '{"sku": 7}' http://orders.example:8080/orders
curl -m 20 -sS https://api.openai.com/v1/chat/completions -d '{"model":"m","messages":[{"role":"user","content":"hi"}]}' | grep -o '"content":"hello"'
curl -m 20 -sS -o /dev/null -w '%{http_code}\n' https://telemetry.example/v1/events -d '{}'
`

func TestTheRequestsOfCurlAreAnsweredFromTheTape(t *testing.T) {
	program(t, "curl")
	r := tapeCmd(t, "", "run", "testdata/web.jsonl", "--", "sh", "-c", byCurl)
	assert.Equal(t, "{\"NOK\": 11.8}\nbusy\n503\n\"content\":\"hello\"\n403\n", r.out)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "(3 records): clean\n")
	assert.Contains(t, r.err, "  refused elsewhere: POST telemetry.example/v1/events (1)\n")

	r = tapeCmd(t, "", "run", "testdata/web.jsonl", "--fail-elsewhere", "--", "sh", "-c", byCurl)
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.err, "tape: the replay was not clean: 1 refused elsewhere")
}

func TestTheRequestsOfPythonAreAnsweredFromTheTape(t *testing.T) {
	program(t, "python3")
	const script = `
import json, urllib.error, urllib.request
ask = urllib.request.urlopen
print(json.load(ask("https://api.example.com/rates?base=EUR")))
try:
    ask(urllib.request.Request("http://orders.example:8080/orders", b'{"sku":7}'))
except urllib.error.HTTPError as e:
    print(e.code, e.read())
`
	r := tapeCmd(t, "", "run", "testdata/web.jsonl", "--kind", "tool", "--", "python3", "-c", script)
	assert.Equal(t, "{'NOK': 11.8}\n503 b'busy\\n'\n", r.out)
	assert.Equal(t, exitOK, r.code, r.err)
}

// TestWhatRunsBesideTheCommandIsAskedDirectly: the proxy is for other machines, so
// that the exports of a command reach its collector, and are not counted.
func TestWhatRunsBesideTheCommandIsAskedDirectly(t *testing.T) {
	program(t, "curl")
	var got atomic.Int32
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	defer collector.Close()
	local := strings.Replace(collector.URL, "127.0.0.1", "localhost", 1)
	r := tapeCmd(t, "", "run", "testdata/web.jsonl", "--kind", "tool", "--", "sh", "-c", "curl -m 20 -sS -4 -d x "+collector.URL+"/v1/traces; curl -m 20 -sS -4 -d x "+local+"/v1/traces")
	assert.Equal(t, int32(2), got.Load(), r.err)
	assert.NotContains(t, r.err, "elsewhere")
}

func TestTheProxyIsLeftOut(t *testing.T) {
	t.Setenv(childEnv, "1")
	t.Setenv("HTTPS_PROXY", "http://corp.example:1")
	r := tapeCmd(t, "", "run", "testdata/web.jsonl", "--no-proxy", "--", os.Args[0], "env", "HTTPS_PROXY", "env", "SSL_CERT_FILE")
	assert.Equal(t, "HTTPS_PROXY=http://corp.example:1\nSSL_CERT_FILE="+os.Getenv("SSL_CERT_FILE")+"\n", r.out)
	r = tapeCmd(t, "", "run", "testdata/web.jsonl", "--", os.Args[0], "env", "HTTPS_PROXY", "env", "SSL_CERT_FILE")
	assert.Regexp(t, `^HTTPS_PROXY=http://127\.0\.0\.1:\d+\nSSL_CERT_FILE=.+/authorities\.pem\n$`, r.out)
	_, file, _ := strings.Cut(strings.TrimSpace(r.out), "SSL_CERT_FILE=")
	assert.NoFileExists(t, file, "it is gone with the run")
}

// TestNothingLeavesAReplay: while a command asks for hosts that the tape knows, that
// it does not, and that do not exist, no name is looked up and no connection is made
// to another machine.
func TestNothingLeavesAReplay(t *testing.T) {
	program(t, "curl")
	var outside atomic.Int32
	refuse := func(context.Context, string, string) (net.Conn, error) {
		outside.Add(1)
		return nil, errors.New("nothing is to leave")
	}
	resolver, transport := net.DefaultResolver, http.DefaultTransport
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: refuse}
	http.DefaultTransport = &http.Transport{DialContext: refuse}
	defer func() { net.DefaultResolver, http.DefaultTransport = resolver, transport }()

	stop, found := make(chan struct{}), map[string]bool{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			for _, peer := range peers(t) {
				found[peer] = true
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	script := byCurl + "curl -m 20 -sS -o /dev/null -H 'Connection: Upgrade' -H 'Upgrade: websocket' http://ws.example/ ; curl -m 20 -sS -p -o /dev/null http://192.0.2.1:5432/ || true\n"
	r := tapeCmd(t, "", "run", "testdata/web.jsonl", "--", "sh", "-c", script)
	close(stop)
	watching.Wait()
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Zero(t, outside.Load())
	assert.Empty(t, found, "connections to other machines")
	assert.Contains(t, r.err, "refused elsewhere: CONNECT 192.0.2.1:5432: no TLS (1)")
	assert.Contains(t, r.err, "refused elsewhere: GET ws.example/: WebSocket (1)")
}

// peers are the addresses other than loopback that sockets of this process are
// connected to, where the system tells: on Linux.
func peers(t *testing.T) (list []string) {
	fds, _ := filepath.Glob("/proc/self/fd/*")
	own := map[string]bool{}
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && strings.HasPrefix(link, "socket:[") {
			own[strings.TrimSuffix(strings.TrimPrefix(link, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile("/proc/self/net/" + table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 10 || !own[fields[9]] {
				continue
			}
			var address [4]byte
			// Addresses are words in the order of the machine; loopback and "any" are known
			// by their last word.
			remote, _, _ := strings.Cut(fields[2], ":")
			_, err := fmt.Sscanf(remote[len(remote)-8:], "%02x%02x%02x%02x", &address[0], &address[1], &address[2], &address[3])
			if assert.NoError(t, err, line) && address[3] != 127 && remote != strings.Repeat("0", len(remote)) && remote != "00000000000000000000000001000000" {
				list = append(list, table+" "+fields[2])
			}
		}
	}
	return list
}
