package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestRetryOfAnSDKTakesNoRecord.
func TestRetryOfAnSDKTakesNoRecord(t *testing.T) {
	twice := []tape.Record{model(1, asked(said("user", "hello")), answered("first")), model(2, asked(said("user", "hello")), answered("second"))}
	h, s := modelServer(t, twice)
	ask(h, chatPath, hello[chatPath], "X-Stainless-Retry-Count", "0")
	w := ask(h, chatPath, hello[chatPath], "X-Stainless-Retry-Count", "1")
	assert.Contains(t, w.Body.String(), "first", "the first answer did not arrive")
	w = ask(h, chatPath, hello[chatPath], "X-Stainless-Retry-Count", "0")
	assert.Contains(t, w.Body.String(), "second", "a call of its own")
	require.NoError(t, s.Close())

	h, s = modelServer(t, twice)
	for range 3 {
		assert.Contains(t, ask(h, messagesPath, hello[messagesPath], "Idempotency-Key", "k").Body.String(), "first")
	}
	assert.Contains(t, ask(h, messagesPath, hello[messagesPath], "Idempotency-Key", "l").Body.String(), "second")
	require.NoError(t, s.Close())

	h, s = modelServer(t, twice)
	ask(h, chatPath, strings.Replace(hello[chatPath], "hello", "hallo", 1))
	ask(h, chatPath, strings.Replace(hello[chatPath], "hello", "hallo", 1), "X-Stainless-Retry-Count", "1")
	assert.Equal(t, 1, s.Stats().DriftEvents, "a verdict counts once")
}

func failing(seq int, code, message string) tape.Record {
	r := model(seq, asked(said("user", "hello")), "")
	r.Error = &tape.Error{Code: code, Message: message}
	return r
}

// TestRecordedFailures come with their status and body. An SDK tries some again,
// and gets what the tape has next.
func TestRecordedFailures(t *testing.T) {
	h, s := modelServer(t, []tape.Record{failing(1, "429", "slow down"), model(2, asked(said("user", "hello")), answered("fine"))})
	w := ask(h, chatPath, hello[chatPath])
	assert.Equal(t, 429, w.Code)
	assert.Equal(t, "slow down", at(t, w.Body.String(), "error", "message").Str())
	assert.Equal(t, "rate_limit_error", at(t, w.Body.String(), "error", "type").Str())
	assert.Empty(t, w.Header().Get("x-should-retry"), "the SDK may try again, as it did")
	assert.Equal(t, "10", w.Header().Get("retry-after-ms"))
	w = ask(h, chatPath, hello[chatPath], "X-Stainless-Retry-Count", "1")
	assert.Contains(t, w.Body.String(), "fine")
	require.NoError(t, s.Close())

	h, s = modelServer(t, []tape.Record{failing(1, "529", "overloaded")})
	w = ask(h, messagesPath, hello[messagesPath])
	assert.Equal(t, 529, w.Code)
	assert.Equal(t, "overloaded_error", at(t, w.Body.String(), "error", "type").Str())
	assert.Equal(t, "false", w.Header().Get("x-should-retry"), "the tape has nothing more")
	w = ask(h, messagesPath, hello[messagesPath], "X-Stainless-Retry-Count", "1")
	assert.Equal(t, 529, w.Code, "an SDK that tries again all the same meets the same failure")
	require.NoError(t, s.Close())
	assert.Equal(t, 1, s.Stats().Steps)

	for _, c := range []struct {
		code, message, kind string
		status              int
		body                string
	}{
		{"", `Error code: 401 - {'error': {'message': 'bad key', 'type': 'invalid_request_error', 'param': None, 'code': 'invalid_api_key'}}`, "openai.AuthenticationError", 401,
			`{"error":{"message":"bad key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		{"", `404 {"type":"error","error":{"type":"not_found_error","message":"model: x"}}`, "NotFoundError", 404,
			`{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`},
		{"", "too fast", "openai.RateLimitError", 429, `{"error":{"message":"too fast","type":"rate_limit_error","param":null,"code":null}}`},
		{"overloaded_error", "busy", "", 529, `{"error":{"message":"busy","type":"invalid_request_error","param":null,"code":"overloaded_error"}}`},
		{"", "it broke", "ValueError", 500, `{"error":{"message":"it broke","type":"server_error","param":null,"code":null}}`},
	} {
		r := failing(1, c.code, c.message)
		r.Error.Type = c.kind
		h, s := modelServer(t, []tape.Record{r})
		w := ask(h, chatPath, hello[chatPath])
		assert.Equal(t, c.status, w.Code, c.message)
		assert.JSONEq(t, c.body, w.Body.String())
		if c.kind == "ValueError" {
			assert.Contains(t, s.Report().Text(), "status of an error")
		}
	}
}

// brokenWriter fails after some bytes, as the connection of a killed client does.
type brokenWriter struct {
	*httptest.ResponseRecorder
	left int
}

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return b.ResponseRecorder.Write(p)
}

// TestBrokenConnection: the same request gets the answer that was not read.
func TestBrokenConnection(t *testing.T) {
	streaming := strings.Replace(hello[chatPath], "{", `{"stream":true,`, 1)
	h, s := modelServer(t, []tape.Record{
		model(1, asked(said("user", "hello")), answered(strings.Repeat("long ", 100))), model(2, asked(said("user", "hello")), answered("second")),
	})
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+chatPath, strings.NewReader(streaming))
	h.ServeHTTP(&brokenWriter{httptest.NewRecorder(), 900}, r)
	assert.Contains(t, ask(h, chatPath, streaming).Body.String(), "long")
	assert.Equal(t, 1, s.Stats().TapeHits)
	assert.Contains(t, ask(h, chatPath, streaming).Body.String(), "second")
	require.NoError(t, s.Close())
}

// TestCancelledClient gives up while the answer is held back: the session stays
// usable, and the next try gets the answer.
func TestCancelledClient(t *testing.T) {
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("late"))}, WithSpeed(0.01))
	url, stop := serveDemo(t, h)
	client := &http.Client{Transport: &http.Transport{}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+chatPath, strings.NewReader(hello[chatPath]))
	require.NoError(t, err)
	gone := make(chan error, 1)
	go func() {
		given, err := client.Do(r)
		if err == nil {
			_ = given.Body.Close()
		}
		gone <- err
	}()
	// What is so of the request, once the server has it.
	request := func(is func(*try) bool) func() bool {
		return func() bool {
			h.tries.mu.Lock()
			defer h.tries.mu.Unlock()
			first := h.tries.order.Front()
			return first != nil && is(first.Value.(*try))
		}
	}
	require.Eventually(t, request(func(*try) bool { return true }), 5*time.Second, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.Eventually(t, request(func(x *try) bool { return x.broken }), 5*time.Second, time.Millisecond)
	h.speed = 0
	resp, err := client.Post(url+chatPath, "application/json", strings.NewReader(hello[chatPath]))
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Contains(t, string(body), "late")
	client.CloseIdleConnections()
	require.NoError(t, stop())
	require.NoError(t, s.Close())
}

// TestStreamsArriveAsTheyAreMade: the first event is there before the last is made,
// nothing is announced that cannot be known, and a client that leaves at [DONE]
// leaves the session usable.
func TestStreamsArriveAsTheyAreMade(t *testing.T) {
	text := strings.Repeat("日本語 ", 4000)
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered(text)), model(2, asked(said("user", "hello")), answered("next"))})
	url, stop := serveDemo(t, h)
	client := &http.Client{Transport: &http.Transport{}}
	resp, err := client.Post(url+chatPath, "application/json", strings.NewReader(strings.Replace(hello[chatPath], "{", `{"stream":true,`, 1)))
	require.NoError(t, err)
	assert.Equal(t, int64(-1), resp.ContentLength)
	assert.Equal(t, []string{"chunked"}, resp.TransferEncoding)
	first := make([]byte, 64)
	_, err = io.ReadFull(resp.Body, first)
	require.NoError(t, err)
	rest, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	events := eventsOf(t, string(first)+string(rest))
	assert.Greater(t, len(events), 100)
	for _, e := range events {
		assert.NotContains(t, e.data.JSON(), "�", "cut on rune borders")
	}
	assert.Equal(t, text, assembledChat(events).At("choices").Items()[0].At("message").At("content").Str())
	resp, err = client.Post(url+chatPath, "application/json", strings.NewReader(hello[chatPath]))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 200, resp.StatusCode)
	client.CloseIdleConnections()
	require.NoError(t, stop())
	require.NoError(t, s.Close())
}

// TestSpeed: answers take as long as they took, by the factor.
func TestSpeed(t *testing.T) {
	for speed, least := range map[float64]time.Duration{0: 0, 1: 40 * time.Millisecond, 4: 10 * time.Millisecond} {
		h, _ := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("x"))}, WithSpeed(speed))
		start := time.Now()
		require.Equal(t, 200, ask(h, chatPath, hello[chatPath]).Code)
		assert.GreaterOrEqual(t, time.Since(start), least)
	}
}

// TestSpeedOfStreams: the first event comes when it did, and the end when it did.
func TestSpeedOfStreams(t *testing.T) {
	r := model(1, asked(said("user", "hello")), answered("some words"))
	r.MS, r.Extra = 200, []tape.Member{{Name: tape.FirstChunkMember, Value: []byte("50")}}
	h, s := modelServer(t, []tape.Record{r}, WithSpeed(1))
	url, stop := serveDemo(t, h)
	client := &http.Client{Transport: &http.Transport{}}
	start := time.Now()
	resp, err := client.Post(url+chatPath, "application/json", strings.NewReader(strings.Replace(hello[chatPath], "{", `{"stream":true,`, 1)))
	require.NoError(t, err)
	_, err = resp.Body.Read(make([]byte, 1))
	require.NoError(t, err)
	first := time.Since(start)
	_, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.GreaterOrEqual(t, first, 50*time.Millisecond)
	assert.GreaterOrEqual(t, time.Since(start), 200*time.Millisecond)
	assert.GreaterOrEqual(t, time.Since(start)-first, 50*time.Millisecond)
	client.CloseIdleConnections()
	require.NoError(t, stop())
	require.NoError(t, s.Close())
}

// TestBrokenAnswers: overrides break the text of an answer in the words of the API.
func TestBrokenAnswers(t *testing.T) {
	tapeOf := &tape.Tape{Records: []tape.Record{model(1, asked(said("user", "hello")), answered(strings.Repeat("word ", 50)))}}
	s, err := replay.New(tapeOf, append(Options(), replay.OverrideStep(1, replay.AnswerRecorded().Malformed()))...)
	require.NoError(t, err)
	w := ask(New(s), chatPath, hello[chatPath])
	assert.Equal(t, 200, w.Code)
	assert.Contains(t, w.Body.String(), "chatcmpl-")
	assert.NotContains(t, w.Body.String(), "finish_reason", "half of it")

	s, err = replay.New(tapeOf, append(Options(), replay.OverrideStep(1, replay.AnswerRecorded().Cut()))...)
	require.NoError(t, err)
	h := New(s)
	url, stop := serveDemo(t, h)
	client := &http.Client{Transport: &http.Transport{}}
	resp, err := client.Post(url+chatPath, "application/json", strings.NewReader(hello[chatPath]))
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, resp.Body.Close())
	client.CloseIdleConnections()
	require.NoError(t, stop())

	s, err = replay.New(tapeOf, append(Options(), replay.OverrideStep(1, replay.AnswerError("503", "down")))...)
	require.NoError(t, err)
	assert.Equal(t, 503, ask(New(s), messagesPath, hello[messagesPath]).Code)
}

// TestWhatIsNoRequest gets a clear answer in the words of the API, and the session
// stays usable.
func TestWhatIsNoRequest(t *testing.T) {
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("hi"))}, WithMaxBody(1<<10))
	for _, path := range []string{chatPath, responsesPath, messagesPath, geminiPath} {
		for body, status := range map[string]int{
			"": 400, "{": 400, "[]": 400, "null": 400, "{}": 400, `{"messages":7,"input":7,"contents":7}`: 400,
			strings.Repeat("[", 1000): 400, `{"x":"` + strings.Repeat("y", 2<<10) + `"}`: 413, "\xff\xfe": 400,
		} {
			w := ask(h, path, body)
			require.Equal(t, status, w.Code, "%s %.40q", path, body)
			assert.Equal(t, "false", w.Header().Get("x-should-retry"))
			assert.NotEmpty(t, at(t, w.Body.String(), "error", "message").Str())
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
		assert.Equal(t, 405, w.Code)
		assert.NotEmpty(t, at(t, w.Body.String(), "error", "message").Str())
	}
	for _, path := range []string{"/v1/embeddings", "/openai/v1/", "/v1beta/models/x:predict", "/"} {
		assert.Equal(t, 404, ask(h, path, hello[chatPath]).Code, path)
	}
	// Strange, but a request.
	for _, body := range []string{`{"messages":[]}`, `{"messages":[7,null,{"role":"x"},{"content":[{}]}]}`} {
		assert.Equal(t, 422, ask(h, chatPath, body).Code, body)
	}
	assert.Equal(t, 200, ask(h, chatPath, hello[chatPath]).Code)
	assert.Equal(t, 1, s.Stats().TapeHits)
	assert.Equal(t, 3, s.Stats().Steps)
	_ = s.Close()
	w := ask(h, chatPath, strings.Replace(hello[chatPath], "hello", "after", 1))
	assert.Equal(t, 410, w.Code)
	assert.Contains(t, w.Body.String(), "the replay is over")
}

// TestOtherDoors: lists of models, counts of tokens, paths of other hosts, and calls
// that come by the protocol of the server.
func TestOtherDoors(t *testing.T) {
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("hi"))})
	get := func(path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	assert.Equal(t, "gpt-x", at(t, get("/v1/models").Body.String(), "data", 0, "id").Str())
	assert.Equal(t, "model", at(t, get("/v1/models", "anthropic-version", "2023-06-01").Body.String(), "data", 0, "type").Str())
	assert.Equal(t, "models/gpt-x", at(t, get("/v1beta/models").Body.String(), "models", 0, "name").Str())
	assert.Equal(t, 200, get("/v1/models/gpt-x").Code)
	assert.Equal(t, 404, get("/v1/models/other").Code)

	assert.Equal(t, "7", at(t, ask(h, "/v1/messages/count_tokens", hello[messagesPath]).Body.String(), "input_tokens").Text(), "as recorded")
	assert.NotContains(t, s.Report().Text(), "count of tokens")
	assert.NotEmpty(t, at(t, ask(h, "/v1/messages/count_tokens", strings.Replace(hello[messagesPath], "hello", "hallo", 1)).Body.String(), "input_tokens").Text())
	assert.Contains(t, s.Report().Text(), "count of tokens")
	assert.Equal(t, "7", at(t, ask(h, "/v1beta/models/m:countTokens", hello[geminiPath]).Body.String(), "totalTokens").Text())
	assert.Zero(t, s.Stats().Steps, "none of them is a call")

	assert.Equal(t, 200, ask(h, "/openai/deployments/gpt-x/chat/completions?api-version=2024-02-01", hello[chatPath]).Code)

	// Records that are taken by another door are taken.
	h, s = modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("first")), model(2, asked(said("user", "hello")), answered("second"))})
	w := post(h, `{"kind":"model","tool":"chat","args":`+asked(said("user", "hello"))+`}`)
	require.Equal(t, 200, w.Code, w.Body)
	assert.Contains(t, ask(h, chatPath, hello[chatPath]).Body.String(), "second")
	require.NoError(t, s.Close())

	only, err := replay.New(&tape.Tape{Records: []tape.Record{model(1, asked(said("user", "hello")), answered("x"))}}, append(Options(), replay.WithKinds(tape.KindTool))...)
	require.NoError(t, err)
	assert.Equal(t, 404, ask(New(only), chatPath, hello[chatPath]).Code, "model calls are as if not on the tape")
}
