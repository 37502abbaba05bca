package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// attempts tells which requests repeat others, by what they ask for.
type attempts struct {
	mu   sync.Mutex
	sent map[string]bool
}

type attemptsKey struct{}

func withAttempts(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptsKey{}, &attempts{})
}

func (a *attempts) repeats(req *http.Request) bool {
	what := req.Method + " " + req.URL.String()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent[what] {
		return true
	}
	if a.sent == nil {
		a.sent = make(map[string]bool, 1)
	}
	a.sent[what] = true
	return false
}

// errStalled is the cause of a request that took longer than the timeout.
var errStalled = errors.New("the bucket did not answer in time")

// observed bounds the time of each request and tells of it.
type observed struct {
	next    http.RoundTripper
	timeout time.Duration
	observe func(Request)
}

func (o *observed) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(o.timeout, func() { cancel(errStalled) })
	resp, err := o.next.RoundTrip(req.WithContext(ctx))
	if o.observe != nil {
		r := Request{Method: req.Method}
		if resp != nil {
			r.Status = resp.StatusCode
		}
		if a, ok := req.Context().Value(attemptsKey{}).(*attempts); ok {
			r.Retry = a.repeats(req)
		}
		o.observe(r)
	}
	if err != nil {
		timer.Stop()
		if errors.Is(context.Cause(ctx), errStalled) {
			err = fmt.Errorf("%w: %w", errStalled, err)
		}
		cancel(nil)
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, timer: timer, timeout: o.timeout}
	return resp, nil
}

// body must go on within the timeout each time it is read.
type body struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	timeout time.Duration
}

func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(b.timeout)
	n, err := b.ReadCloser.Read(p)
	// A reader that is slow itself must not be held against the bucket.
	b.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(b.ctx), errStalled) {
		err = fmt.Errorf("%w: %w", errStalled, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
