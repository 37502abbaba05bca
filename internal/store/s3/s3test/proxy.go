package s3test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is what the proxy does with one request.
type Fault func(p *Proxy, w http.ResponseWriter, r *http.Request)

// Proxy stands before a server. Requests take the faults in the order in which
// they were queued, one each, and go through when none is left.
type Proxy struct {
	URL string

	target    string
	transport http.RoundTripper
	mu        sync.Mutex
	faults    []queued
	seen      []string
	later     sync.WaitGroup
}

type queued struct {
	method string
	fault  Fault
}

// NewProxy stands before the server until the test ends.
func NewProxy(t testing.TB, s *Server) *Proxy {
	p := &Proxy{target: s.URL(), transport: &http.Transport{DisableKeepAlives: true}}
	srv := httptest.NewServer(p)
	p.URL = srv.URL
	t.Cleanup(func() {
		p.later.Wait()
		srv.CloseClientConnections()
		srv.Close()
	})
	return p
}

// Break queues faults for requests of that method, "" for any.
func (p *Proxy) Break(method string, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range faults {
		p.faults = append(p.faults, queued{method, f})
	}
}

// Requests lists what was asked, as "METHOD path", and forgets it.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.seen
	p.seen = nil
	return out
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	what := r.Method + " " + r.URL.Path
	if r.URL.Query().Has("list-type") {
		what = "LIST " + r.URL.Query().Get("prefix")
	}
	p.seen = append(p.seen, what)
	var fault Fault
	for i, q := range p.faults {
		if q.method == "" || q.method == r.Method {
			fault = q.fault
			p.faults = append(p.faults[:i:i], p.faults[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	if fault != nil {
		fault(p, w, r)
		return
	}
	p.pass(w, r)
}

// forward sends the request on. The host that was signed goes along.
func (p *Proxy) forward(r *http.Request, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, p.target+r.URL.RequestURI(), body)
	if err != nil {
		return nil, err
	}
	req.Header = r.Header.Clone()
	req.Host = r.Host
	req.ContentLength = r.ContentLength
	return p.transport.RoundTrip(req)
}

func (p *Proxy) pass(w http.ResponseWriter, r *http.Request) {
	resp, err := p.forward(r, r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	head(w, resp)
	_, _ = io.Copy(w, resp.Body)
}

func head(w http.ResponseWriter, resp *http.Response) {
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
}

// Pass lets the request through: it holds a place before the faults behind it.
func Pass(p *Proxy, w http.ResponseWriter, r *http.Request) { p.pass(w, r) }

// Status answers with a status and a code of S3 and forwards nothing.
func Status(status int, code string) Fault {
	return func(_ *Proxy, w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>injected</Message></Error>", code)
	}
}

// SlowDown answers 503, and the write takes place all the same, a moment later.
func SlowDown(after time.Duration) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		late := r.Clone(context.WithoutCancel(r.Context()))
		p.later.Go(func() {
			time.Sleep(after)
			if resp, err := p.forward(late, strings.NewReader(string(body))); err == nil {
				_ = resp.Body.Close()
			}
		})
		Status(http.StatusServiceUnavailable, "SlowDown")(p, w, r)
	}
}

// LoseAnswer lets the request through and breaks the connection in place of the
// answer.
func LoseAnswer(p *Proxy, w http.ResponseWriter, r *http.Request) {
	if resp, err := p.forward(r, r.Body); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	reset(w)
}

// Reset breaks the connection before anything is forwarded.
func Reset(_ *Proxy, w http.ResponseWriter, _ *http.Request) { reset(w) }

func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// Truncate cuts the body of the answer after n bytes.
func Truncate(n int64) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request) {
		resp, err := p.forward(r, r.Body)
		if err != nil {
			reset(w)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		head(w, resp)
		_, _ = io.CopyN(w, resp.Body, n)
		_ = http.NewResponseController(w).Flush()
		reset(w)
	}
}

// Hang answers nothing for a while and forwards nothing.
func Hang(d time.Duration) Fault {
	return func(_ *Proxy, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
}

// Stall sends n bytes of the answer's body and then nothing for a while.
func Stall(n int64, d time.Duration) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request) {
		resp, err := p.forward(r, r.Body)
		if err != nil {
			reset(w)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		head(w, resp)
		_, _ = io.CopyN(w, resp.Body, n)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
}
