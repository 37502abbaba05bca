package tapeexporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadata"
	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/loopback"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// apiServer serves the API until shutdown.
type apiServer struct {
	http *http.Server
	addr net.Addr
	done sync.WaitGroup
}

func serveAPI(
	ctx context.Context,
	host component.Host,
	settings component.TelemetrySettings,
	telemetry *metadata.TelemetryBuilder,
	of *Config,
	ext tapestore.Extension,
	waiting func(tenant, traceID string) bool,
) (*apiServer, error) {
	cfg := of.HTTP.Get()
	handler := api.New(ext.Store(), api.Options{
		Refuse: guard(cfg.NetAddr.Endpoint),
		Pending: func(ctx context.Context, tenant, id string) bool {
			return waiting(tenant, id) || ext.Pending(ctx, tenant, id)
		},
		Keep:        keeper(ext),
		Translation: ext.Translation(),
		MaxRequests: of.MaxConcurrentRequests,
		CacheBytes:  of.CacheBytes,
		Logger:      settings.Logger,
		Subject:     subject,
		Observe: func(r *http.Request, endpoint string, status int) {
			telemetry.TapeExporterAPIRequests.Add(r.Context(), 1, metric.WithAttributes(
				attribute.String("endpoint", endpoint), attribute.Int("status", status)))
		},
	})
	server, err := cfg.ToServer(ctx, host.GetExtensions(), settings, handler)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	server.MaxHeaderBytes = maxHeader
	listener, err := cfg.ToListener(ctx)
	if err != nil {
		return nil, fmt.Errorf("http: endpoint %s: %w", cfg.NetAddr.Endpoint, err)
	}
	s := &apiServer{http: server, addr: listener.Addr()}
	settings.Logger.Info("Serving stored tapes", zap.Stringer("address", s.addr))
	s.done.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return s, nil
}

// keeper is how the API asks for runs that are not in the store.
func keeper(ext tapestore.Extension) func(context.Context, string, string) (api.Kept, error) {
	return func(ctx context.Context, tenant, traceID string) (api.Kept, error) {
		kept, err := ext.Keep(ctx, tenant, traceID)
		switch kept {
		case tapestore.KeptNow:
			return api.KeptNow, err
		case tapestore.KeptOnceDecided:
			return api.KeptOnceDecided, err
		default:
			return "", err
		}
	}
}

// guard keeps web pages from reaching a server that binds to loopback through the
// browser of whoever looks at them. A server that is reachable from elsewhere has
// names that are not known here, and an auth extension to protect it.
func guard(endpoint string) func(*http.Request) string {
	if loopback.Name(endpoint) {
		return loopback.Refuse
	}
	return nil
}

// shutdown lets requests that are being answered end, until ctx does.
func (s *apiServer) shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.done.Wait()
	return err
}

// subject is the sender as the auth extension knows it.
func subject(r *http.Request) string {
	auth := client.FromContext(r.Context()).Auth
	if auth == nil {
		return ""
	}
	name, _ := auth.GetAttribute("subject").(string)
	return name
}
