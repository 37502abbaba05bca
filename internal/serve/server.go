// Package serve answers the calls of unmodified programs from a tape, over
// HTTP on the loopback interface: one replay session, shared by all clients.
//
//	POST /v1/call   {"tool":"fetch_doc","args":{…}}
//	                200 {"result":…}             the recorded answer
//	                200 {"result":…,"error":{…}} the recorded failure
//	                4xx {"error":{"code":…,…}}   a verdict, or a bad request
//	POST /v1/record {"call":…,"result":…}        what came of a call that the client ran
//	GET  /v1/report the report of the session so far; text/plain by Accept
//	GET  /v1/calls/N the verdict on a call that was no hit
//	POST …/chat/completions, …/responses, …/messages, …/models/M:generateContent
//	                the APIs of models, in the words of package llm
//	/mcp            tools, resources and prompts for clients of MCP
//	/http/SCHEME/HOST/PATH
//	                what a server answered; see [Server.Forwarded] for a proxy
//
// A verdict has a status that no SDK retries, since asking again changes
// nothing: 422 tape_drift, 404 tape_miss, 410 tape_exhausted, 424 tape_gap. Every
// error carries "x-should-retry: false", but for a recorded failure of a model that
// the tape has another answer after.
//
// A client that may repeat a call for its own reasons sends an Idempotency-Key:
// the repetition gets the same answer and takes no second record.
//
// The package opens no outbound connection and answers only requests that were
// addressed to this machine by a loopback name, so that no web page can read a
// tape through a name of its own, and none that a page from elsewhere makes, as
// they would take records. A hit costs the price of the session's plus
// that of the HTTP exchange; results are written as they lie in memory.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tapedeck/tapedeck/internal/loopback"
	"github.com/tapedeck/tapedeck/internal/mcpserve"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// mcpPath is where MCP clients find the tape's tools; a name below it means those of
// one server of several.
const mcpPath = "/mcp"

// DefaultMaxBody bounds a request body, in bytes.
const DefaultMaxBody = 64 << 20

// callsPath is where verdicts on calls can be read.
const callsPath = "/v1/calls/"

// The time limits of connections. An answer may be held back for the recorded
// order of completion, so there is time to write one.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute
	writeTimeout      = 10 * time.Minute
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 5 * time.Second
)

// Server is the handler of a session.
type Server struct {
	session  *replay.Session
	maxBody  int64
	speed    float64
	repeats  *repeats
	live     *liveCalls
	tries    *tries
	verdicts *verdicts
	models   *models
	mcp      *mcpserve.HTTP
	tools    []tape.Tool
	http     *httpCalls
	// modelHosts are those of models, beside the ones that are known.
	modelHosts []string
	// address is where [Server.Serve] listens, as HOST:PORT.
	address atomic.Pointer[string]
}

// Option changes a server.
type Option func(*Server)

// WithMaxBody bounds a request body, in bytes; zero or less leaves
// [DefaultMaxBody].
func WithMaxBody(bytes int64) Option {
	return func(s *Server) {
		if bytes > 0 {
			s.maxBody = bytes
		}
	}
}

// WithSpeed lets answers of models take as long as they took when they were
// recorded, divided by speed; zero or less, the default, gives them at once.
func WithSpeed(speed float64) Option {
	return func(s *Server) { s.speed = speed }
}

// WithTools are the definitions that MCP clients are given in place of the tape's.
func WithTools(tools []tape.Tool) Option {
	return func(s *Server) { s.tools = tools }
}

// WithModelHosts are hosts whose model APIs are answered from the tape when a program
// asks for them by a proxy, beside those of the providers: "*.example.com" is every
// host below example.com.
func WithModelHosts(hosts ...string) Option {
	return func(s *Server) { s.modelHosts = append(s.modelHosts, hosts...) }
}

// Options are what a session needs for its model calls to be matched whatever API
// they come by.
func Options() []replay.Option {
	return []replay.Option{replay.WithForm(tape.KindModel, llm.Form), replay.WithPlaces(tape.KindModel, llm.Place)}
}

// New returns the handler of a session, which stays the caller's to close.
func New(session *replay.Session, options ...Option) *Server {
	s := &Server{session: session, maxBody: DefaultMaxBody, repeats: newRepeats(), live: newLiveCalls(), tries: newTries(), verdicts: newVerdicts()}
	s.models, s.http = newModels(session, s.verdicts), &httpCalls{session: session}
	for _, option := range options {
		option(s)
	}
	s.mcp = mcpserve.NewHTTP(session, mcpserve.OfTape(session.Tape(), s.tools), mcpPath, s.maxBody)
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if why := loopback.Refuse(r); why != "" {
		failure(http.StatusForbidden, "forbidden", why).write(w)
		return
	}
	var method string
	var handle http.HandlerFunc
	switch {
	case r.URL.Path == "/v1/call":
		method, handle = http.MethodPost, s.call
	case r.URL.Path == "/v1/record":
		method, handle = http.MethodPost, s.record
	case r.URL.Path == "/v1/report":
		method, handle = http.MethodGet, s.report
	case strings.HasPrefix(r.URL.Path, callsPath):
		method, handle = http.MethodGet, s.oneCall
	case r.URL.Path == mcpPath, strings.HasPrefix(r.URL.Path, mcpPath+"/"):
		s.mcp.ServeHTTP(w, r) // It says itself which methods it takes.
		return
	case strings.HasPrefix(r.URL.Path, rewrittenPath):
		s.rewritten(w, r)
		return
	default:
		if rt, ok := routeOf(r); ok {
			s.model(w, r, rt)
		} else {
			failure(http.StatusNotFound, "not_found", fmt.Sprintf("there is no %s here", r.URL.Path)).write(w)
		}
		return
	}
	if r.Method != method {
		w.Header().Set("Allow", method)
		failure(http.StatusMethodNotAllowed, "method_not_allowed", fmt.Sprintf("%s takes %s", r.URL.Path, method)).write(w)
		return
	}
	handle(w, r)
}

// model answers a request to the API of a model.
func (s *Server) model(w http.ResponseWriter, r *http.Request, rt route) {
	if r.Method != rt.method {
		w.Header().Set("Allow", rt.method)
		s.refuse(w, rt.protocol, &llm.Failure{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: fmt.Sprintf("%s takes %s", r.URL.Path, rt.method),
		})
		return
	}
	rt.handle(s, w, r, rt)
}

// Listen listens on a loopback address such as "127.0.0.1:0"; others are
// refused, because whoever reaches the server reads the tape.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, err)
	}
	if !loopback.Name(host) {
		return nil, fmt.Errorf("listen on %q: not a loopback address", address)
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// URL is where a listener can be reached.
func URL(listener net.Listener) string { return "http://" + listener.Addr().String() }

// Serve answers requests until ctx ends, then lets those that run finish, for
// five seconds at most. It closes the listener and returns nil if it was ctx
// that ended it.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
	}
	address := listener.Addr().String()
	s.address.Store(&address)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.live.close()
	// The streams of MCP clients end only if they are told to.
	streams := s.mcp.Close()
	// The context has ended, and finishing takes a little longer.
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(finish)
	if err != nil {
		err = errors.Join(fmt.Errorf("serve: requests still ran at the end: %w", err), server.Close())
	}
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return errors.Join(err, streams)
}
