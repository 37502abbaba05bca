package tapeexporter

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

func load(t *testing.T, name string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	sub, err := conf.Sub(component.NewIDWithName(metadata.Type, name).String())
	require.NoError(t, err)
	cfg := NewFactory().CreateDefaultConfig().(*Config)
	if err := sub.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestDefaults(t *testing.T) {
	cfg, err := load(t, "")
	require.NoError(t, err)
	assert.Equal(t, createDefaultConfig(), cfg)
	assert.Equal(t, "tape_store", cfg.Storage.String())
	assert.Equal(t, "127.0.0.1:4380", cfg.HTTP.Get().NetAddr.Endpoint)
	assert.Equal(t, 30*time.Second, cfg.TimeoutConfig.Timeout)
	queue := cfg.QueueConfig.Get()
	assert.Equal(t, exporterhelper.RequestSizerTypeBytes, queue.Sizer, "memory is bounded, whatever the size of a run")
	assert.EqualValues(t, 32<<20, queue.QueueSize)
	assert.True(t, queue.WaitForResult, "what the sender thinks is stored is stored")
	assert.True(t, queue.BlockOnOverflow, "nobody is refused while the store is behind")
	assert.True(t, cfg.RetryConfig.Enabled)
	assert.Equal(t, 16, cfg.MaxConcurrentRequests)
	assert.Equal(t, 10*time.Second, cfg.HTTP.Get().ReadHeaderTimeout)
	assert.EqualValues(t, 64<<10, cfg.HTTP.Get().MaxRequestBodySize)
	assert.False(t, cfg.HTTP.Get().CORS.HasValue())
}

func TestConfig(t *testing.T) {
	cfg, err := load(t, "all")
	require.NoError(t, err)
	assert.Equal(t, "tape_store/eu", cfg.Storage.String())
	assert.Equal(t, 5*time.Second, cfg.TimeoutConfig.Timeout)
	assert.Equal(t, time.Hour, cfg.RetryConfig.MaxElapsedTime)
	assert.Equal(t, 2, cfg.QueueConfig.Get().NumConsumers)
	assert.Equal(t, "0.0.0.0:8080", cfg.HTTP.Get().NetAddr.Endpoint)
	assert.True(t, cfg.HTTP.Get().Auth.HasValue())

	cfg, err = load(t, "silent")
	require.NoError(t, err)
	assert.False(t, cfg.HTTP.HasValue())

	_, err = load(t, "small_queue")
	require.ErrorContains(t, err, "sending_queue::queue_size")
	require.ErrorContains(t, err, "sizer")
	_, err = load(t, "requests")
	require.NoError(t, err)

	cfg, err = load(t, "persistent")
	require.NoError(t, err)
	assert.Equal(t, "file_storage", cfg.QueueConfig.Get().StorageID.String())
	assert.False(t, cfg.QueueConfig.Get().WaitForResult, "a queue on disk keeps what it took")

	_, err = load(t, "bad_storage")
	require.ErrorContains(t, err, "storage")
	_, err = load(t, "no_requests")
	require.ErrorContains(t, err, "max_concurrent_requests")
	_, err = load(t, "no_such_cache")
	require.ErrorContains(t, err, "cache_bytes")
	cfg, err = load(t, "no_cache")
	require.NoError(t, err)
	assert.Zero(t, cfg.CacheBytes)
	_, err = load(t, "unknown")
	require.ErrorContains(t, err, "directory")
}
