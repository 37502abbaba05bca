package replayhttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/replay"
)

const gzipEncoding = "gzip"

// body is a body on a tape: a text, any other JSON value, or what is no text.
type body struct {
	Body   json.RawMessage `json:"body,omitempty"`
	Base64 []byte          `json:"body_base64,omitempty"`
}

func bodyOf(data []byte, contentType string) body {
	if media, _, _ := mime.ParseMediaType(contentType); isJSON(media) && json.Valid(data) {
		return body{Body: data}
	}
	return textOf(data)
}

// textOf is a body as a text, which keeps its bytes whatever it is.
func textOf(data []byte) body {
	if !utf8.Valid(data) {
		return body{Base64: data}
	}
	// A text can always be marshalled.
	text, _ := marshal(string(data))
	return body{Body: text}
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

func (b *body) empty() bool { return len(b.Body)+len(b.Base64) == 0 }

// bytes is what a body on a tape stands for.
func (b *body) bytes() []byte {
	var text string
	switch {
	case len(b.Body) == 0:
		return b.Base64
	case json.Unmarshal(b.Body, &text) == nil:
		return []byte(text)
	}
	return b.Body
}

// result is a response on a tape.
type result struct {
	Status  int         `json:"status"`
	Headers http.Header `json:"headers,omitempty"`
	body
	// Truncated is set when the caller closed the body before its end.
	Truncated bool `json:"truncated,omitempty"`
	// Length is what a response to HEAD said of the body that it did not have.
	Length int64 `json:"length,omitempty"`
}

// dropped are headers about the transfer, which is another one in a replay.
var dropped = []string{"Connection", "Content-Length", "Date", "Keep-Alive", "Trailer", "Transfer-Encoding"}

func resultOf(resp *http.Response, data []byte, whole bool) *result {
	out := &result{Status: resp.StatusCode, Headers: resp.Header.Clone(), Truncated: !whole}
	if resp.Request.Method == http.MethodHead {
		out.Length = max(0, resp.ContentLength)
	}
	for _, name := range dropped {
		out.Headers.Del(name)
	}
	if resp.Header.Get("Content-Encoding") == gzipEncoding && len(data) > 0 {
		if plain, err := unzip(data); err == nil || !whole && len(plain) > 0 {
			data = plain
			out.Headers.Del("Content-Encoding")
		}
	} else if resp.Header.Get("Content-Encoding") == gzipEncoding {
		out.Headers.Del("Content-Encoding")
	}
	if len(data) > 0 {
		// A text keeps the bytes of JSON too, which signatures may be over.
		out.body = textOf(data)
	}
	return out
}

// served makes a response of an answer.
func served(r *http.Request, answer replay.Answer) (*http.Response, error) {
	var recorded result
	if err := json.Unmarshal(answer.Result, &recorded); err != nil {
		// An override may have spoilt it: a connection that breaks off looks so.
		return nil, io.ErrUnexpectedEOF
	}
	data := recorded.bytes()
	resp := &http.Response{
		StatusCode: recorded.Status, Status: strconv.Itoa(recorded.Status) + " " + http.StatusText(recorded.Status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: recorded.Headers, Request: r,
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if r.Method == http.MethodHead {
		resp.Body, resp.ContentLength = http.NoBody, recorded.Length
		return resp, nil
	}
	if len(data) > 0 && resp.Header.Get("Content-Encoding") == "" && wantsGzip(r) {
		data = zip(data)
		resp.Header.Set("Content-Encoding", gzipEncoding)
	}
	resp.ContentLength = int64(len(data))
	switch {
	case recorded.Truncated:
		resp.ContentLength = -1
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(data), broken{}))
	case len(data) == 0:
		resp.Body = http.NoBody
	default:
		resp.Body = io.NopCloser(bytes.NewReader(data))
	}
	if resp.ContentLength >= 0 {
		resp.Header.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	}
	return resp, nil
}

// broken is where a body was closed early.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// wantsGzip reports whether the request itself asks for gzip: where it is the
// transport that would, it would also unpack.
func wantsGzip(r *http.Request) bool {
	return slices.ContainsFunc(strings.Split(r.Header.Get("Accept-Encoding"), ","), func(part string) bool {
		name, q, _ := strings.Cut(part, ";")
		weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(q), "q="), 64)
		return strings.TrimSpace(name) == gzipEncoding && (err != nil || weight > 0)
	})
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	// Writing to memory does not fail.
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// maxUnpacked bounds what a body may unpack to.
const maxUnpacked = 256 << 20

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if len(plain) > maxUnpacked {
		return nil, io.ErrShortBuffer
	}
	return plain, err
}

// tee is the body of a live response that keeps what was read of it.
type tee struct {
	body io.ReadCloser
	// length is how long the body is, -1 where nobody says.
	length int64
	done   chan struct{}
	stop   func() bool
	// recorded is closed when the session has the call: whoever reads to the end may
	// close the session next.
	recorded <-chan struct{}

	mu    sync.Mutex
	data  bytes.Buffer
	whole bool
	ended bool
}

func newTee(ctx context.Context, body io.ReadCloser, length int64, recorded <-chan struct{}) *tee {
	t := &tee{body: body, length: length, recorded: recorded, done: make(chan struct{})}
	// A caller that gives up may never close.
	t.stop = context.AfterFunc(ctx, func() { t.end(false) })
	return t
}

// Read reads on.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.read(p)
	if err != nil {
		<-t.recorded
	}
	return n, err
}

func (t *tee) read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	t.mu.Lock()
	if !t.ended {
		t.data.Write(p[:n])
	}
	t.mu.Unlock()
	if err != nil {
		t.end(err == io.EOF)
	}
	return n, err
}

// Close ends the recording of the body.
func (t *tee) Close() error {
	t.end(false)
	<-t.recorded
	return t.body.Close()
}

func (t *tee) end(whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		// A reader that knows when it has enough does not ask for the end.
		t.ended, t.whole = true, whole || int64(t.data.Len()) == t.length
		close(t.done)
	}
}

// drain reads a body that has nothing in it.
func (t *tee) drain() { _, _ = t.read(make([]byte, 1)) }

func (t *tee) atEnd() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

func (t *tee) wait() (data []byte, whole bool) {
	<-t.done
	t.stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.data.Bytes()), t.whole
}
