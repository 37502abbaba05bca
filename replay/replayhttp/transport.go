// Package replayhttp answers the HTTP requests of a program from a tape, and
// records them.
//
//	client := &http.Client{Transport: replayhttp.New(session)}
//
// A request is a call of the tool "http" whose arguments are its method, its URL, the
// headers that are named to count, and its body: the value of JSON, the text of
// anything else, base64 of what is no text (body_base64). It is the form in which tape
// run answers requests through its proxy, so a tape serves both.
//
//	{"method":"POST","url":"https://api.example.com/refunds","body":{"cents":5}}
//
// Its result has the status, the headers and the body. Bodies are kept as they were
// before they were compressed, and given as the live request wants them: compressed
// by gzip where its Accept-Encoding asks for that in so many words, else plain. A body
// in another encoding is kept as it came.
//
// It promises that a response streams while it is recorded: the caller has the first
// byte before the last one came. The call is recorded when the body has been read to
// its end or closed; a body that was closed early is served as far as it was read,
// and ends then with io.ErrUnexpectedEOF. A verdict of the session and the recorded
// failure of a request are errors of RoundTrip, which http.Client wraps: errors.Is
// and errors.As find them.
//
// It holds the bodies of a request and its response in memory.
package replayhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/tapedeck/tapedeck/replay"
)

// Tool is the name of the tool that requests are calls of.
const Tool = "http"

// Transport is a round tripper over a session. It is safe for concurrent use.
type Transport struct {
	session *replay.Session
	base    http.RoundTripper
	headers []string
	tool    func(*http.Request) string
}

// Option changes a transport.
type Option func(*Transport)

// Base is what really makes requests, http.DefaultTransport if it is not given.
func Base(base http.RoundTripper) Option { return func(t *Transport) { t.base = base } }

// Headers names the request headers that count: two requests that differ in one are
// two calls. Without it none count.
func Headers(names ...string) Option {
	return func(t *Transport) {
		for _, name := range names {
			t.headers = append(t.headers, textproto.CanonicalMIMEHeaderKey(name))
		}
	}
}

// Named names the tool of each request in place of [Tool], such as by its host, so
// that rules and overrides can tell services apart.
func Named(name func(*http.Request) string) Option { return func(t *Transport) { t.tool = name } }

// New returns the transport of a session; nil is the session of the context of each
// request (see replay.WithSession), and a request without one is simply made.
func New(s *replay.Session, options ...Option) *Transport {
	t := &Transport{session: s, base: http.DefaultTransport, tool: func(*http.Request) string { return Tool }}
	for _, option := range options {
		option(t)
	}
	return t
}

// arguments are those of a call.
type arguments struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	body
}

// RoundTrip answers a request. Its error is that of the session or of the live
// request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	session := t.session
	if session == nil {
		if session = replay.SessionOf(r.Context()); session == nil {
			return t.base.RoundTrip(r)
		}
	}
	args, sent, err := t.arguments(r)
	if err != nil {
		return nil, err
	}
	text, err := marshal(args)
	if err != nil {
		return nil, fmt.Errorf("replayhttp: %w", err)
	}
	effect := !safe(r.Method)
	request := replay.Request{Tool: t.tool(r), Args: text, SideEffect: &effect}
	live, recorded := make(chan *http.Response, 1), make(chan struct{})
	request.Run = func(ctx context.Context, runs json.RawMessage) (any, error) {
		return t.live(ctx, r, sent, text, runs, live, recorded)
	}
	type end struct {
		answer replay.Answer
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		defer close(recorded)
		answer, err := session.Ask(r.Context(), request)
		ended <- end{answer, err}
	}()
	select {
	case resp := <-live:
		if read, ok := resp.Body.(*tee); ok && read.atEnd() {
			<-recorded
		}
		return resp, nil
	case e := <-ended:
		switch {
		case e.err != nil:
			return nil, e.err
		case e.answer.Live && e.answer.LiveErr == nil:
			// It ended before this looked: an empty body does.
			return <-live, nil
		case e.answer.Live:
			return nil, e.answer.LiveErr
		case e.answer.Error != nil:
			failed := e.answer.Error
			return nil, &replay.RecordedError{
				Seq: e.answer.Seq, Tool: request.Tool, Code: failed.Code, Message: failed.Message, Type: failed.Type,
				Result: e.answer.Result, Overridden: e.answer.Overridden,
			}
		}
		return served(r, e.answer)
	}
}

// safe reports the methods that change nothing.
func safe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

func (t *Transport) arguments(r *http.Request) (a arguments, sent []byte, err error) {
	a = arguments{Method: r.Method, URL: r.URL.String()}
	if a.Method == "" {
		a.Method = http.MethodGet
	}
	for _, name := range t.headers {
		if values := r.Header.Values(name); len(values) > 0 {
			if a.Headers == nil {
				a.Headers = map[string]string{}
			}
			a.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
	}
	if r.Body == nil || r.Body == http.NoBody {
		return a, nil, nil
	}
	sent, err = io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return a, nil, fmt.Errorf("replayhttp: body of the request: %w", err)
	}
	plain := sent
	if encoding := r.Header.Get("Content-Encoding"); encoding == gzipEncoding {
		if unpacked, err := unzip(sent); err == nil {
			plain = unpacked
		}
	}
	if len(plain) > 0 {
		a.body = bodyOf(plain, r.Header.Get("Content-Type"))
	}
	return a, sent, nil
}

// live makes a request and gives its response away at once. It returns the result
// when the body has been read; recorded is closed when the session has it.
func (t *Transport) live(ctx context.Context, r *http.Request, sent []byte, args, runs json.RawMessage, out chan<- *http.Response, recorded <-chan struct{}) (any, error) {
	made := r.Clone(ctx)
	if !bytes.Equal(args, runs) {
		var err error
		if sent, err = substituted(made, runs); err != nil {
			return nil, err
		}
	}
	if sent != nil {
		made.Body, made.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
		made.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	}
	resp, err := t.base.RoundTrip(made) //nolint:bodyclose // The caller closes it, as that of any response.
	if err != nil {
		return nil, err
	}
	read := newTee(ctx, resp.Body, resp.ContentLength, recorded)
	resp.Body, resp.Request = read, r
	if resp.ContentLength == 0 || r.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		// Callers need not read a body that is none.
		read.drain()
	}
	out <- resp
	data, whole := read.wait()
	return resultOf(resp, data, whole), nil
}

// substituted changes a request to the arguments that the session has put in place
// of its own.
func substituted(r *http.Request, text json.RawMessage) (sent []byte, err error) {
	var a arguments
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("replayhttp: %w", err)
	}
	if r.URL, err = url.Parse(a.URL); err != nil {
		return nil, fmt.Errorf("replayhttp: %w", err)
	}
	r.Host = r.URL.Host
	for name, value := range a.Headers {
		r.Header.Set(name, value)
	}
	if a.empty() {
		return nil, nil
	}
	r.Header.Del("Content-Encoding")
	return a.bytes(), nil
}

func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
