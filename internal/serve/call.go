package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/serve/llm"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	body, bad := s.body(w, r)
	if bad != nil {
		failure(bad.Status, bad.Code, bad.Message).write(w)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		s.answer(r.Context(), body).write(w)
		return
	}
	// A repetition may come because the first client went away: the answer is
	// made all the same.
	ctx := context.WithoutCancel(r.Context())
	answer, err := s.repeats.do(r.Context(), key, body, func() *response { return s.answer(ctx, body) })
	if err != nil {
		return // The client is gone.
	}
	answer.write(w)
}

// body reads the body of a request.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, *llm.Failure) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBody))
	if err == nil {
		return body, nil
	}
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return nil, &llm.Failure{
			Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: fmt.Sprintf("the body is longer than %d bytes", tooLong.Limit),
		}
	}
	return nil, &llm.Failure{Status: http.StatusBadRequest, Code: "bad_request", Message: "the body ended early"}
}

// answer makes the call that a body describes.
func (s *Server) answer(ctx context.Context, body []byte) *response {
	request, canRun, err := parseCall(body)
	if err != nil {
		return failure(http.StatusBadRequest, "bad_request", "the body is not a call: "+err.Error())
	}
	var answer replay.Answer
	var order *liveOrder
	if canRun {
		answer, order, err = s.askLive(ctx, request)
	} else {
		answer, err = s.session.Ask(ctx, request)
	}
	if order != nil {
		return &response{status: http.StatusOK, parts: [][]byte{mustJSON(order), []byte("\n")}}
	}
	if request.Kind == tape.KindModel {
		s.models.taken(answer.Seq, err)
	}
	if err != nil {
		return s.verdict(err)
	}
	result := answer.Result
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	parts := [][]byte{[]byte(`{"result":`), result}
	if answer.Fault == replay.FaultCut {
		return &response{status: http.StatusOK, seq: answer.Seq, parts: parts, cut: true}
	}
	if answer.Error != nil {
		parts = append(parts, []byte(`,"error":`), mustJSON(failedCall{answer.Error.Code, answer.Error.Message, answer.Error.Type}))
	}
	parts = append(parts, []byte("}\n"))
	return &response{status: http.StatusOK, seq: answer.Seq, parts: parts}
}

// failedCall is a recorded failure, with all its members.
type failedCall struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
}

// response is an answer before it is written. It may be written more than once.
type response struct {
	status int
	// seq is the record that answered, 0 for none.
	seq   int
	parts [][]byte
	// cut breaks the connection off after the parts.
	cut bool
}

func (a *response) write(w http.ResponseWriter) {
	size := 0
	if a.cut {
		size++ // What never comes.
	}
	for _, part := range a.parts {
		size += len(part)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(size))
	if a.seq > 0 {
		header.Set("Tape-Seq", strconv.Itoa(a.seq))
	}
	if a.status >= http.StatusBadRequest {
		header.Set("X-Should-Retry", "false")
	}
	// An answer may have been held at a break for longer than a connection may take.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.WriteHeader(a.status)
	for _, part := range a.parts {
		if _, err := w.Write(part); err != nil {
			return // The client is gone.
		}
	}
	if a.cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// errorBody is {"error":{…}}: code and message, and for a verdict its details.
type errorBody struct {
	Code string `json:"code"`
	replay.Event
	RecordedArgs json.RawMessage `json:"recorded_args,omitempty"`
	LiveArgs     json.RawMessage `json:"live_args,omitempty"`
	Fix          string          `json:"fix,omitempty"`
}

// verdictOf gives each verdict its status and code. A divergence is a drift of
// the order.
var verdictOf = map[replay.Verdict]struct {
	status int
	code   string
}{
	replay.VerdictDrift:      {http.StatusUnprocessableEntity, "tape_drift"},
	replay.VerdictDivergence: {http.StatusUnprocessableEntity, "tape_drift"},
	replay.VerdictMiss:       {http.StatusNotFound, "tape_miss"},
	replay.VerdictExhausted:  {http.StatusGone, "tape_exhausted"},
	replay.VerdictRefused:    {http.StatusForbidden, "live_refused"},
	replay.VerdictGap:        {http.StatusFailedDependency, "tape_gap"},
}

// verdict is the answer to a call that the session refused.
func (s *Server) verdict(err error) *response {
	event, ok := replay.EventOf(err)
	if !ok {
		if errors.Is(err, replay.ErrClosed) {
			return failure(http.StatusGone, "closed", "the replay is over")
		}
		if errors.Is(err, replay.ErrQuit) {
			return failure(http.StatusGone, "quit", "the replay was quit at a break")
		}
		return failure(http.StatusBadRequest, "bad_request", err.Error())
	}
	text := mustJSON(detailed(event, err))
	s.verdicts.keep(event.Call, text, event.Message)
	return &response{
		status: verdictOf[event.Verdict].status,
		parts:  [][]byte{[]byte(`{"error":`), text, []byte("}\n")},
	}
}

// detailed is all that there is to say about a verdict.
func detailed(event replay.Event, err error) errorBody {
	body := errorBody{Code: verdictOf[event.Verdict].code, Event: event}
	var drift *replay.DriftError
	var gap *replay.GapError
	switch {
	case errors.As(err, &drift):
		body.RecordedArgs, body.LiveArgs = drift.RecordedArgs, drift.LiveArgs
	case errors.As(err, &gap):
		body.Fix = gap.Fix
	}
	return body
}

func failure(status int, code, message string) *response {
	body := struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{code, message}
	return &response{status: status, parts: [][]byte{[]byte(`{"error":`), mustJSON(body), []byte("}\n")}}
}

// mustJSON marshals what is made of strings, numbers and JSON text that has
// been parsed before.
func mustJSON(v any) []byte {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return []byte(`{"code":"internal","message":"the error cannot be shown"}`)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	report := s.session.Report()
	if strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, report.Text())
		return
	}
	(&response{status: http.StatusOK, parts: [][]byte{mustJSON(report), []byte("\n")}}).write(w)
}
