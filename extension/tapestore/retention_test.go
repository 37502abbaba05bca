package tapestore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadata"
	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadatatest"
	"github.com/tapedeck/tapedeck/internal/retention"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestRetentionIsConfigured(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	conf := confmap.NewFromStringMap(map[string]any{"retention": map[string]any{
		"rules": []any{
			map[string]any{"name": "billing", "service": []any{"billing"}, "keep": "forever"},
			map[string]any{"name": "prod", "attributes": map[string]any{"environment": []any{"prod"}}, "keep": "90d", "max_bytes": 1000},
		},
		"default":   map[string]any{"name": "rest", "keep": "2w"},
		"summaries": map[string]any{"keep": "36h"},
		"grace":     "24h",
	}})
	require.NoError(t, conf.Unmarshal(cfg))
	require.NoError(t, confmap.Validate(cfg))
	assert.Equal(t, retention.Config{
		Rules: []retention.Rule{
			{Class: retention.Class{Name: "billing", Keep: retention.Forever}, Service: []string{"billing"}},
			{Class: retention.Class{Name: "prod", Keep: retention.Keep(90 * 24 * time.Hour), MaxBytes: 1000}, Attributes: map[string][]string{"environment": {"prod"}}},
		},
		Default:   retention.Class{Name: "rest", Keep: retention.Keep(14 * 24 * time.Hour)},
		Summaries: retention.Summaries{Keep: retention.Keep(36 * time.Hour)},
		Grace:     24 * time.Hour,
		Interval:  time.Hour,
	}, cfg.Retention)
	e, err := newExtension(extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	assert.Equal(t, "billing", e.Class(tape.Row{Service: "billing"}))
	assert.Equal(t, "rest", e.Class(tape.Row{Outcome: "failed"}))

	cfg.Retention.Rules[0].Keep = 0
	require.ErrorContains(t, confmap.Validate(cfg), "retention: rules::0: keep must be given")
	bucket := createDefaultConfig().(*Config)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"s3":        map[string]any{"bucket": "tapes"},
		"retention": map[string]any{"default": map[string]any{"max_bytes": 5}},
	}).Unmarshal(bucket))
	require.ErrorContains(t, confmap.Validate(bucket), "max_bytes is for a store in a directory")
}

func TestTheSweeperRemovesWhatIsOldAndSaysSo(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	tel := componenttest.NewTelemetry()
	defer func() { require.NoError(t, tel.Shutdown(context.Background())) }()
	core, logs := observer.New(zap.InfoLevel)
	set := extensiontest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	set.Logger = zap.New(core)
	cfg := createDefaultConfig().(*Config)
	cfg.Directory.Path = root
	cfg.Retention.Interval = 10 * time.Millisecond
	e, err := newExtension(set, cfg)
	require.NoError(t, err)

	// The policy has stood for long, as its note says.
	cfgOff := *cfg
	cfgOff.Retention.Interval = 0
	e.cfg = &cfgOff
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	past := time.Now().Add(-40 * 24 * time.Hour)
	s := e.sweeper(e.Store(), nil)
	s.Now = func() time.Time { return past }
	_, err = s.Sweep(t.Context())
	require.NoError(t, err)
	td := storetest.AgentRun(t, traceID, past, storetest.Call{Tool: "search", Args: "{}"})
	_, err = e.Store().PutFragment(t.Context(), ClassFailures, traceID, td)
	require.NoError(t, err)
	require.NoError(t, e.Shutdown(t.Context()))
	files, err := filepath.Glob(filepath.Join(root, "tapes", "*", "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.Chtimes(files[0], past, past))
	info, err := os.Stat(files[0])
	require.NoError(t, err)

	e, err = newExtension(set, cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	require.Eventually(t, func() bool {
		_, err := os.Stat(files[0])
		return os.IsNotExist(err) && logs.FilterMessage("Audit").Len() == 1
	}, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, e.Shutdown(t.Context()))
	line := logs.FilterMessage("Audit").All()[0].ContextMap()
	assert.Equal(t, "expire", line["action"])
	assert.Equal(t, "retention", line["subject"])
	assert.Equal(t, traceID, line["trace_id"])
	assert.Equal(t, "older than 30d (class failures)", line["reason"])
	at := attribute.NewSet(attribute.String("kind", "tape"), attribute.String("class", ClassFailures))
	metadatatest.AssertEqualTapeStoreRemoved(t, tel, []metricdata.DataPoint[int64]{{Value: 1, Attributes: at}}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualTapeStoreRemovedBytes(t, tel, []metricdata.DataPoint[int64]{{Value: info.Size(), Attributes: at}}, metricdatatest.IgnoreTimestamp())
	assert.Zero(t, logs.FilterLevelExact(zap.WarnLevel).Len())
}
