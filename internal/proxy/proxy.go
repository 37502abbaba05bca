// Package proxy is a forward proxy that never forwards: each request that a program
// makes of any server, by http or https, is given to a handler instead. It opens no
// connection itself, not even to look up a name.
//
// It takes plain requests with an absolute URL, and CONNECT, behind which it speaks
// TLS with a certificate for the host by the [Authority] of the run; the program must
// have been told to trust that. HTTP/1.1 is spoken inside, which every client that
// offers HTTP/2 takes as well. What is no TLS behind CONNECT is refused, as is a
// handshake that the client breaks off; both are told to a hook, because the program
// cannot say so.
//
// The first connection to a host costs a signature; each holds one goroutine.
package proxy

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The time limits of connections.
const (
	handshakeTimeout  = 10 * time.Second
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute
	writeTimeout      = 10 * time.Minute
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 5 * time.Second
)

// Proxy gives the requests of a program to a handler.
type Proxy struct {
	authority *Authority
	handler   http.Handler
	broken    func(host, why string)
	inside    *tunnels
}

// New is a proxy. The handler gets requests whose URL is absolute. Broken is told of
// connections to a host and port that never came to be a request, and why.
func New(authority *Authority, handler http.Handler, broken func(host, why string)) *Proxy {
	return &Proxy{authority: authority, handler: handler, broken: broken}
}

// Serve answers on a listener until ctx ends, then lets requests that run finish, for
// five seconds at most. It closes the listener and returns nil if it was ctx that
// ended it.
func (p *Proxy) Serve(ctx context.Context, listener net.Listener) error {
	p.inside = newTunnels(listener.Addr())
	var silent silent
	outer := server(http.HandlerFunc(p.outside), &silent)
	inner := server(http.HandlerFunc(p.within), &silent)
	inner.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, hostKey{}, c.(*tunnel).host)
	}
	ended := make(chan error, 2)
	go func() { ended <- outer.Serve(listener) }()
	go func() { ended <- inner.Serve(p.inside) }()
	var err error
	left := 2
	select {
	case err = <-ended:
		err = fmt.Errorf("proxy: %w", err)
		left--
	case <-ctx.Done():
	}
	// A server waits for those that said nothing yet as for requests.
	silent.close()
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	for _, s := range []*http.Server{outer, inner} {
		if e := s.Shutdown(finish); e != nil {
			err = errors.Join(err, fmt.Errorf("proxy: requests still ran at the end: %w", e), s.Close())
		}
	}
	// Handshakes that have not ended are in neither server.
	p.inside.end()
	for range left {
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) && !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func server(handler http.Handler, silent *silent) *http.Server {
	return &http.Server{
		Handler:           handler,
		ConnState:         silent.note,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
}

// silent are the connections on which nothing was said yet.
type silent struct{ conns sync.Map }

func (s *silent) note(c net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.conns.Store(c, nil)
	} else {
		s.conns.Delete(c)
	}
}

func (s *silent) close() {
	s.conns.Range(func(c, _ any) bool {
		_ = c.(net.Conn).Close()
		return true
	})
}

// outside answers what comes to the proxy itself.
func (p *Proxy) outside(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case !r.URL.IsAbs() || r.URL.Host == "":
		// Also what a web page makes a browser send here.
		refuse(w, http.StatusBadRequest, "this is a proxy: it takes requests with an absolute URL, and CONNECT")
	case !strings.EqualFold(r.URL.Scheme, "http"):
		refuse(w, http.StatusBadRequest, "this proxy takes http, and https by CONNECT")
	default:
		r.Host = r.URL.Host
		p.handler.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("X-Should-Retry", "false")
	http.Error(w, message, status)
}

type hostKey struct{}

// within answers a request that came by a tunnel.
func (p *Proxy) within(w http.ResponseWriter, r *http.Request) {
	host, _ := r.Context().Value(hostKey{}).(string)
	u := *r.URL
	u.Scheme, u.Host = "https", cmp.Or(r.Host, host)
	r.URL, r.Host = &u, u.Host
	p.handler.ServeHTTP(w, r)
}

// connect speaks TLS with whoever wants a connection to a host.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	target := r.URL.Host
	if target == "" {
		target = r.Host
	}
	host, port, err := net.SplitHostPort(target)
	if err != nil || host == "" || !isHost(host) {
		refuse(w, http.StatusBadRequest, "CONNECT wants HOST:PORT")
		return
	}
	raw, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the connection cannot be taken over")
		return
	}
	// The limits of the server it came from end a tunnel that is in use.
	_ = raw.SetDeadline(time.Now().Add(handshakeTimeout))
	if !p.inside.hold(raw) {
		_ = raw.Close()
		return
	}
	defer p.inside.release(raw)
	if port == "443" {
		target = host
	}
	conn, why := p.handshake(raw, buffered.Reader, host)
	if conn == nil {
		_ = raw.Close()
		if why != "" {
			p.broken(target, why)
		}
		return
	}
	_ = raw.SetDeadline(time.Time{})
	p.inside.give(&tunnel{Conn: conn, host: target})
}

// isHost keeps out what is neither a name nor an address.
func isHost(host string) bool {
	u, err := url.Parse("//" + host)
	if net.ParseIP(host) != nil {
		return true
	}
	return err == nil && u.Host == host && !strings.ContainsAny(host, "@/?#%:")
}

// handshake answers CONNECT and speaks TLS. Without a connection, why says what the
// report should know, "" for nothing: the client went away.
func (p *Proxy) handshake(raw net.Conn, first *bufio.Reader, host string) (conn net.Conn, why string) {
	if _, err := io.WriteString(raw, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return nil, ""
	}
	begin, err := first.Peek(1)
	const tlsHandshake = 22
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed):
		return nil, ""
	case err != nil:
		return nil, "no TLS: the client sent nothing"
	case begin[0] != tlsHandshake:
		_, _ = io.WriteString(raw, "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 40\r\n\r\nthis proxy takes nothing but TLS inside\n")
		return nil, "no TLS"
	}
	conn = tls.Server(&read{raw, first}, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return p.authority.leaf(cmp.Or(hello.ServerName, host))
		},
	})
	if err := conn.(*tls.Conn).Handshake(); err != nil {
		return nil, "TLS: " + reason(err)
	}
	return conn, ""
}

// reason says what to do about a failed handshake where that is known.
func reason(err error) string {
	var alert tls.AlertError
	text := err.Error()
	if errors.As(err, &alert) || strings.Contains(text, "remote error") {
		for _, known := range []string{"unknown certificate", "bad certificate"} {
			if strings.Contains(text, known) {
				return "the client does not trust the certificate: it reads no variable that names the authorities"
			}
		}
	}
	return strings.TrimPrefix(text, "tls: ")
}

// read is a connection whose beginning was read already.
type read struct {
	net.Conn
	first *bufio.Reader
}

func (r *read) Read(p []byte) (int, error) { return r.first.Read(p) }

// tunnel is a connection inside of CONNECT to a host.
type tunnel struct {
	net.Conn
	host string
}

// tunnels is the listener of the connections inside of CONNECT.
type tunnels struct {
	addr  net.Addr
	ready chan net.Conn
	done  chan struct{}
	once  sync.Once

	mu sync.Mutex
	// early are the connections that are in their handshake; ended keeps others out.
	early map[net.Conn]bool
	ended bool
	count sync.WaitGroup
}

func newTunnels(addr net.Addr) *tunnels {
	return &tunnels{addr: addr, ready: make(chan net.Conn), done: make(chan struct{}), early: map[net.Conn]bool{}}
}

func (t *tunnels) hold(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.early[c] = true
	t.count.Add(1)
	return true
}

func (t *tunnels) release(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.early, c)
	t.count.Done()
}

func (t *tunnels) give(c net.Conn) {
	select {
	case t.ready <- c:
	case <-t.done:
		_ = c.Close()
	}
}

// end closes what is in its handshake, and waits for it.
func (t *tunnels) end() {
	t.mu.Lock()
	t.ended = true
	for c := range t.early {
		_ = c.Close()
	}
	t.mu.Unlock()
	t.count.Wait()
}

// Accept is that of [net.Listener].
func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.ready:
		return c, nil
	case <-t.done:
		return nil, net.ErrClosed
	}
}

// Close is that of [net.Listener].
func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.done) })
	return nil
}

// Addr is that of [net.Listener].
func (t *tunnels) Addr() net.Addr { return t.addr }
