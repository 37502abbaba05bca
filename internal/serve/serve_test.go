package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// demo has a call of every kind of answer.
func demo(t testing.TB) *tape.Tape {
	text := `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","complete":false,"gaps":[{"seq":5,"what":"result","why":"content capture is off","fix":"CAPTURE=1"}]}
{"seq":1,"tool":"fetch","args":{"n":1},"result":{"b":1, "a":"<é>"}}
{"seq":2,"tool":"fetch","args":{"n":1},"result":"second"}
{"seq":3,"tool":"pay","args":{"eur":12},"result":{"partial":true},"error":{"code":"402","message":"card declined","type":"CardError"}}
{"seq":4,"tool":"chat","kind":"model","args":{"q":"hi"},"result":null}
{"seq":5,"tool":"scan","args":{}}
{"seq":6,"tool":"write","args":{"name":"a","max_words":120}}
`
	read, err := tape.ReadAll(strings.NewReader(text))
	require.NoError(t, err)
	return read
}

func session(t testing.TB, options ...replay.Option) *replay.Session {
	s, err := replay.New(demo(t), options...)
	require.NoError(t, err)
	return s
}

func post(h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/call", strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	h := New(session(t))
	for _, c := range []struct{ call, want, seq string }{
		{`{"tool":"fetch","args":{"n":1}}`, `{"result":{"b":1, "a":"<é>"}}`, "1"},
		{`{"args":{"n" : 1},"tool":"fetch","ignored":true}`, `{"result":"second"}`, "2"},
		{`{"tool":"pay","args":{"eur":12}}`, `{"result":{"partial":true},"error":{"code":"402","message":"card declined","type":"CardError"}}`, "3"},
		{`{"tool":"chat","kind":"model","args":{"q":" hi "}}`, `{"result":null}`, "4"},
	} {
		w := post(h, c.call)
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Equal(t, c.want+"\n", w.Body.String(), "as recorded, byte for byte")
		assert.Equal(t, c.seq, w.Header().Get("Tape-Seq"))
		assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
		assert.Empty(t, w.Header().Get("X-Should-Retry"))
	}
}

// TestVerdicts: no status is one that an SDK retries, and each says what it is.
func TestVerdicts(t *testing.T) {
	h := New(session(t))
	post(h, `{"tool":"fetch","args":{"n":1}}`)
	post(h, `{"tool":"fetch","args":{"n":1}}`)
	for name, c := range map[string]struct {
		call   string
		status int
		want   map[string]any
	}{
		"drift": {`{"tool":"write","args":{"name":"a","max_words":80}}`, 422, map[string]any{
			"code": "tape_drift", "verdict": "drift", "seq": 6.0, "tool": "write",
			"recorded_args": map[string]any{"name": "a", "max_words": 120.0},
			"live_args":     map[string]any{"name": "a", "max_words": 80.0},
			"differences":   []any{map[string]any{"path": "max_words", "recorded": 120.0, "live": 80.0}},
		}},
		"miss":      {`{"tool":"delete","args":{}}`, 404, map[string]any{"code": "tape_miss", "verdict": "miss", "tool": "delete"}},
		"exhausted": {`{"tool":"fetch","args":{"n":1}}`, 410, map[string]any{"code": "tape_exhausted", "verdict": "exhausted", "seq": 2.0}},
		"gap":       {`{"tool":"scan","args":{}}`, 424, map[string]any{"code": "tape_gap", "verdict": "gap", "fix": "CAPTURE=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := post(h, c.call)
			assert.Equal(t, c.status, w.Code)
			assert.NotContains(t, []int{408, 409, 429}, w.Code)
			assert.Equal(t, "false", w.Header().Get("x-should-retry"))
			var body struct{ Error map[string]any }
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
			assert.NotEmpty(t, body.Error["message"])
			for member, want := range c.want {
				assert.Equal(t, want, body.Error[member], member)
			}
		})
	}
}

func TestStrictOrderAnswersDriftForAnotherTool(t *testing.T) {
	w := post(New(session(t, replay.WithOrder(replay.OrderStrict))), `{"tool":"pay","args":{"eur":12}}`)
	assert.Equal(t, 422, w.Code)
	assert.Contains(t, w.Body.String(), `"code":"tape_drift"`)
	assert.Contains(t, w.Body.String(), `"verdict":"divergence"`)
}

func TestRefuses(t *testing.T) {
	s := session(t)
	h := New(s, WithMaxBody(64), WithMaxBody(0))
	for name, c := range map[string]struct {
		method, url, body string
		status            int
		code              string
	}{
		"not JSON":       {"POST", "http://127.0.0.1/v1/call", `{"tool":`, 400, "bad_request"},
		"empty":          {"POST", "http://127.0.0.1/v1/call", ``, 400, "bad_request"},
		"two values":     {"POST", "http://127.0.0.1/v1/call", `{"tool":"x"}{}`, 400, "bad_request"},
		"no tool":        {"POST", "http://127.0.0.1/v1/call", `{"args":{}}`, 400, "bad_request"},
		"type of tool":   {"POST", "http://127.0.0.1/v1/call", `{"tool":1}`, 400, "bad_request"},
		"too long":       {"POST", "http://127.0.0.1/v1/call", `{"tool":"` + strings.Repeat("x", 64) + `"}`, 413, "body_too_large"},
		"wrong method":   {"GET", "http://127.0.0.1/v1/call", ``, 405, "method_not_allowed"},
		"report by POST": {"POST", "http://localhost:80/v1/report", ``, 405, "method_not_allowed"},
		"wrong path":     {"GET", "http://[::1]/v1/calls", ``, 404, "not_found"},
		"foreign host":   {"POST", "http://evil.example/v1/call", `{"tool":"fetch"}`, 403, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(c.method, c.url, strings.NewReader(c.body)))
			assert.Equal(t, c.status, w.Code)
			assert.Equal(t, "false", w.Header().Get("x-should-retry"))
			var body struct {
				Error struct{ Code, Message string }
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
			assert.Equal(t, c.code, body.Error.Code)
			assert.NotEmpty(t, body.Error.Message)
		})
	}
	assert.Zero(t, s.Stats().Steps, "none of them was a call")

	require.Error(t, s.Close())
	w := post(h, `{"tool":"fetch"}`)
	assert.Equal(t, http.StatusGone, w.Code)
	assert.Contains(t, w.Body.String(), `"code":"closed"`)
}

func TestIdempotencyKey(t *testing.T) {
	s := session(t)
	h := New(s)
	const call = `{"tool":"fetch","args":{"n":1}}`
	first := post(h, call, "Idempotency-Key", "k1")
	assert.Equal(t, first.Body.String(), post(h, call, "Idempotency-Key", "k1").Body.String(), "the same answer again")
	assert.Equal(t, 1, s.Stats().Steps)
	assert.Contains(t, post(h, call, "Idempotency-Key", "k2").Body.String(), "second")
	assert.Equal(t, 422, post(h, `{"tool":"fetch"}`, "Idempotency-Key", "k1").Code)

	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			assert.Equal(t, 200, post(h, `{"tool":"pay","args":{"eur":12}}`, "Idempotency-Key", "k3").Code)
		})
	}
	wait.Wait()
	assert.Equal(t, 3, s.Stats().TapeHits)

	for i := range maxRepeats + 10 {
		post(h, `{"tool":"none"}`, "Idempotency-Key", fmt.Sprint("many", i))
	}
	assert.Len(t, h.repeats.byKey, maxRepeats)
	assert.Equal(t, maxRepeats, h.repeats.order.Len())
}

func TestReport(t *testing.T) {
	h := New(session(t))
	post(h, `{"tool":"delete"}`)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/report", nil))
	var report struct {
		Experiment string
		Clean      bool
		Stats      map[string]any
		Events     []map[string]any
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &report))
	assert.Equal(t, "code_regression", report.Experiment)
	assert.False(t, report.Clean)
	assert.Equal(t, "strict", report.Stats["mode"])
	assert.Equal(t, 1.0, report.Stats["tape_misses"])
	assert.Equal(t, 6.0, report.Stats["unconsumed"])
	assert.Equal(t, "miss", report.Events[0]["verdict"])

	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/report", nil)
	r.Header.Set("Accept", "text/plain")
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	assert.Contains(t, w.Body.String(), "NOT CLEAN")
}

// serveDemo serves on a real socket until the test ends.
func serveDemo(t *testing.T, h *Server) (url string, stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := Listen(ctx, "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, listener) }()
	return URL(listener), func() error {
		cancel()
		return <-done
	}
}

func TestOverASocket(t *testing.T) {
	big := strings.Repeat("x", 8<<20)
	s, err := replay.New(&tape.Tape{Records: []tape.Record{{Seq: 1, Tool: "big", Result: []byte(`"` + big + `"`)}}})
	require.NoError(t, err)
	url, stop := serveDemo(t, New(s))
	client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()

	resp, err := client.Post(url+"/v1/call", "application/json", strings.NewReader(`{"tool":"big"}`))
	require.NoError(t, err)
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.True(t, bytes.Equal(got, []byte(`{"result":"`+big+"\"}\n")))

	client.CloseIdleConnections()
	require.NoError(t, stop())
	resp, err = client.Get(url + "/v1/report")
	if err == nil {
		_ = resp.Body.Close()
	}
	require.Error(t, err, "nobody answers any more")
	require.NoError(t, s.Close())
}

// TestClientThatGoesAway: the session stays usable, and a repetition with the
// key of the call that was given up gets its answer.
func TestClientThatGoesAway(t *testing.T) {
	s, err := replay.New(&tape.Tape{Records: []tape.Record{
		{Seq: 1, Tool: "a", Done: 2, Result: []byte("1")}, {Seq: 2, Tool: "b", Done: 1, Result: []byte("2")},
	}}, replay.WithCompletion(replay.CompletionRecorded, time.Minute))
	require.NoError(t, err)
	url, stop := serveDemo(t, New(s))
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ask := func(ctx context.Context, tool, key string) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/call", strings.NewReader(`{"tool":"`+tool+`"}`))
		require.NoError(t, err)
		r.Header.Set("Idempotency-Key", key)
		resp, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = ask(ctx, "a", "ka")
	require.ErrorIs(t, err, context.DeadlineExceeded, "held back for b")
	body, err := ask(context.Background(), "b", "kb")
	require.NoError(t, err)
	assert.Equal(t, "{\"result\":2}\n", body)
	body, err = ask(context.Background(), "a", "ka")
	require.NoError(t, err)
	assert.Equal(t, "{\"result\":1}\n", body)
	client.CloseIdleConnections()
	require.NoError(t, stop())
	require.NoError(t, s.Close())
}

func TestListenRefusesOtherInterfaces(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "example.com:80", "127.0.0.1", "192.0.2.1:0"} {
		_, err := Listen(context.Background(), address)
		require.ErrorContains(t, err, address)
	}
	listener, err := Listen(context.Background(), "localhost:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.ErrorContains(t, New(session(t)).Serve(context.Background(), listener), "serve: ")
}

func BenchmarkHit(b *testing.B) {
	records := make([]tape.Record, b.N+1)
	args := `{"q":"` + strings.Repeat("word ", 190) + `"}`
	for i := range records {
		records[i] = tape.Record{Seq: i + 1, Tool: "t", Args: []byte(args), Result: []byte(args)}
	}
	s, err := replay.New(&tape.Tape{Records: records})
	require.NoError(b, err)
	server := httptest.NewServer(New(s))
	defer server.Close()
	b.ResetTimer()
	for range b.N {
		resp, err := http.Post(server.URL+"/v1/call", "application/json", strings.NewReader(`{"tool":"t","args":`+args+`}`))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}
