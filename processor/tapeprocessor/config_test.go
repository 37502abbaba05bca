package tapeprocessor

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/tapedeck/tapedeck/tape"
)

func TestLoadConfig(t *testing.T) {
	cm, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	storage := component.MustNewID("tape_store")
	full := createDefaultConfig().(*Config)
	full.Storage = &storage
	full.IdleTimeout = time.Minute
	full.MaxAge = time.Hour
	full.RootSettle = time.Second
	full.Lookback = 0
	full.PassThrough = true
	full.Keep.Outcomes = []tape.Outcome{tape.OutcomeFailed}
	full.Buffer = BufferConfig{MaxBytes: 1 << 20, MaxRunBytes: 1 << 10}
	full.Offload.Threshold = 0
	full.MaxRequestBytes = 1 << 20
	full.DecidedRuns = 10
	full.Redaction.Disable = []string{"email"}

	for name, c := range map[string]struct {
		want *Config
		errs []string
	}{
		"":     {want: createDefaultConfig().(*Config)},
		"full": {want: full},
		"times": {errs: []string{
			"idle_timeout must be positive", "max_age must be positive", "root_settle must be positive",
			"lookback must not be negative",
		}},
		"sizes": {errs: []string{
			"buffer::max_bytes must be positive", "buffer::max_run_bytes must be positive",
			"max_request_bytes must be positive", "decided_runs must be positive", "offload::threshold must not be negative",
		}},
		"outcome":   {errs: []string{`keep::outcomes: "broken"`}},
		"redaction": {errs: []string{"redaction"}},
	} {
		t.Run(name, func(t *testing.T) {
			id := "tape"
			if name != "" {
				id += "/" + name
			}
			sub, err := cm.Sub(id)
			require.NoError(t, err)
			cfg := createDefaultConfig().(*Config)
			require.NoError(t, sub.Unmarshal(cfg))
			err = confmap.Validate(cfg)
			if len(c.errs) == 0 {
				require.NoError(t, err)
				assert.Equal(t, c.want, cfg)
				return
			}
			for _, e := range c.errs {
				require.ErrorContains(t, err, e)
			}
		})
	}
}

func TestAnUnknownSettingIsRefused(t *testing.T) {
	cm, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	sub, err := cm.Sub("tape/unknown")
	require.NoError(t, err)
	require.ErrorContains(t, sub.Unmarshal(createDefaultConfig()), "decision_wait")
}
