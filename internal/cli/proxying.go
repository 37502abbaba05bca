package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/tapedeck/tapedeck/internal/proxy"
	"github.com/tapedeck/tapedeck/internal/serve"
)

// proxying has a proxy give the requests that a command makes of other servers to
// ours, until stop is called. Env is what has the command ask it and trust it.
func (a *app) proxying(ctx context.Context, server *serve.Server) (env []string, stop func() error, err error) {
	authority, err := proxy.NewAuthority()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "tape-proxy-")
	if err != nil {
		return nil, nil, fmt.Errorf("proxy: %w", err)
	}
	failed := func(err error) ([]string, func() error, error) {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	listener, err := serve.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return failed(err)
	}
	if env, err = proxy.Environment(dir, serve.URL(listener), authority, a.Env); err != nil {
		return failed(errors.Join(err, listener.Close()))
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	p := proxy.New(authority, http.HandlerFunc(server.Forwarded), server.Broken)
	go func() { served <- p.Serve(ctx, listener) }()
	return env, func() error {
		cancel()
		return errors.Join(<-served, os.RemoveAll(dir))
	}, nil
}
