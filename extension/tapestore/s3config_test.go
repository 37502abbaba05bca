package tapestore

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadata"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/extension/extensiontest"
)

func loadS3(t *testing.T, name string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "s3.yaml"))
	require.NoError(t, err)
	sub, err := conf.Sub(component.NewIDWithName(metadata.Type, name).String())
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	if err := sub.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestS3Config(t *testing.T) {
	cfg, err := loadS3(t, "least")
	require.NoError(t, err)
	assert.Empty(t, cfg.Directory.Path)
	s3 := cfg.S3.Get()
	assert.Equal(t, "tapes", s3.Bucket)
	assert.Equal(t, 30*time.Second, s3.Timeout)
	assert.Equal(t, sourceAuto, s3.Credentials.Source)

	cfg, err = loadS3(t, "most")
	require.NoError(t, err)
	s3 = cfg.S3.Get()
	assert.Equal(t, "https://s3.example.org:9000", s3.Endpoint)
	assert.Equal(t, "team/a", s3.Prefix)
	assert.True(t, s3.PathStyle)
	assert.Equal(t, "STANDARD_IA", s3.StorageClass)
	assert.Equal(t, 8<<20, s3.PartSize)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", s3.Credentials, s3.Encryption, s3), "very-secret")
	sse, err := s3.Encryption.server()
	require.NoError(t, err)
	require.NotNil(t, sse)

	for name, want := range map[string]string{
		"both":        "directory and s3 exclude each other",
		"no_bucket":   "bucket must not be empty",
		"half_a_key":  "access_key_id and secret_access_key go together",
		"odd_source":  `source "vault" is none of`,
		"two_sources": "source role does not use access_key_id",
		"no_keys":     "source static needs",
		"odd_sse":     `type "rot13" is none of`,
		"bad_sse_key": "customer_key must be 32 bytes in base64",
		"lost_kms":    "kms_key_id is of type kms alone",
		"small_parts": "part_size must be at least",
		"unknown":     "compression",
	} {
		_, err := loadS3(t, name)
		require.ErrorContains(t, err, want, name)
		assert.NotContains(t, err.Error(), "very-secret", name)
	}
}

func TestTheStoreOfABucket(t *testing.T) {
	server := s3test.Start(t)
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	set := extensiontest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	conf := confmap.NewFromStringMap(map[string]any{"s3": map[string]any{
		"endpoint": server.URL(), "bucket": s3test.Bucket, "path_style": true, "prefix": "a/b",
		"credentials": map[string]any{"access_key_id": s3test.AccessKey, "secret_access_key": s3test.SecretKey},
	}, "index": map[string]any{"directory": t.TempDir()}})
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, conf.Unmarshal(cfg))
	require.NoError(t, confmap.Validate(cfg))
	e, err := newExtension(set, cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })

	require.NoError(t, e.Store().AppendRows(t.Context(), []tape.Row{{TraceID: traceID, Outcome: tape.OutcomeFailed}}))
	page, err := e.Store().Rows(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Len(t, page.Rows, 1)
	assert.Empty(t, server.Keys(), "a row waits in the journal, and is seen there")
	require.NoError(t, e.Store().Flush(t.Context(), false))
	require.Len(t, server.Keys(), 1)
	for _, key := range server.Keys() {
		assert.Contains(t, key, "a/b/")
	}
	m, err := tel.GetMetric("otelcol_tape_store_requests")
	require.NoError(t, err)
	assert.NotEmpty(t, m.Data)
}

func TestACollectorStartsWhileItsBucketIsAway(t *testing.T) {
	cfg, err := loadS3(t, "most")
	require.NoError(t, err)
	cfg.Index.Directory = t.TempDir()
	e, err := newExtension(extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, e.Shutdown(t.Context()))
}
