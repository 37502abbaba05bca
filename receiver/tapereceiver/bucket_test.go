package tapereceiver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/tape"
)

// onBucket is a collector with the extension as it is configured for a bucket.
func onBucket(t *testing.T, server *s3test.Server) *tapestoretest.Host {
	t.Helper()
	factory := tapestore.NewFactory()
	cfg := factory.CreateDefaultConfig()
	conf := confmap.NewFromStringMap(map[string]any{
		"s3": map[string]any{
			"endpoint": server.URL(), "bucket": s3test.Bucket, "path_style": true, "prefix": "team/tapes",
			"credentials": map[string]any{"access_key_id": s3test.AccessKey, "secret_access_key": s3test.SecretKey},
		},
		"index": map[string]any{"directory": t.TempDir()},
	})
	require.NoError(t, cfg.(*tapestore.Config).Unmarshal(conf))
	require.NoError(t, confmap.Validate(cfg))
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.Background())) })
	return &tapestoretest.Host{Extension: ext.(tapestore.Extension)}
}

// One collector writes to a bucket, and the receiver of another reads from it: what is
// there, and then what comes.
func TestRunsAreReadFromABucket(t *testing.T) {
	server := s3test.Start(t)
	writer, reader := onBucket(t, server), onBucket(t, server)
	want := put(t, writer, tape.Row{TraceID: traceID(1), Outcome: "failed", Service: "shop"})
	put(t, writer, tape.Row{TraceID: traceID(2), Outcome: "failed", Service: "bank"})
	require.NoError(t, writer.Store().Flush(t.Context(), false))

	once := &sink{}
	f := start(t, reader, once, quick(func(c *Config) { c.Service = []string{"shop"} }))
	f.waitFor(t, allSent)
	require.Equal(t, []string{traceID(1)}, once.ids())
	wantBytes, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(want)
	require.NoError(t, err)
	gotBytes, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(once.all()[0])
	require.NoError(t, err)
	assert.Equal(t, wantBytes, gotBytes, "with its body")
	f.assertRuns(t, map[string]int64{"sent": 1})

	memory := newRemembering().memory
	for n := 3; n < 5; n++ {
		// Over a restart behind its checkpoint.
		following := &sink{}
		f := start(t, &remembering{reader, memory}, following, quick(checkpointed))
		put(t, writer, tape.Row{TraceID: traceID(n), Outcome: "failed"})
		require.NoError(t, writer.Store().Flush(t.Context(), false))
		following.wait(t, traceID(n))
		require.NoError(t, f.Shutdown(t.Context()))
	}

	ids := &sink{}
	f = start(t, reader, ids, quick(func(c *Config) { c.TraceIDs = []string{traceID(2)} }))
	f.waitFor(t, allSent)
	assert.Equal(t, []string{traceID(2)}, ids.ids())
}
