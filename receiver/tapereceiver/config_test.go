package tapereceiver

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
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

func TestConfig(t *testing.T) {
	cfg, err := load(t, "")
	require.NoError(t, err)
	assert.Equal(t, createDefaultConfig(), cfg)

	cfg, err = load(t, "all")
	require.NoError(t, err)
	assert.Equal(t, "tape_store/eu", cfg.Storage.String())
	assert.Equal(t, []tape.Outcome{"failed", "recovered"}, cfg.Outcome)
	assert.Equal(t, ModeFollow, cfg.Mode)
	assert.Equal(t, time.Minute, cfg.PollInterval)
	assert.Equal(t, 1_000_000, cfg.MaxRequestBytes)
	assert.Equal(t, time.Hour, cfg.RetryConfig.MaxElapsedTime)
	assert.Equal(t, []string{"fetch"}, cfg.Tool)
	assert.Equal(t, []string{"acme"}, cfg.Tenant)
	assert.Equal(t, time.Hour, cfg.LookBack)
	assert.Equal(t, "file_storage", cfg.Checkpoint.String())
	assert.Equal(t, []string{TimeShift, BodiesReference, "recorder"}, []string{cfg.Time, cfg.Bodies, cfg.DefaultService})
	assert.Equal(t, "127.0.0.1:1234", cfg.HTTP.Get().NetAddr.Endpoint)
	assert.EqualValues(t, 1000, cfg.HTTP.Get().MaxRequestBodySize)
	assert.Equal(t, WatchConfig{
		Directory: "/var/tapes", PollInterval: 2 * time.Second, Quiet: 3 * time.Second, MaxFileBytes: 4, MoveTo: "/var/done",
	}, *cfg.Watch.Get())
	query, err := cfg.query(noon)
	require.NoError(t, err)
	assert.Equal(t, noon.Add(-24*time.Hour), query.Since)
	assert.True(t, query.Until.IsZero())
	assert.True(t, query.KeptOnly)

	assert.Equal(t, []string{"fetch"}, query.Tool)

	cfg, err = load(t, "ids")
	require.NoError(t, err)
	assert.Len(t, cfg.TraceIDs, 1)
}

func TestConfigFaultsNameTheSetting(t *testing.T) {
	for name, want := range map[string]string{
		"bad_ids":          `trace_ids: "xyz"`,
		"ids_and_filter":   "trace_ids: cannot be combined",
		"ids_and_follow":   "trace_ids: has no meaning in mode follow",
		"bad_outcome":      `outcome: "broken"`,
		"bad_since":        `since: "yesterday"`,
		"bad_until":        `until: "-3h"`,
		"until_and_follow": "until: has no meaning in mode follow",
		"bad_mode":         `mode: "sometimes"`,
		"bad_poll":         "poll_interval: must be positive",
		"bad_request":      "max_request_bytes: must not be negative",
		"unknown":          "cursor",

		"bad_look_back":         "look_back: must not be negative",
		"bad_time":              `time: "tomorrow"`,
		"bad_bodies":            `bodies: "lost"`,
		"nothing_to_do":         "mode: none needs http or watch",
		"none_and_filter":       "mode: none reads nothing",
		"checkpoint_of_nothing": "checkpoint: has no meaning",
		"no_directory":          "watch: directory: is missing",
		"bad_watch_poll":        "watch: poll_interval: must be positive",
		"bad_quiet":             "watch: quiet: must not be negative",
		"bad_file_size":         "watch: max_file_bytes: must be positive",
		"moves_in_circles":      "watch: move_to: is the directory",
	} {
		_, err := load(t, name)
		require.ErrorContains(t, err, want, name)
	}
}
