package tapeprocessor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadatatest"
)

// A file of the spool that is gone says nothing any more; what was in it is known all
// the same, in the log and in a metric.
func TestSpansOfAMissingFileAreCountedAndLogged(t *testing.T) {
	for name, c := range map[string]struct {
		hurt func(file string) error
		want int64
	}{
		"whole":      {hurt: func(string) error { return nil }},
		"cut off":    {hurt: func(file string) error { return os.Truncate(file, 128) }, want: 6},
		"not there":  {hurt: os.Remove, want: 6},
		"a bad byte": {hurt: func(file string) error { return flip(file, -40) }, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, down := onDisk(t), consumertest.NewErr(errors.New("down"))
			p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, down)
			require.NoError(t, err)
			require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
			for run := range byte(3) {
				require.NoError(t, p.ConsumeTraces(context.Background(), failedRun(run+1, 10)))
			}
			require.NoError(t, p.Shutdown(context.Background()))
			files, err := filepath.Glob(filepath.Join(cfg.Spool.Directory, "*.segment"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			require.NoError(t, c.hurt(files[0]))

			core, logs := observer.New(zap.WarnLevel)
			tel := componenttest.NewTelemetry()
			defer func() { require.NoError(t, tel.Shutdown(context.Background())) }()
			set := processortest.NewNopSettings(metadata.Type)
			set.TelemetrySettings = tel.NewTelemetrySettings()
			set.Logger = zap.New(core)
			p, err = NewFactory().CreateTraces(context.Background(), set, cfg, down)
			require.NoError(t, err)
			require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
			defer func() { require.NoError(t, p.Shutdown(context.Background())) }()
			metadatatest.AssertEqualProcessorTapeDamagedSpans(t, tel, []metricdata.DataPoint[int64]{{Value: c.want}}, metricdatatest.IgnoreTimestamp())
			found := logs.FilterMessageSnippet("Parts of the spool are damaged").All()
			if c.want == 0 {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Equal(t, c.want, found[0].ContextMap()["lost_spans_and_log_records"])
			assert.Equal(t, cfg.Spool.Directory, found[0].ContextMap()["directory"])
		})
	}
}

// flip changes a byte, counted from the end.
func flip(file string, at int) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b[len(b)+at] ^= 0x5a
	return os.WriteFile(file, b, 0o600)
}
