package serve

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

const exchanges = `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","complete":true}
{"seq":1,"tool":"http","args":{"method":"GET","url":"https://api.example.com/rates?base=EUR&day=2","headers":{"Accept":"application/json"}},"result":{"status":200,"headers":{"Content-Type":["application/json"],"ETag":["\"a\""]},"body":"{\"NOK\": 11.8}"}}
{"seq":2,"tool":"http","args":{"method":"POST","url":"https://api.example.com/orders","body":{"sku":7,"n":1}},"result":{"status":503,"headers":{"Retry-After":"1"},"body":"busy"},"error":{"code":"503","message":"busy"}}
{"seq":3,"tool":"http","args":{"method":"POST","url":"https://api.example.com/orders","body":{"sku":7,"n":1}},"result":{"status":201,"body":""}}
{"seq":4,"tool":"http","args":{"method":"GET","url":"http://down.example:8080/"},"result":null,"error":{"type":"ConnectTimeout","message":"timed out"}}
{"seq":5,"tool":"http","args":{"method":"GET","url":"http://down.example:8080/"},"result":null,"error":{"type":"ConnectError","message":"refused"}}
{"seq":6,"tool":"http","args":{"method":"HEAD","url":"https://files.example/big"},"result":{"status":200,"headers":{"Content-Length":"50000000"}}}
{"seq":7,"tool":"mcp__wiki__ask","args":{"q":"x"},"result":"y"}
{"seq":8,"tool":"chat","kind":"model","args":{"messages":[{"role":"user","content":"hi"}]},"result":{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}}
`

func forwarding(t testing.TB, tapeText string, options ...Option) (*replay.Session, *Server) {
	read, err := tape.ReadAll(strings.NewReader(tapeText))
	require.NoError(t, err)
	session, err := replay.New(read, Options()...)
	require.NoError(t, err)
	return session, New(session, options...)
}

func forward(t *testing.T, s *Server, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	u, err := url.Parse(target)
	require.NoError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
	r.URL, r.Host = u, u.Host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Forwarded(w, r)
	return w
}

func TestExchangesAreAnsweredAsTheServerDid(t *testing.T) {
	session, s := forwarding(t, exchanges)
	got := forward(t, s, "GET", "https://API.example.com:443/rates?day=2&base=EUR", "", "Accept", "application/json", "User-Agent", "other/9")
	assert.Equal(t, 200, got.Code)
	assert.Equal(t, `{"NOK": 11.8}`, got.Body.String())
	assert.Equal(t, `"a"`, got.Header().Get("ETag"))
	assert.Equal(t, "1", got.Header().Get("Tape-Seq"))
	assert.Empty(t, got.Header().Get("X-Content-Type-Options"), "the server did not say so")
	got = forward(t, s, "POST", "https://api.example.com/orders", `{"n": 1, "sku": 7}`)
	assert.Equal(t, 503, got.Code)
	assert.Equal(t, "busy", got.Body.String())
	assert.Equal(t, "1", got.Header().Get("Retry-After"))
	assert.Equal(t, 201, forward(t, s, "POST", "https://api.example.com/orders", `{"n": 1, "sku": 7}`).Code)
	assert.Equal(t, 504, forward(t, s, "GET", "http://down.example:8080", "").Code)
	got = forward(t, s, "GET", "http://down.example:8080", "")
	assert.Equal(t, 502, got.Code)
	assert.JSONEq(t, `{"error":{"code":"ConnectError","message":"refused"}}`, got.Body.String())
	assert.Equal(t, "50000000", forward(t, s, "HEAD", "https://files.example/big", "").Header().Get("Content-Length"))
	stats := session.Stats()
	assert.Equal(t, [2]int{6, 6}, [2]int{stats.Steps, stats.TapeHits})
	assert.Contains(t, session.Report().Text(), "claim: answer: a connection that failed: rebuilt: answered with 504, as a proxy does (2 calls)")
}

func TestVerdictsOnExchanges(t *testing.T) {
	session, s := forwarding(t, exchanges)
	for _, c := range []struct {
		method, target, body string
		status               int
		code, message        string
	}{
		{"GET", "https://api.example.com/rates?base=USD&day=2", "", 422, "tape_drift", "url"},
		{"POST", "https://api.example.com/orders", `{"sku":8,"n":1}`, 422, "tape_drift", "body.sku 7 -> 8"},
		{"HEAD", "https://files.example/big", "", 200, "", ""},
		{"HEAD", "https://files.example/big", "", 410, "tape_exhausted", ""},
	} {
		got := forward(t, s, c.method, c.target, c.body)
		assert.Equal(t, c.status, got.Code, c.target)
		if c.code != "" {
			assert.Equal(t, "false", got.Header().Get("X-Should-Retry"))
			if c.method != "HEAD" {
				text := got.Body.String()
				assert.Contains(t, text, `"code":"`+c.code+`"`)
				assert.Contains(t, text, c.message)
			}
		}
	}
	assert.Zero(t, session.Report().ElsewhereCount)
	assert.ErrorIs(t, session.Close(), replay.ErrUnclean)
}

// TestRequestsElsewhereAreRefused with a status that no SDK retries, and listed.
func TestRequestsElsewhereAreRefused(t *testing.T) {
	session, s := forwarding(t, exchanges)
	for range 2 {
		got := forward(t, s, "POST", "https://telemetry.example/v1/events?key=abc", `{}`)
		assert.Equal(t, http.StatusForbidden, got.Code)
		assert.Equal(t, "false", got.Header().Get("X-Should-Retry"))
		assert.Contains(t, got.Body.String(), `"code":"tape_elsewhere"`)
	}
	forward(t, s, "GET", "wss://api.example.com/socket", "", "Connection", "Upgrade", "Upgrade", "websocket")
	forward(t, s, "POST", "http://127.0.0.1:4318/v1/traces", "")
	forward(t, s, "POST", "https://api.openai.com/v1/traces/ingest", "{}")
	s.Broken("db.example:5432", "no TLS")
	assert.Equal(t, []replay.Elsewhere{
		{Method: "POST", Host: "127.0.0.1:4318", Path: "/v1/traces", Why: "no proxy can reach it: have the client ask for it directly, as NO_PROXY says", Count: 1},
		{Method: "GET", Host: "api.example.com", Path: "/socket", Why: "WebSocket", Count: 1},
		{Method: "POST", Host: "api.openai.com", Path: "/v1/traces/ingest", Count: 1},
		{Method: "CONNECT", Host: "db.example:5432", Why: "no TLS", Count: 1},
		{Method: "POST", Host: "telemetry.example", Path: "/v1/events", Count: 2},
	}, session.Report().Elsewhere)
	assert.Zero(t, session.Stats().Steps)
}

func TestModelHostsAreAnsweredByTheModelsOfTheTape(t *testing.T) {
	const chat = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	for host, known := range map[string]bool{
		"api.openai.com": true, "me.openai.azure.com": true, "eu.api.openai.com": true, "llm.corp.example": true, "x.llm.corp.example": true,
		"api.openai.com.evil.example": false, "openai.azure.com": false, "corp.example": false,
	} {
		_, s := forwarding(t, exchanges, WithModelHosts("LLM.corp.example", "*.llm.corp.example"))
		got := forward(t, s, "POST", "https://"+host+"/v1/chat/completions", chat)
		if !known {
			assert.Equal(t, http.StatusForbidden, got.Code, host)
			continue
		}
		assert.Equal(t, http.StatusOK, got.Code, host)
		assert.Contains(t, got.Body.String(), `"content":"hello"`)
	}
}

// TestMCPServersAreAnsweredAtAnyHost: the requests of an MCP client are known by
// themselves, and the server by a label of its host.
func TestMCPServersAreAnsweredAtAnyHost(t *testing.T) {
	session, s := forwarding(t, exchanges)
	defer func() { assert.NoError(t, s.mcp.Close()) }()
	accept := []string{"Accept", "application/json, text/event-stream", "Content-Type", "application/json"}
	got := forward(t, s, "POST", "https://mcp.wiki.example/v2/endpoint",
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, accept...)
	require.Equal(t, http.StatusOK, got.Code)
	accept = append(accept, "Mcp-Session-Id", got.Header().Get("Mcp-Session-Id"))
	got = forward(t, s, "POST", "https://mcp.wiki.example/v2/endpoint", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"q":"x"}}}`, accept...)
	assert.Contains(t, got.Body.String(), `"text":"y"`)
	assert.Equal(t, 1, session.Stats().TapeHits)
}

func TestARewrittenURL(t *testing.T) {
	session, s := forwarding(t, exchanges)
	server := httptest.NewServer(s)
	defer server.Close()
	get := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "application/json")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(text)
	}
	status, text := get("/http/https/api.example.com/rates?base=EUR&day=2")
	assert.Equal(t, 200, status)
	assert.Equal(t, `{"NOK": 11.8}`, text)
	for _, bad := range []string{"/http/", "/http/ftp/a.example/x", "/http/https", "/http/https//x", "/http/https/a%20b/x"} {
		status, _ = get(bad)
		assert.Equal(t, 404, status, bad)
	}
	status, text = get("/http/http/nowhere.example")
	assert.Equal(t, 403, status)
	assert.Contains(t, text, "GET / was refused")
	assert.Equal(t, 1, session.Stats().TapeHits)
	http.DefaultClient.CloseIdleConnections()
}

func TestAnExchangeThatIsNoneIsAGap(t *testing.T) {
	session, s := forwarding(t, `{"seq":1,"tool":"http","args":{"method":"GET","url":"https://a.example/"},"result":null}`+"\n")
	got := forward(t, s, "GET", "https://a.example/", "")
	assert.Equal(t, http.StatusFailedDependency, got.Code)
	assert.Contains(t, got.Body.String(), "not an HTTP response")
	assert.Equal(t, 1, session.Stats().Gaps)
}

// TestAKilledClientLeavesTheSessionUsable: what it asked for is used up, and all else
// is there.
func TestAKilledClientLeavesTheSessionUsable(t *testing.T) {
	session, s := forwarding(t, exchanges)
	ctx, kill := context.WithCancel(t.Context())
	kill()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "https://api.example.com/rates?base=EUR&day=2", nil)
	r.Header.Set("Accept", "application/json")
	s.Forwarded(httptest.NewRecorder(), r)
	got := forward(t, s, "GET", "https://api.example.com/rates?base=EUR&day=2", "", "Accept", "application/json")
	assert.Equal(t, 200, got.Code, "it was gone before the call was made")
	assert.Equal(t, 1, session.Stats().TapeHits)
}

// TestAPageOf50MB is streamed without a second copy of itself.
func TestAPageOf50MB(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const size = 50 << 20
	page, err := json.Marshal(map[string]any{"status": 200, "body": strings.Repeat("<p>\"\n", size/5)})
	require.NoError(t, err)
	session, err := replay.New(&tape.Tape{Records: []tape.Record{{Seq: 1, Tool: "http", Args: json.RawMessage(`{"method":"GET","url":"https://a.example/"}`), Result: page}}})
	require.NoError(t, err)
	server := httptest.NewServer(New(session))
	defer server.Close()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var n int64
	peak := heapPeak(func() {
		response, err := http.Get(server.URL + "/http/https/a.example/")
		require.NoError(t, err)
		n, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	})
	http.DefaultClient.CloseIdleConnections()
	assert.Equal(t, int64(size), n)
	assert.Less(t, int64(peak)-int64(before.HeapAlloc), int64(14<<20))
}
