package tapeexporter

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadata"
	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

var (
	storeID   = component.MustNewID("tape_store")
	storageID = component.MustNewID("file_storage")
)

// collector is the exporter with a store in a bucket and a queue on disk.
type collector struct {
	exporter.Traces
	exts map[component.ID]component.Component
}

func (c *collector) GetExtensions() map[component.ID]component.Component { return c.exts }

// Store is the store of the collector.
func (c *collector) Store() *store.Store { return c.exts[storeID].(tapestore.Extension).Store() }

func startCollector(t *testing.T, server *s3test.Server, queue string) *collector {
	t.Helper()
	stores := tapestore.NewFactory()
	storeCfg := stores.CreateDefaultConfig().(*tapestore.Config)
	storeCfg.Directory = tapestore.DirectoryConfig{}
	bucket := storeCfg.S3.GetOrInsertDefault()
	bucket.Endpoint, bucket.Bucket, bucket.PathStyle = server.URL(), s3test.Bucket, true
	bucket.Credentials.AccessKeyID, bucket.Credentials.SecretAccessKey = s3test.AccessKey, configopaque.String(s3test.SecretKey)
	bucket.Timeout, bucket.MaxAttempts = 2*time.Second, 1
	storeCfg.Index.Directory = filepath.Join(queue, "index")
	storages := filestorage.NewFactory()
	storageCfg := storages.CreateDefaultConfig().(*filestorage.Config)
	storageCfg.Directory = queue

	c := &collector{exts: map[component.ID]component.Component{}}
	for id, of := range map[component.ID]struct {
		factory extension.Factory
		cfg     component.Config
	}{storeID: {stores, storeCfg}, storageID: {storages, storageCfg}} {
		set := extensiontest.NewNopSettings(of.factory.Type())
		set.ID = id
		ext, err := of.factory.Create(t.Context(), set, of.cfg)
		require.NoError(t, err)
		require.NoError(t, ext.Start(t.Context(), c))
		c.exts[id] = ext
	}

	cfg := createDefaultConfig().(*Config)
	cfg.HTTP = configoptional.None[confighttp.ServerConfig]()
	cfg.RetryConfig.InitialInterval = 20 * time.Millisecond
	cfg.RetryConfig.MaxInterval = 100 * time.Millisecond
	q := cfg.QueueConfig.Get()
	q.StorageID, q.WaitForResult = &storageID, false
	var err error
	set := exportertest.NewNopSettings(metadata.Type)
	set.ID = component.MustNewID("tape")
	c.Traces, err = NewFactory().CreateTraces(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context(), c))
	return c
}

func (c *collector) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, c.Shutdown(context.Background()))
	for _, id := range []component.ID{storeID, storageID} {
		require.NoError(t, c.exts[id].Shutdown(context.Background()))
	}
}

// The bucket is away while runs come in, and the collector is restarted while it is.
func TestAnOutageOfTheBucketLosesNothing(t *testing.T) {
	server := s3test.Start(t)
	queue := t.TempDir()
	server.Stop()
	ids := make([]string, 12)
	for i := range ids {
		ids[i] = fmt.Sprintf("%032x", i+1)
	}
	c := startCollector(t, server, queue)
	for _, id := range ids[:6] {
		require.NoError(t, c.ConsumeTraces(t.Context(), storetest.AgentRun(t, id, time.Now(), good, bad)))
	}
	time.Sleep(200 * time.Millisecond)
	c.stop(t)
	c = startCollector(t, server, queue)
	for _, id := range ids[6:] {
		require.NoError(t, c.ConsumeTraces(t.Context(), storetest.AgentRun(t, id, time.Now(), good, bad)))
	}
	server.Run()
	st := c.Store()
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		for _, id := range ids {
			tp, err := rebuild.Tape(t.Context(), st, id, rebuild.Options{})
			require.NoError(collect, err)
			assert.Len(collect, tp.Records, 2)
		}
		page, err := st.Rows(t.Context(), store.Query{})
		require.NoError(collect, err)
		assert.Len(collect, page.Rows, len(ids))
	}, 2*time.Minute, 100*time.Millisecond) // The pauses between attempts have grown while it was away.
	c.stop(t)
	for _, key := range server.Keys() {
		assert.NotContains(t, key, ".tmp")
	}
}

// tenantHost has a store whose runs have tenants.
type tenantHost struct{ *tapestoretest.Host }

func (h *tenantHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{storeID: &tenantStore{h.Extension}}
}

type tenantStore struct{ tapestore.Extension }

func (*tenantStore) Translation() dialect.Options {
	cfg := dialect.DefaultConfig()
	cfg.TenantAttribute = "tenant.id"
	return dialect.Options{Config: cfg}
}

func TestBatchesDoNotMixTenants(t *testing.T) {
	cfg := plain()
	cfg.HTTP = configoptional.None[confighttp.ServerConfig]()
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer = exporterhelper.RequestSizerTypeItems
	queue.QueueSize = 10_000
	queue.Batch = configoptional.Some(exporterhelper.BatchConfig{FlushTimeout: time.Minute, MinSize: 24, Sizer: exporterhelper.RequestSizerTypeItems})
	cfg.QueueConfig = configoptional.Some(queue)
	host := &tenantHost{tapestoretest.NewHost()}
	set := exportertest.NewNopSettings(metadata.Type)
	e, err := NewFactory().CreateTraces(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), host))
	tenants := []string{"blue", "red", "green"}
	for n := range 4 {
		for _, tenant := range tenants {
			td := storetest.AgentRun(t, fmt.Sprintf("%032x", n+1), noon, storetest.Call{Tool: "of_" + tenant, Args: "{}", Result: "{}"})
			td.ResourceSpans().At(0).Resource().Attributes().PutStr("tenant.id", tenant)
			require.NoError(t, e.ConsumeTraces(t.Context(), td))
		}
	}
	require.NoError(t, e.Shutdown(context.Background()))
	var prefixes []string
	for _, name := range host.Backend.Names() {
		if parts := strings.Split(name, "/"); parts[0] == "tenants" {
			prefixes = append(prefixes, parts[1])
		} else {
			assert.Equal(t, "policies", parts[0], "only the operator's rules are outside: %s", name)
		}
	}
	assert.Equal(t, slices.Sorted(slices.Values(tenants)), slices.Compact(slices.Sorted(slices.Values(prefixes))))
	for _, tenant := range tenants {
		st, err := host.Store().Tenant(tenant)
		require.NoError(t, err)
		for n := range 4 {
			run, err := st.Trace(t.Context(), fmt.Sprintf("%032x", n+1))
			require.NoError(t, err)
			eachSpan(run.Traces, func(span ptrace.Span) {
				if v, ok := span.Attributes().Get("gen_ai.tool.name"); ok {
					assert.Equal(t, "of_"+tenant, v.Str())
				}
			})
		}
		page, err := st.Rows(t.Context(), store.Query{})
		require.NoError(t, err)
		assert.Len(t, page.Rows, 4)
	}
}

func eachSpan(td ptrace.Traces, fn func(ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				fn(span)
			}
		}
	}
}
