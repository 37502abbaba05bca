package tapeprocessor

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
)

// Whoever asks for one tenant neither learns of the open runs of another nor keeps
// them.
func TestAnOpenRunIsOfItsTenantAlone(t *testing.T) {
	factory := tapestore.NewFactory()
	stored := factory.CreateDefaultConfig().(*tapestore.Config)
	stored.Directory.Path = t.TempDir()
	stored.Translation.TenantAttribute = "tenant.id"
	created, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), stored)
	require.NoError(t, err)
	require.NoError(t, created.Start(t.Context(), componenttest.NewNopHost()))
	ext := created.(tapestore.Extension)
	id := component.NewID(factory.Type())

	cfg := fastConfig()
	cfg.RootSettle = time.Minute
	cfg.Storage = &id
	p, err := NewFactory().CreateTraces(t.Context(), processortest.NewNopSettings(metadata.Type), cfg, new(consumertest.TracesSink))
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), host{id: created}))
	td := failedRun(7, 10)
	td.ResourceSpans().At(0).Resource().Attributes().PutStr("tenant.id", "blue")
	require.NoError(t, p.ConsumeTraces(t.Context(), td))

	run := pcommon.TraceID{7}.String()
	for _, other := range []string{"", "red"} {
		assert.False(t, ext.Pending(t.Context(), other, run))
		kept, err := ext.Keep(t.Context(), other, run)
		require.NoError(t, err)
		assert.Equal(t, tapestore.NotThere, kept, "tenant %q", other)
	}
	assert.True(t, ext.Pending(t.Context(), "blue", run))
	kept, err := ext.Keep(t.Context(), "blue", run)
	require.NoError(t, err)
	assert.Equal(t, tapestore.KeptOnceDecided, kept)

	require.NoError(t, p.Shutdown(context.Background()))
	require.NoError(t, created.Shutdown(context.Background()))
}
