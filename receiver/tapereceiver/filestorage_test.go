package tapereceiver

import (
	"maps"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
)

type onDisk struct {
	*tapestoretest.Host
	storage extension.Extension
}

func (h *onDisk) GetExtensions() map[component.ID]component.Component {
	out := maps.Clone(h.Host.GetExtensions())
	out[component.MustNewID("file_storage")] = h.storage
	return out
}

// The checkpoint in the storage extension of the distribution, over a restart of the
// whole collector.
func TestTheCheckpointOnDisk(t *testing.T) {
	store, dir := tapestoretest.NewHost(), t.TempDir()
	for n := range 3 {
		factory := filestorage.NewFactory()
		cfg := factory.CreateDefaultConfig().(*filestorage.Config)
		cfg.Directory = dir
		ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
		require.NoError(t, err)
		h := &onDisk{store, ext}
		require.NoError(t, ext.Start(t.Context(), h))
		if n > 0 {
			put(t, store, tape.Row{TraceID: traceID(n), Outcome: "failed"})
		}
		s := &sink{}
		f := start(t, h, s, quick(checkpointed))
		if n > 0 {
			s.wait(t, traceID(n))
		}
		require.NoError(t, f.Shutdown(t.Context()))
		require.NoError(t, ext.Shutdown(t.Context()))
	}
}
