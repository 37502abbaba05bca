package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.uber.org/zap"
)

// Codes of errors.
const (
	codeNotFound   = "not_found"
	codeSummarised = "summarised"
	codePending    = "pending"
	codeForbidden  = "forbidden"
	codeBadTraceID = "bad_trace_id"
	codeBadHash    = "bad_hash"
	codeBadQuery   = "bad_query"
	codeMethod     = "method_not_allowed"
	codeAccept     = "not_acceptable"
	codeDamaged    = "damaged"
	codeBusy       = "busy"
	codeStore      = "store_unavailable"
)

// apiError is an answer that is an error.
type apiError struct {
	status  int
	code    string
	message string
	// row is what is known of a run that was not kept.
	row *tape.Row
}

func (e *apiError) Error() string { return e.message }

// errorBody is how an error looks to the client.
type errorBody struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Row *tape.Row `json:"row,omitempty"`
}

// fail answers with an error and gives its code. Those of the store say nothing
// about where it is.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) string {
	var answer *apiError
	switch {
	case errors.As(err, &answer):
	case errors.Is(err, store.ErrBadTraceID):
		answer = &apiError{http.StatusBadRequest, codeBadTraceID, "a trace id is 32 hex digits, not all of them zero", nil}
	case errors.Is(err, store.ErrNotFound):
		answer = &apiError{http.StatusNotFound, codeNotFound, "there is no such thing in the store", nil}
	case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrTooLarge):
		answer = &apiError{http.StatusInternalServerError, codeDamaged, "what is stored is damaged", nil}
		s.opts.Logger.Error("Damaged object in the store", zap.String("path", r.URL.Path), zap.Error(err))
	default:
		answer = &apiError{http.StatusServiceUnavailable, codeStore, "the store cannot be read or written now", nil}
		if !errors.Is(err, context.Canceled) || r.Context().Err() == nil {
			s.opts.Logger.Error("The store cannot be read or written", zap.String("path", r.URL.Path), zap.Error(err))
		}
	}
	var body errorBody
	body.Error.Code, body.Error.Message, body.Row = answer.code, answer.message, answer.row
	writeJSON(w, answer.status, body)
	return answer.code
}

// writeJSON ignores write errors: they mean that the client has gone.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body)
}
