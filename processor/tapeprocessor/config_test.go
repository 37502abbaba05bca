package tapeprocessor

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
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
	full.Lookback = time.Minute
	full.PassThrough = true
	full.Keep.Outcomes = []tape.Outcome{tape.OutcomeFailed}
	full.Keep.SuccessRatio = 0.25
	full.Keep.LastSuccessPer = []string{"service", "agent"}
	full.Keep.Conditions = []Condition{`span.attributes["cost"] > 10`}
	full.Keep.ErrorMode = ottl.SilentError
	full.Spool = SpoolConfig{
		Directory: "/var/lib/otelcol-tape/spool", MaxBytes: 1 << 30, MaxRunBytes: 1 << 20, MaxRunSpans: 1000,
		SegmentBytes: 1 << 20, SyncInterval: 5 * time.Second, CacheBytes: 1 << 20,
	}
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
			"max_bytes must be at least", "max_run_bytes must be at least", "max_run_spans must be at least",
			"segment_bytes must be at least", "sync_interval must be at least", "cache_bytes must be at least",
			"max_request_bytes must not be negative", "decided_runs must be positive", "offload::threshold must not be negative",
		}},
		"spool_too_small": {errs: []string{
			"spool: max_run_bytes is 1048577, more than the 1048576 of max_bytes: lower it, or raise max_bytes",
			"segment_bytes is 2097152, more than the 1048576 of max_bytes",
		}},
		"keep": {errs: []string{
			`outcomes: "broken"`, "success_ratio must be between 0 and 1", `last_success_per: "trace"`,
			"keep::conditions::1: \"span.nonsense == 1\": ", "keep::conditions::3: \"span.name ==\": ",
		}},
		"no_lookback": {errs: []string{"keep::last_success_per needs a lookback"}},
		"redaction":   {errs: []string{"redaction"}},
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

func TestUnknownSettingsAreRefused(t *testing.T) {
	cm, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	for id, name := range map[string]string{"unknown": "decision_wait", "error_mode": "error_mode"} {
		sub, err := cm.Sub("tape/" + id)
		require.NoError(t, err)
		require.ErrorContains(t, sub.Unmarshal(createDefaultConfig()), name)
	}
}
