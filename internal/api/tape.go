package api

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
)

// tape answers with the rebuilt tape.
func (s *server) tape(w http.ResponseWriter, r *http.Request) error {
	id, err := store.ParseTraceID(r.PathValue("id"))
	if err != nil {
		return err
	}
	byRef, bare, err := parseTapeQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	key := answerKey{s.tenant, id, byRef}
	kept, err := s.answers.get(r.Context(), s.store, key)
	if err != nil {
		return err
	}
	send := func() error { return kept.send(w, bare) }
	if kept == nil {
		made, err := rebuild.Make(r.Context(), s.store, id, rebuild.Options{BodiesByRef: byRef, Translation: s.opts.Translation})
		if err != nil {
			return s.absent(r, id, err)
		}
		send = func() error { return s.answers.make(w, key, made, bare) }
	}
	s.audit(r, "read_tape", "trace_id", id, outcomeOK)
	w.Header().Set("Content-Type", "application/x-ndjson")
	if err := send(); err != nil {
		// The status is out already: a broken connection is the only way left
		// to tell the client, if it is still there, that this is not all.
		s.opts.Logger.Warn("Answer cut short", zap.String("trace_id", id), zap.Error(err))
		s.audit(r, "read_tape", "trace_id", id, outcomeCut)
		panic(http.ErrAbortHandler)
	}
	return nil
}

func parseTapeQuery(raw string) (byRef, bare bool, err error) {
	values, err := parseMembers(raw)
	if err != nil {
		return false, false, err
	}
	for _, name := range sortedNames(values) {
		if name == tenantMember {
			continue
		}
		v, err := single(name, values[name])
		if err != nil {
			return false, false, err
		}
		switch name {
		case "bodies":
			if v != "ref" && v != "inline" {
				return false, false, badQuery(name, "is ref or inline")
			}
			byRef = v == "ref"
		case "bare":
			if v != "0" && v != "1" {
				return false, false, badQuery(name, "is 0 or 1")
			}
			bare = v == "1"
		default:
			return false, false, badQuery(name, "is not known")
		}
	}
	return byRef, bare, nil
}

// trace answers with the stored trace, its bodies put back. A body that is no
// longer there stays a reference.
func (s *server) trace(w http.ResponseWriter, r *http.Request) error {
	id, err := store.ParseTraceID(r.PathValue("id"))
	if err != nil {
		return err
	}
	media, ok := negotiate(r.Header.Values("Accept"), mediaJSON, mediaProtobuf)
	if !ok {
		return &apiError{http.StatusNotAcceptable, codeAccept, "a trace is " + mediaJSON + " or " + mediaProtobuf, nil}
	}
	stored, err := rebuild.Traces(r.Context(), s.store, id)
	if err != nil {
		return s.absent(r, id, err)
	}
	var body []byte
	if media == mediaJSON {
		body, err = (&ptrace.JSONMarshaler{}).MarshalTraces(stored.Traces)
	} else {
		body, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(stored.Traces)
	}
	if err != nil {
		return fmt.Errorf("trace %s: %w: %w", id, store.ErrDamaged, err)
	}
	tellMissing(w, stored)
	s.audit(r, "read_trace", "trace_id", id, outcomeOK)
	w.Header().Set("Content-Type", media)
	w.Header().Set("Vary", "Accept")
	_, _ = w.Write(body) // an error means that the client has gone
	return nil
}

// absent says why there is no tape: still open, decided but not kept, unknown.
func (s *server) absent(r *http.Request, id string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if s.opts.Pending(r.Context(), s.tenant, id) {
		return &apiError{http.StatusNotFound, codePending, "run " + id + " has not ended yet", nil}
	}
	row, rowErr := s.store.Row(r.Context(), id)
	switch {
	case rowErr == nil && !row.Kept:
		return &apiError{
			http.StatusNotFound, codeSummarised,
			fmt.Sprintf("run %s ended as %s and was not kept, only summarised", id, row.Outcome), &row,
		}
	case rowErr == nil, errors.Is(rowErr, store.ErrNotFound):
		return &apiError{http.StatusNotFound, codeNotFound, "no run " + id + " is known here", nil}
	default:
		return rowErr
	}
}

// remove deletes a run, or the row of one that was not kept.
func (s *server) remove(w http.ResponseWriter, r *http.Request) error {
	id, err := store.ParseTraceID(r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := s.store.Delete(r.Context(), id); err != nil {
		return s.absent(r, id, err)
	}
	s.answers.forget(s.tenant, id)
	s.audit(r, "delete", "trace_id", id, outcomeOK)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
