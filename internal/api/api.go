// Package api is the HTTP API over a store: runs listed, read as tapes or as
// traces, kept and deleted.
//
//	GET    /v1/tapes                    rows, newest decision first
//	GET    /v1/tapes/{trace_id}         the tape, application/x-ndjson
//	GET    /v1/tapes/{trace_id}/trace   the trace as OTLP, by Accept
//	GET    /v1/tapes/{trace_id}/bundle  the tape with what it takes to run it, tar.gz
//	POST   /v1/tapes/{trace_id}/keep    keep a run whatever its outcome, and for good
//	DELETE /v1/tapes/{trace_id}
//	GET    /v1/blobs/sha256/{hash}      a body
//
// Errors are {"error":{"code":…,"message":…}}. Messages say nothing about the
// machine the API runs on; what they leave out is logged. Every read of content,
// every keeping and every deletion is one audit line in the log, without content,
// whether it succeeds or not.
//
// It holds one run in memory for each request that reads one, answers a bounded
// number of requests at a time, and may keep a bounded number of bytes of tapes that
// it has made.
package api

import (
	"context"
	"net/http"
	"time"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/store"
	"go.uber.org/zap"
)

// Options adjust the API. The zero value is good.
type Options struct {
	// Refuse says why a request must not be answered, "" when it may; nil refuses
	// none.
	Refuse func(*http.Request) string
	// Pending reports whether a run of the tenant, "" for runs of none, is still
	// open; nil means none ever is.
	Pending func(ctx context.Context, tenant, traceID string) bool
	// Keep keeps a run of the tenant that is not in the store yet, "" when it is not
	// known there; nil means none ever is.
	Keep func(ctx context.Context, tenant, traceID string) (Kept, error)
	// Logger gets the audit lines and the reasons of failures; nil is silence.
	Logger *zap.Logger
	// Subject names who sent the request, for the audit line; nil names nobody.
	Subject func(*http.Request) string
	// Observe is told of each answered request: which endpoint (list, tape,
	// trace, bundle, keep, delete, blob, other) and which status.
	Observe func(r *http.Request, endpoint string, status int)
	// Translation says how spans become tapes.
	Translation dialect.Options
	// MaxRequests is how many requests are answered at a time; 0 is any number.
	// Others wait a moment for their turn, and are then sent away as busy.
	MaxRequests int
	// CacheBytes bounds the tapes that are kept as they were sent; 0 keeps none.
	CacheBytes int
	// Now is the clock against which since=24h is understood; nil is time.Now.
	Now func() time.Time
}

type server struct {
	// store is that of the tenant, which is "" for runs without one.
	store  *store.Store
	tenant string
	opts   Options
	// answers is shared by all tenants.
	answers *answers
}

// New makes the handler.
func New(st *store.Store, opts Options) http.Handler {
	if opts.Pending == nil {
		opts.Pending = func(context.Context, string, string) bool { return false }
	}
	if opts.Keep == nil {
		opts.Keep = func(context.Context, string, string) (Kept, error) { return "", nil }
	}
	if opts.Refuse == nil {
		opts.Refuse = func(*http.Request) string { return "" }
	}
	if opts.Logger == nil {
		opts.Logger = zap.NewNop()
	}
	if opts.Subject == nil {
		opts.Subject = func(*http.Request) string { return "" }
	}
	if opts.Observe == nil {
		opts.Observe = func(*http.Request, string, int) {}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &server{store: st, opts: opts, answers: newAnswers(opts.CacheBytes)}
	mux := http.NewServeMux()
	mux.Handle("/v1/tapes", s.methods(map[string]endpoint{
		http.MethodGet: {"list", "", (*server).list},
	}))
	mux.Handle("/v1/tapes/{id}", s.methods(map[string]endpoint{
		http.MethodGet:    {"tape", "read_tape", (*server).tape},
		http.MethodDelete: {"delete", "delete", (*server).remove},
	}))
	mux.Handle("/v1/tapes/{id}/trace", s.methods(map[string]endpoint{
		http.MethodGet: {"trace", "read_trace", (*server).trace},
	}))
	mux.Handle("/v1/tapes/{id}/bundle", s.methods(map[string]endpoint{
		http.MethodGet: {"bundle", "read_bundle", (*server).bundle},
	}))
	mux.Handle("/v1/tapes/{id}/keep", s.methods(map[string]endpoint{
		http.MethodPost: {"keep", "keep", (*server).keep},
	}))
	mux.Handle("/v1/blobs/sha256/{hash}", s.methods(map[string]endpoint{
		http.MethodGet: {"blob", "read_blob", (*server).blob},
	}))
	mux.Handle("/", s.serve(endpoint{"other", "", func(_ *server, _ http.ResponseWriter, r *http.Request) error {
		return &apiError{http.StatusNotFound, codeNotFound, "there is nothing at " + r.URL.Path, nil}
	}}))
	refused := s.serve(endpoint{"other", "", func(_ *server, _ http.ResponseWriter, r *http.Request) error {
		return &apiError{http.StatusForbidden, codeForbidden, opts.Refuse(r), nil}
	}})
	answer := s.bounded(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if opts.Refuse(r) != "" {
			refused.ServeHTTP(w, r)
			return
		}
		answer.ServeHTTP(w, r)
	})
}

// endpoint answers a request, or returns an error before it has written
// anything.
type endpoint struct {
	name string
	// action is what the audit calls it, "" for what it does not list.
	action string
	call   func(*server, http.ResponseWriter, *http.Request) error
}

// methods picks the endpoint by method. The mux could do it, but would answer
// the others in plain text.
func (s *server) methods(byMethod map[string]endpoint) http.Handler {
	allowed := ""
	handlers := make(map[string]http.Handler, len(byMethod)+1)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		e, ok := byMethod[method]
		if !ok {
			continue
		}
		handlers[method] = s.serve(e)
		if allowed != "" {
			allowed += ", "
		}
		allowed += method
		if method == http.MethodGet {
			handlers[http.MethodHead] = handlers[method]
			allowed += ", " + http.MethodHead
		}
	}
	refused := s.serve(endpoint{"other", "", func(_ *server, w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allowed)
		return &apiError{http.StatusMethodNotAllowed, codeMethod, r.Method + " is not " + allowed, nil}
	}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := handlers[r.Method]; ok {
			h.ServeHTTP(w, r)
			return
		}
		refused.ServeHTTP(w, r)
	})
}

func (s *server) serve(e endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		// Content is whatever an agent wrote: no browser shall guess at it.
		w.Header().Set("X-Content-Type-Options", "nosniff")
		of, err := s.forTenant(r)
		if err == nil {
			err = e.call(of, seen, r)
		} else {
			of = s
		}
		if err != nil {
			code := s.fail(seen, r, err)
			if e.action != "" {
				of.auditFailure(r, e.action, code)
			}
		}
		s.opts.Observe(r, e.name, seen.status)
	})
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
