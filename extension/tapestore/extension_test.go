package tapestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadata"
	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadatatest"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

const traceID = "0102030405060708090a0b0c0d0e0f10"

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func start(t *testing.T, path string) (*storeExtension, *componenttest.Telemetry, *observer.ObservedLogs) {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	core, logs := observer.New(zap.InfoLevel)
	set := extensiontest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	set.Logger = zap.New(core)
	cfg := createDefaultConfig().(*Config)
	cfg.Directory.Path = path
	created, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	e := created.(*storeExtension)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	return e, tel, logs
}

func TestFromHost(t *testing.T) {
	id := component.NewID(metadata.Type)
	e, _, _ := start(t, t.TempDir())
	found, err := FromHost(host{id: e}, id)
	require.NoError(t, err)
	assert.Same(t, e, found)

	stopped, err := newExtension(extensiontest.NewNopSettings(metadata.Type), createDefaultConfig().(*Config))
	require.NoError(t, err)
	other, err := extensiontest.NewNopFactory().Create(t.Context(), extensiontest.NewNopSettings(extensiontest.NopType), nil)
	require.NoError(t, err)
	for want, h := range map[string]host{
		"not among service::extensions": {component.NewIDWithName(metadata.Type, "other"): e},
		"has not started":               {id: stopped},
		"not of type tape_store":        {id: other},
	} {
		_, err := FromHost(h, id)
		require.ErrorIs(t, err, ErrNoStore)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `"tape_store"`)
	}
}

func TestLifecycle(t *testing.T) {
	root := t.TempDir()
	e, _, _ := start(t, root)
	require.NoError(t, e.Store().AppendRows(t.Context(), []tape.Row{{TraceID: traceID, Outcome: "failed"}}))
	require.NoError(t, e.Shutdown(t.Context()))
	again, _, _ := start(t, root)
	row, err := again.Store().Row(t.Context(), traceID)
	require.NoError(t, err)
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
}

func TestStartNamesADirectoryThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cfg := createDefaultConfig().(*Config)
	cfg.Directory.Path = filepath.Join(file, "store")
	e, err := newExtension(extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	err = e.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorContains(t, err, cfg.Directory.Path)
	assert.NotContains(t, err.Error(), "\n")
	require.NoError(t, e.Shutdown(t.Context()), "after a failed start")
	require.NoError(t, e.Shutdown(t.Context()), "twice")
}

func TestClasses(t *testing.T) {
	e, _, _ := start(t, t.TempDir())
	for outcome, want := range map[tape.Outcome]string{
		tape.OutcomeFailed:     "failures",
		tape.OutcomeIncomplete: "failures",
		tape.OutcomeRecovered:  "failures",
		tape.OutcomeSucceeded:  "kept",
		"":                     "kept",
	} {
		got := e.Class(tape.Row{Outcome: outcome})
		assert.Equal(t, want, got)
		require.NoError(t, store.CheckClass(got))
	}
}

func TestPending(t *testing.T) {
	e, _, _ := start(t, t.TempDir())
	assert.False(t, e.Pending(t.Context(), "", traceID))
	one := e.RegisterRuns(pendingRuns(func(id string) bool { return id == traceID }))
	two := e.RegisterRuns(pendingRuns(func(id string) bool { return strings.HasPrefix(id, "ff") }))
	assert.True(t, e.Pending(t.Context(), "", traceID))
	assert.True(t, e.Pending(t.Context(), "", "ff"))
	one()
	one()
	assert.False(t, e.Pending(t.Context(), "", traceID))
	assert.True(t, e.Pending(t.Context(), "", "ff"))
	two()
	assert.False(t, e.Pending(t.Context(), "", "ff"))

	// A source may leave while it is asked.
	var leave func()
	leave = e.RegisterRuns(pendingRuns(func(string) bool { leave(); return true }))
	assert.True(t, e.Pending(t.Context(), "", traceID))
	assert.False(t, e.Pending(t.Context(), "", traceID))
}

// pendingRuns keeps nothing.
type pendingRuns func(traceID string) bool

func (f pendingRuns) Pending(_ context.Context, _, traceID string) bool { return f(traceID) }

func (pendingRuns) Keep(context.Context, string, string) (Kept, error) { return NotThere, nil }

type keptRuns struct {
	kept Kept
	err  error
}

func (keptRuns) Pending(context.Context, string, string) bool { return false }

func (k keptRuns) Keep(context.Context, string, string) (Kept, error) { return k.kept, k.err }

func TestTheBestAnswerOfAllSourcesCounts(t *testing.T) {
	away := errors.New("away")
	for name, c := range map[string]struct {
		sources []keptRuns
		want    Kept
		err     error
	}{
		"nobody":                  {nil, NotThere, nil},
		"nobody has it":           {[]keptRuns{{}, {}}, NotThere, nil},
		"one has it":              {[]keptRuns{{}, {kept: KeptOnceDecided}}, KeptOnceDecided, nil},
		"two have parts of it":    {[]keptRuns{{kept: KeptNow}, {kept: KeptOnceDecided}}, KeptNow, nil},
		"one cannot store it":     {[]keptRuns{{}, {err: away}}, NotThere, away},
		"one cannot, another has": {[]keptRuns{{err: away}, {kept: KeptNow}}, KeptNow, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var r Registry
			for _, s := range c.sources {
				r.RegisterRuns(s)
			}
			got, err := r.Keep(context.Background(), "", traceID)
			assert.Equal(t, c.want, got)
			require.ErrorIs(t, err, c.err)
		})
	}
}

func TestOperationsAreCounted(t *testing.T) {
	root := t.TempDir()
	e, tel, logs := start(t, root)
	st := e.Store()
	require.NoError(t, st.AppendRows(t.Context(), []tape.Row{{TraceID: traceID, Outcome: "failed"}}))
	_, err := st.Row(t.Context(), traceID)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "index", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)

	count := func(operation, outcome string, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(
			attribute.String("operation", operation), attribute.String("outcome", outcome))}
	}
	// Listed are the dates and the files of one; read is the journal, first what it adds
	// to the ids that are remembered and then the row.
	metadatatest.AssertEqualTapeStoreOperations(t, tel, []metricdata.DataPoint[int64]{
		count("append", "ok", 1), count("list", "ok", 2), count("get", "ok", 2),
	}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualTapeStoreBytes(t, tel, []metricdata.DataPoint[int64]{
		{Value: info.Size(), Attributes: attribute.NewSet(attribute.String("direction", "written"))},
		{Value: 2 * info.Size(), Attributes: attribute.NewSet(attribute.String("direction", "read"))},
	}, metricdatatest.IgnoreTimestamp())

	require.NoError(t, os.WriteFile(files[0], []byte("torn"), 0o600))
	_, err = st.Row(t.Context(), traceID)
	require.ErrorIs(t, err, store.ErrNotFound)
	metadatatest.AssertEqualTapeStoreDamaged(t, tel, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
	require.Equal(t, 1, logs.Len())
	assert.Contains(t, logs.All()[0].ContextMap()["object"], ".jsonl")

	require.NoError(t, e.Shutdown(t.Context()))
	assert.Nil(t, e.Store())
}
