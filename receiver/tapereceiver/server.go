package tapereceiver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/loopback"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"
)

// tapesPath is where tapes are posted.
const tapesPath = "/v1/tapes"

// retryAfter is when a sender may try again, in seconds.
const retryAfter = 5

// server takes in tapes over HTTP until shutdown.
type server struct {
	http *http.Server
	addr net.Addr
	done sync.WaitGroup
}

func (r *tapeReceiver) serve(ctx context.Context, host component.Host, cfg *confighttp.ServerConfig) (*server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+tapesPath, r.post)
	var handler http.Handler = mux
	if loopback.Name(cfg.NetAddr.Endpoint) {
		// Web pages must not reach it through the browser of whoever looks at them.
		handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if why := loopback.Refuse(req); why != "" {
				fail(w, http.StatusForbidden, "forbidden", why)
				return
			}
			mux.ServeHTTP(w, req)
		})
	}
	inner, err := cfg.ToServer(ctx, host.GetExtensions(), r.settings, handler)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	listener, err := cfg.ToListener(ctx)
	if err != nil {
		return nil, fmt.Errorf("http: endpoint %s: %w", cfg.NetAddr.Endpoint, err)
	}
	s := &server{http: inner, addr: listener.Addr()}
	r.logger.Info("Taking in tapes", zap.Stringer("address", s.addr), zap.String("path", tapesPath))
	s.done.Go(func() {
		if err := inner.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return s, nil
}

// shutdown lets requests that are being answered end, until ctx does.
func (s *server) shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.done.Wait()
	return err
}

// answer is what a sender is told: the runs on the tape, which need not have had
// ids before.
type answer struct {
	Tapes []taken `json:"tapes"`
}

type taken struct {
	TraceID string `json:"trace_id"`
	Records int    `json:"records"`
}

// post takes in one tape. It is answered once the next component has it: what is
// answered with an error may be sent again, and has the same ids and times then.
func (r *tapeReceiver) post(w http.ResponseWriter, req *http.Request) {
	hash := sha256.New()
	runs, err := r.parse(io.TeeReader(req.Body, hash), func() time.Time {
		return r.posted.of([sha256.Size]byte(hash.Sum(nil)), time.Now())
	})
	switch {
	case errors.Is(err, errTooLarge):
		r.countTape(fromHTTP, tooLarge)
		fail(w, http.StatusRequestEntityTooLarge, tooLarge, err.Error())
		return
	case err != nil:
		r.countTape(fromHTTP, invalid)
		fail(w, http.StatusBadRequest, "bad_tape", err.Error())
		return
	}
	out := answer{Tapes: make([]taken, 0, len(runs))}
	var bad error
	for _, run := range runs {
		// Whoever sends has the time to try again, so nobody does it here.
		for _, part := range cut.Requests(run.Traces, r.cfg.MaxRequestBytes, nil) {
			err := r.offer(req.Context(), r.fromHTTP, part)
			if err != nil && !consumererror.IsPermanent(err) {
				r.countTape(fromHTTP, failed)
				w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
				fail(w, http.StatusServiceUnavailable, "unavailable", "the next component cannot take it now")
				r.logger.Warn("A tape was not taken, its sender may try again", zap.String("trace_id", run.TraceID), zap.Error(err))
				return
			}
			bad = errors.Join(bad, err)
		}
		out.Tapes = append(out.Tapes, taken{run.TraceID, run.Records})
	}
	if bad != nil {
		r.countTape(fromHTTP, refused)
		r.logger.Error("A tape was refused", zap.Error(bad))
		fail(w, http.StatusUnprocessableEntity, refused, "the next component refuses it for good")
		return
	}
	r.countTape(fromHTTP, accepted)
	respond(w, http.StatusOK, out)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message = code, message
	respond(w, status, body)
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Whoever has gone needs no answer.
	_ = json.NewEncoder(w).Encode(body)
}
