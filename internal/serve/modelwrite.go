package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
	"github.com/tapedeck/tapedeck/replay"
)

// retryAfter is how long an SDK is told to wait before it tries a recorded failure
// again: the answer lies ready.
const retryAfter = 10 * time.Millisecond

// writeModel writes what a request is answered with. The error says that the
// client did not take it.
func (s *Server) writeModel(w http.ResponseWriter, r *http.Request, q *llm.Request, out *outcome) error {
	wait := out.wait
	if q.Stream && out.failure == nil {
		wait = out.first
	}
	if err := s.pause(r.Context(), wait); err != nil {
		return err
	}
	if out.seq > 0 {
		w.Header().Set("Tape-Seq", strconv.Itoa(out.seq))
	}
	if out.failure != nil {
		return writeFailure(w, out)
	}
	// What the providers' SDKs show as the id of the request.
	id := "tape-" + strconv.Itoa(out.seq)
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("Request-Id", id)
	defer s.models.noted(out.answer)
	if out.fault != "" {
		half := &halfWriter{header: w.Header()}
		if err := s.writeAnswer(half, r, q, out); err != nil {
			return err
		}
		return half.send(w, out.fault)
	}
	return s.writeAnswer(w, r, q, out)
}

// writeAnswer writes an answer that a model gave.
func (s *Server) writeAnswer(w http.ResponseWriter, r *http.Request, q *llm.Request, out *outcome) error {
	if q.Stream {
		return s.stream(w, r, q, out)
	}
	body := out.protocol.Write(q, out.answer)
	if _, ok := out.protocol.(llm.OpenAIResponses); ok {
		s.models.past.keep(q, body)
	}
	return writeBody(w, http.StatusOK, body)
}

// pause waits as long as the recorded call took, by the speed of the server.
func (s *Server) pause(ctx context.Context, took time.Duration) error {
	if s.speed > 0 && took > 0 {
		timer := time.NewTimer(time.Duration(float64(took) / s.speed))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// halfWriter holds an answer of which the client is to get the first half.
type halfWriter struct {
	header http.Header
	bytes.Buffer
}

func (h *halfWriter) Header() http.Header { return h.header }
func (*halfWriter) WriteHeader(int)       {}
func (*halfWriter) Flush()                {}

// send writes the first half, and breaks the connection off there if the answer is
// cut.
func (h *halfWriter) send(w http.ResponseWriter, fault replay.Fault) error {
	half := h.Bytes()[:h.Len()/2]
	if fault == replay.FaultCut {
		w.Header().Set("Content-Length", strconv.Itoa(h.Len()))
	}
	w.WriteHeader(http.StatusOK)
	if _, err := w.Write(half); err != nil || fault != replay.FaultCut {
		return err
	}
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// writeBody writes a body without making a text of all of it.
func writeBody(w http.ResponseWriter, status int, body value.Value) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return llm.WriteJSON(w, body)
}

func writeFailure(w http.ResponseWriter, out *outcome) error {
	f := out.failure
	switch {
	case !out.recorded || out.last:
		w.Header().Set("X-Should-Retry", "false")
	default:
		w.Header().Set("Retry-After-Ms", strconv.FormatInt(retryAfter.Milliseconds(), 10))
	}
	if f.URL != "" {
		w.Header().Set("Tape-Verdict", f.Code)
		w.Header().Set("Link", fmt.Sprintf("<%s>; rel=\"describedby\"", f.URL))
	}
	return writeBody(w, f.Status, out.protocol.Refuse(f))
}

// stream writes an answer as events, each as soon as it is made.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, q *llm.Request, out *outcome) error {
	events := &eventWriter{w: w, flush: http.NewResponseController(w)}
	_, gemini := out.protocol.(llm.Gemini)
	if events.array = gemini && r.URL.Query().Get("alt") != "sse"; events.array {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	w.WriteHeader(http.StatusOK)
	// The last event waits until the recorded call was over, so each is held until
	// the next is there.
	held := func() error { return nil }
	err := out.protocol.Stream(q, out.answer, func(event string, data value.Value) error {
		if response := data.At("response"); event == "response.completed" || event == "response.incomplete" {
			s.models.past.keep(q, response)
		}
		err := held()
		held = func() error { return events.send(event, data) }
		return err
	})
	if err != nil {
		return err
	}
	if err := s.pause(r.Context(), out.wait-out.first); err != nil {
		return err
	}
	if err := held(); err != nil {
		return err
	}
	_, done := out.protocol.(llm.OpenAIChat)
	return events.end(done)
}

// eventWriter writes server-sent events, or the elements of a JSON array.
type eventWriter struct {
	w     io.Writer
	flush *http.ResponseController
	array bool
	n     int
	buf   []byte
}

func (e *eventWriter) send(event string, data value.Value) error {
	e.buf = e.buf[:0]
	switch {
	case e.array:
		e.buf = append(e.buf, map[bool]string{true: "[", false: ",\n"}[e.n == 0]...)
	case event != "":
		e.buf = append(append(append(e.buf, "event: "...), event...), '\n')
	}
	if !e.array {
		e.buf = append(e.buf, "data: "...)
	}
	e.n++
	if _, err := e.w.Write(e.buf); err != nil {
		return err
	}
	if err := llm.WriteJSON(e.w, data); err != nil {
		return err
	}
	if !e.array {
		if _, err := io.WriteString(e.w, "\n\n"); err != nil {
			return err
		}
	}
	return e.flush.Flush()
}

// end closes the stream; done is for the protocol that says so in an event.
func (e *eventWriter) end(done bool) error {
	text := ""
	switch {
	case e.array && e.n == 0:
		text = "[]"
	case e.array:
		text = "]"
	case done:
		text = "data: [DONE]\n\n"
	}
	if _, err := io.WriteString(e.w, text); err != nil {
		return err
	}
	return e.flush.Flush()
}
