package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/otelcol"
)

const authConfig = `yaml:
extensions:
  tape_store:
    directory:
      path: %q
  bearertokenauth:
    tokens: [first-t0ken, next-t0ken]
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:0
exporters:
  tape:
    http:
      endpoint: %q
      auth:
        authenticator: bearertokenauth
service:
  extensions: [tape_store, bearertokenauth]
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [tape]
  telemetry:
    logs:
      level: error
    metrics:
      level: none
`

// The distribution has what it takes to open the API to others.
func TestTheAPIOfTheDistributionWantsItsToken(t *testing.T) {
	addr := freeAddress(t)
	col, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(),
		Factories: components,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs:              []string{fmt.Sprintf(authConfig, filepath.ToSlash(t.TempDir()), addr)},
			ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
		DisableGracefulShutdown: true,
	})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- col.Run(context.Background()) }()
	t.Cleanup(func() {
		col.Shutdown()
		assert.NoError(t, <-ended)
	})

	ask := func(token string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/v1/tapes", nil)
		require.NoError(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	require.Eventually(t, func() bool {
		select {
		case err := <-ended:
			// The cleanup shows why.
			ended <- err
			return true
		default:
			return ask("first-t0ken") == http.StatusOK
		}
	}, 10*time.Second, 20*time.Millisecond)
	assert.Equal(t, http.StatusOK, ask("next-t0ken"))
	assert.Equal(t, http.StatusUnauthorized, ask("wrong-t0ken"))
	assert.Equal(t, http.StatusUnauthorized, ask(""))
}

// freeAddress is one that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}
