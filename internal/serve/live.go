package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/tapedeck/tapedeck/replay"
)

// liveCalls are the calls that clients run themselves: this server runs nothing.
// A call that is to run live is answered with its number, and stays open until the
// client reports what came of it, or the server closes.
type liveCalls struct {
	closing chan struct{}
	once    sync.Once

	mu    sync.Mutex
	last  int
	calls map[string]*liveCall
}

// liveCall is a call that the session waits for.
type liveCall struct {
	outcome chan reported
	// done is closed when the session has recorded it.
	done   chan struct{}
	answer replay.Answer
	err    error
}

// reported is what a client reports.
type reported struct {
	result json.RawMessage
	err    error
}

// liveOrder tells a client to run a call.
type liveOrder struct {
	Live bool   `json:"live"`
	Code string `json:"code"`
	Call string `json:"call"`
	// Args are what the call is to run with.
	Args json.RawMessage `json:"args"`
}

// maxLive bounds the calls that are open at a time.
const maxLive = 10_000

var (
	errNeverReported = errors.New("the client never reported what came of the call")
	errTooManyLive   = errors.New("too many calls run live at a time")
)

func newLiveCalls() *liveCalls {
	return &liveCalls{closing: make(chan struct{}), calls: map[string]*liveCall{}}
}

func (l *liveCalls) close() { l.once.Do(func() { close(l.closing) }) }

func (l *liveCalls) open(c *liveCall) (id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) == maxLive {
		return "", errTooManyLive
	}
	l.last++
	id = "live-" + strconv.Itoa(l.last)
	l.calls[id] = c
	return id, nil
}

func (l *liveCalls) take(id string) *liveCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.calls[id]
	delete(l.calls, id)
	return c
}

// askLive asks the session for a client that can run calls. The order is not nil
// where the client is to run this one.
func (s *Server) askLive(ctx context.Context, request replay.Request) (replay.Answer, *liveOrder, error) {
	c := &liveCall{outcome: make(chan reported, 1), done: make(chan struct{})}
	orders := make(chan *liveOrder, 1)
	request.Run = func(_ context.Context, args json.RawMessage) (any, error) {
		id, err := s.live.open(c)
		if err != nil {
			return nil, err
		}
		orders <- &liveOrder{Live: true, Code: "run_live", Call: id, Args: args}
		select {
		case out := <-c.outcome:
			return out.result, out.err
		case <-s.live.closing:
			return nil, errNeverReported
		}
	}
	// The call outlives the request that begins it.
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(c.done)
		c.answer, c.err = s.session.Ask(ctx, request)
	}()
	select {
	case order := <-orders:
		return replay.Answer{}, order, nil
	case <-c.done:
		return c.answer, nil, c.err
	}
}

// record takes what came of a call that a client ran.
func (s *Server) record(w http.ResponseWriter, r *http.Request) {
	body, bad := s.body(w, r)
	if bad != nil {
		failure(bad.Status, bad.Code, bad.Message).write(w)
		return
	}
	id, out, err := parseOutcome(body)
	if err != nil {
		failure(http.StatusBadRequest, "bad_request", "the body is not the outcome of a call: "+err.Error()).write(w)
		return
	}
	c := s.live.take(id)
	if c == nil {
		failure(http.StatusNotFound, "not_found", fmt.Sprintf("no call %q runs live: it was reported before, or never began", id)).write(w)
		return
	}
	c.outcome <- out
	<-c.done
	if c.err != nil {
		s.verdict(c.err).write(w)
		return
	}
	result := c.answer.Result
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	parts := [][]byte{[]byte(`{"result":`), result}
	var failed *replay.RecordedError
	switch {
	case errors.As(c.answer.LiveErr, &failed):
		parts = append(parts, []byte(`,"error":`), mustJSON(failedCall{failed.Code, failed.Message, failed.Type}))
	case c.answer.LiveErr != nil:
		parts = append(parts, []byte(`,"error":`), mustJSON(failedCall{Message: c.answer.LiveErr.Error()}))
	}
	(&response{status: http.StatusOK, parts: append(parts, []byte("}\n"))}).write(w)
}

// parseOutcome reads {"call":…,"result":…,"error":{code,message,type}}.
func parseOutcome(body []byte) (id string, out reported, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return "", out, err
	}
	if json.Unmarshal(members["call"], &id) != nil || id == "" {
		return "", out, errors.New(`member "call" is not the text that /v1/call gave`)
	}
	out.result = members["result"]
	if text := members["error"]; len(text) > 0 && string(text) != "null" {
		var failed failedCall
		if err := json.Unmarshal(text, &failed); err != nil {
			return "", out, errors.New(`member "error" is not {"code","message","type"}`)
		}
		out.err = &replay.RecordedError{Code: failed.Code, Message: failed.Message, Type: failed.Type}
	}
	return id, out, nil
}
