package replayhttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tapedeck/tapedeck/internal/httptape"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server that counts its requests and answers by path.
func world(t *testing.T) (url string, asked *int) {
	t.Helper()
	asked = new(int)
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Method", r.Method)
		_, _ = fmt.Fprintf(w, `{"z": 1, "got": %q}`, body)
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			_, _ = io.WriteString(w, "plain")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zip([]byte("plain")))
	})
	mux.HandleFunc("/bytes", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0xff, 0, 0xfe}) })
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/head", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "123") })
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusNotFound) })
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		if r.URL.Query().Has("endless") {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, "data: 2\n\n")
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// recorded runs a program twice: live, and from the tape of that.
func recorded(t *testing.T, program func(client *http.Client) []string, options ...Option) (*tape.Tape, []string) {
	t.Helper()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	s, err := replay.New(nil, replay.WithMode(replay.ModeRecord))
	require.NoError(t, err)
	first := program(&http.Client{Transport: New(s, append(options, Base(base))...)})
	require.NoError(t, s.Close())

	again, err := replay.New(s.Tape())
	require.NoError(t, err)
	none := roundTripFunc(func(*http.Request) (*http.Response, error) { panic("a replay asks nobody") })
	second := program(&http.Client{Transport: New(again, append(options, Base(none))...)})
	require.NoError(t, again.Close())
	assert.Equal(t, first, second, "the tape gives what the world gave")
	return s.Tape(), second
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// do makes a request and tells what came back.
func do(t *testing.T, client *http.Client, method, url, body string, headers ...string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(r)
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	if resp.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := unzip(data)
		require.NoError(t, err)
		data = append([]byte("packed "), unpacked...)
	}
	return fmt.Sprintf("%d %s %s %d %q", resp.StatusCode, resp.Header.Get("X-Method"), resp.Header.Get("Content-Type"), resp.StatusCode, data)
}

func TestRequestsReplay(t *testing.T) {
	url, asked := world(t)
	made, got := recorded(t, func(c *http.Client) []string {
		return []string{
			do(t, c, "POST", url+"/echo", `{"b": 1, "a": [1.0, "x"]}`, "Content-Type", "application/json"),
			do(t, c, "POST", url+"/echo", "plain text"),
			do(t, c, "GET", url+"/echo?q=1", ""),
			do(t, c, "GET", url+"/bytes", ""),
			do(t, c, "GET", url+"/empty", ""),
			do(t, c, "HEAD", url+"/head", ""),
			do(t, c, "GET", url+"/missing", ""),
			do(t, c, "GET", url+"/gzip", ""),
			do(t, c, "PUT", url+"/echo", "\xff\x00"),
		}
	})
	assert.Equal(t, 9, *asked)
	assert.Contains(t, got[0], `"{\"z\": 1, \"got\": `, "a body keeps its order and spaces")
	assert.Contains(t, got[7], `"plain"`)
	r := made.Records[0]
	assert.JSONEq(t, `{"method":"POST","url":"`+url+`/echo","body":{"b":1,"a":[1.0,"x"]}}`, string(r.Args))
	assert.Equal(t, "http", r.Tool)
	assert.True(t, *r.SideEffect)
	assert.False(t, *made.Records[2].SideEffect)
	assert.NotContains(t, string(r.Result), "Date")
	assert.Equal(t, `"/wA="`, member(t, made.Records[8].Args, "body_base64"))
}

func member(t *testing.T, text json.RawMessage, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &members))
	return string(members[name])
}

// What was compressed is kept plain, and given as the live request wants it.
func TestCompressedBodiesAreKeptPlain(t *testing.T) {
	url, _ := world(t)
	made, got := recorded(t, func(c *http.Client) []string {
		return []string{do(t, c, "GET", url+"/gzip", "", "Accept-Encoding", "gzip")}
	})
	assert.Contains(t, got[0], "packed plain")
	assert.JSONEq(t, `"plain"`, member(t, made.Records[0].Result, "body"))

	for accept, want := range map[string]string{"": `"plain"`, "gzip": "packed plain", "identity": `"plain"`, "br, gzip;q=0.5": "packed plain", "gzip;q=0": `"plain"`} {
		s, err := replay.New(made)
		require.NoError(t, err)
		c := &http.Client{Transport: New(s)}
		assert.Contains(t, do(t, c, "GET", url+"/gzip", "", "Accept-Encoding", accept), want, accept)
	}

	// A request that is compressed is the same call as one that is not.
	s, err := replay.New(&tape.Tape{Records: []tape.Record{{
		Tool: Tool, Args: []byte(`{"method":"POST","url":"http://x/","body":"hello"}`), Result: []byte(`{"status":200}`),
	}}})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/", bytes.NewReader(zip([]byte("hello"))))
	require.NoError(t, err)
	r.Header.Set("Content-Encoding", "gzip")
	resp, err := New(s).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func TestHeadersThatAreNamedCount(t *testing.T) {
	url, _ := world(t)
	made, _ := recorded(t, func(c *http.Client) []string {
		return []string{do(t, c, "GET", url+"/echo", "", "X-Account", "a", "X-Request-Id", "7")}
	}, Headers("x-account"), Named(func(*http.Request) string { return "bank" }))
	assert.JSONEq(t, `{"x-account":"a"}`, member(t, made.Records[0].Args, "headers"))
	s, err := replay.New(made)
	require.NoError(t, err)
	c := &http.Client{Transport: New(s, Headers("X-Account"), Named(func(*http.Request) string { return "bank" }))}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/echo", nil)
	require.NoError(t, err)
	r.Header.Set("X-Account", "b")
	_, err = c.Do(r) //nolint:bodyclose // There is none.
	require.ErrorIs(t, err, replay.ErrDrift)
	var drift *replay.DriftError
	require.True(t, errors.As(err, &drift))
	assert.Equal(t, "headers.x-account", drift.Differences[0].Path)
}

// The first bytes are there before the last ones are, and what was read of a
// stream that somebody broke off is what is served.
func TestStreams(t *testing.T) {
	url, _ := world(t)
	made, _ := recorded(t, func(c *http.Client) []string {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/stream?endless", nil)
		require.NoError(t, err)
		resp, err := c.Do(r)
		require.NoError(t, err)
		first := make([]byte, len("data: 1\n\n"))
		_, err = io.ReadFull(resp.Body, first)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return []string{string(first), do(t, c, "GET", url+"/stream", "")}
	})
	assert.Equal(t, "true", member(t, made.Records[0].Result, "truncated"))
	s, err := replay.New(made)
	require.NoError(t, err)
	resp, err := (&http.Client{Transport: New(s)}).Get(url + "/stream?endless")
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, "data: 1\n\n", string(data))
	require.NoError(t, resp.Body.Close())
}

func TestFailuresReplay(t *testing.T) {
	down := roundTripFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
	s, err := replay.New(nil, replay.WithMode(replay.ModeRecord))
	require.NoError(t, err)
	_, err = (&http.Client{Transport: New(s, Base(down))}).Get("http://example.com/") //nolint:bodyclose // There is none.
	require.ErrorContains(t, err, "connection refused")
	require.NoError(t, s.Close())
	again, err := replay.New(s.Tape(), replay.OverrideTool(Tool, replay.AnswerRecorded().After(1)))
	require.NoError(t, err)
	_, err = (&http.Client{Transport: New(again)}).Get("http://example.com/") //nolint:bodyclose // There is none.
	require.ErrorIs(t, err, replay.ErrRecorded)
	require.ErrorContains(t, err, "connection refused")

	broken, err := replay.New(&tape.Tape{Records: []tape.Record{{Tool: Tool, Args: []byte(`{"method":"GET","url":"http://x/"}`), Result: []byte(`{"status":200}`)}}},
		replay.OverrideTool(Tool, replay.AnswerRecorded().Cut()))
	require.NoError(t, err)
	_, err = (&http.Client{Transport: New(broken)}).Get("http://x/") //nolint:bodyclose // There is none.
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestARequestRunsWithTheSubstitutes(t *testing.T) {
	var got *http.Request
	var sent string
	base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ := io.ReadAll(r.Body)
		sent = string(body)
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("ok")), ContentLength: 2}, nil
	})
	s, err := replay.New(&tape.Tape{}, replay.WithFork(1, replay.Live{Isolated: true, Tools: []string{Tool}, SideEffects: true,
		Substitution: replay.Substitution{Values: map[string]string{"acme": "sandbox"}}}))
	require.NoError(t, err)
	resp, err := (&http.Client{Transport: New(s, Base(base))}).Post("http://bank/acme/pay", "application/json", strings.NewReader(`{"from":"acme"}`))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, "http://bank/sandbox/pay", got.URL.String())
	assert.JSONEq(t, `{"from":"sandbox"}`, sent)
}

func TestWithoutASessionRequestsAreMade(t *testing.T) {
	url, asked := world(t)
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	c := &http.Client{Transport: New(nil, Base(base))}
	assert.Contains(t, do(t, c, "GET", url+"/bytes", ""), "200")
	assert.Equal(t, 1, *asked)
	s, err := replay.New(&tape.Tape{})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(replay.WithSession(t.Context(), s), http.MethodGet, url+"/bytes", nil)
	require.NoError(t, err)
	_, err = c.Do(r) //nolint:bodyclose // There is none.
	require.ErrorIs(t, err, replay.ErrMiss)
}

func TestUnzipIsBounded(t *testing.T) {
	_, err := unzip([]byte("this is not gzip"))
	require.ErrorIs(t, err, gzip.ErrHeader)
	got, err := unzip(zip([]byte("abc"))[:15])
	require.Error(t, err)
	assert.LessOrEqual(t, len(got), 3)
}

// A tape of requests is served by the proxy of tape run too.
func TestTheFormIsThatOfTheProxy(t *testing.T) {
	url, _ := world(t)
	made, _ := recorded(t, func(c *http.Client) []string {
		return []string{
			do(t, c, "POST", url+"/echo?b=1&a=2", `{"b": 1}`, "Content-Type", "application/json"),
			do(t, c, "GET", url+"/bytes", ""),
		}
	})
	for i := range made.Records {
		_, ok := httptape.ReadCall(made.Records[i].Args)
		assert.True(t, ok)
		_, err := httptape.ReadResponse(made.Records[i].Result)
		require.NoError(t, err)
	}
	deck := httptape.NewDeck(made.Records, func(args json.RawMessage) (json.RawMessage, error) { return args, nil })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/echo?a=2&b=1", nil)
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	match, err := deck.Find(httptape.Args(r, []byte(`{"b":1}`)))
	require.NoError(t, err)
	assert.True(t, match.Found)
	assert.JSONEq(t, string(made.Records[0].Args), string(match.Args))
}
