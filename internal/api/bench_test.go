package api_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// others is how many tapes lie beside the one that is pulled from a directory.
var others = flag.Int("others", 1000, "tapes beside the one that is pulled")

// longRun is a run whose tape is about size bytes long, in text that compresses
// like the talk of agents does. Answers over threshold bytes become bodies.
func longRun(tb testing.TB, id string, size, answer int) ptrace.Traces {
	tb.Helper()
	var calls []storetest.Call
	for n := 0; len(calls)*(answer+400) < size; n++ {
		var text strings.Builder
		// What tools say is now JSON, now prose.
		for line := 0; text.Len() < answer; line++ {
			if n%2 == 0 {
				fmt.Fprintf(&text, `,{"id":%d,"name":"item %d of %d","price":%d.%02d,"stock":%t}`, n*7919+line, line, n, n*line%97, line%100, line%3 == 0)
			} else {
				fmt.Fprintf(&text, "Item %d of order %d is %d days late because of the weather at sea, says the carrier.\n", line, n*7919, n*line%97)
			}
		}
		result := text.String()
		if n%2 == 0 {
			result = "[" + result[1:] + "]"
		}
		calls = append(calls, storetest.Call{Tool: "search", Args: fmt.Sprintf(`{"query":"number %d"}`, n), Result: result})
	}
	td := storetest.AgentRun(tb, id, noon, calls...)
	resource := td.ResourceSpans().At(0)
	resource.Resource().Attributes().PutStr(attr.Redaction, redact.Default().Manifest().Policy)
	attr.PutRow(resource.ScopeSpans().At(0).Spans().At(0).Attributes(),
		decidedRow(id))
	return td
}

func decidedRow(id string) tape.Row {
	return tape.Row{TraceID: id, Outcome: tape.OutcomeFailed, Trigger: tape.TriggerRootEnded, Kept: true, Class: "failures", Decided: noon.Format(time.RFC3339Nano)}
}

// rowsBeside is how many rows the hour of a run has in the index.
const rowsBeside = 1000

// indexRuns adds the rows of runs, and those of others beside them.
func indexRuns(tb testing.TB, st *store.Store, ids ...string) {
	tb.Helper()
	var rows []tape.Row
	for n := range rowsBeside {
		rows = append(rows, decidedRow(fmt.Sprintf("%032x", n+1)))
	}
	for _, id := range ids {
		rows = append(rows, decidedRow(id))
	}
	require.NoError(tb, st.AppendRows(tb.Context(), rows))
	require.NoError(tb, st.Flush(tb.Context(), true))
}

// keepRun stores a run with bodies over the threshold, 0 for none.
func keepRun(tb testing.TB, st *store.Store, id string, td ptrace.Traces, threshold int) {
	tb.Helper()
	_, err := offload.Traces(td, threshold, func(b offload.Body) error {
		return st.PutBlob(tb.Context(), "failures", noon, b.SHA256, b.Data)
	})
	require.NoError(tb, err)
	_, err = st.PutFragment(tb.Context(), "failures", id, td)
	require.NoError(tb, err)
}

// pulls measures GET of a tape, without the network between client and API, and
// reports percentiles beside the mean.
func pulls(b *testing.B, st *store.Store, id string, cacheBytes int) {
	b.Helper()
	handler := api.New(st, api.Options{CacheBytes: cacheBytes})
	var took []time.Duration
	w := &discard{header: http.Header{}}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "/v1/tapes/"+id, nil)
	require.NoError(b, err)
	handler.ServeHTTP(w, r)
	require.Equal(b, http.StatusOK, w.status)
	b.SetBytes(w.n)
	b.ReportAllocs()
	used := userTime()
	for b.Loop() {
		begun := time.Now()
		handler.ServeHTTP(&discard{header: http.Header{}}, r)
		took = append(took, time.Since(begun))
	}
	used = userTime() - used
	slices.Sort(took)
	b.ReportMetric(float64(used.Microseconds())/1000/float64(len(took)), "user-ms")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

type discard struct {
	header http.Header
	status int
	n      int64
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(s int)   { d.status = s }
func (d *discard) Write(p []byte) (int, error) {
	if d.status == 0 {
		d.status = http.StatusOK
	}
	d.n += int64(len(p))
	return io.Discard.Write(p)
}

func BenchmarkPullFromADirectory(b *testing.B) {
	root := b.TempDir()
	d, err := dir.Open(root)
	require.NoError(b, err)
	st, err := store.Open(d, store.Options{})
	require.NoError(b, err)
	b.Cleanup(st.Close)
	// The others are only in the way, so that they need no sync each.
	for n := range *others {
		other := filepath.Join(root, "tapes", "failures", fmt.Sprintf("%032x", n+1))
		require.NoError(b, os.MkdirAll(other, 0o700))
		require.NoError(b, os.WriteFile(filepath.Join(other, strings.Repeat("0", 32)+".otlp.zst"), nil, 0o600))
	}
	keepRun(b, st, kept, longRun(b, kept, 1<<20, 4000), 0)
	keepRun(b, st, pending, longRun(b, pending, 1<<20, 100_000), 64<<10)
	indexRuns(b, st, kept, pending)
	b.Run("1 MB", func(b *testing.B) { pulls(b, st, kept, 0) })
	b.Run("1 MB again", func(b *testing.B) { pulls(b, st, kept, 64<<20) })
	b.Run("1 MB in bodies", func(b *testing.B) { pulls(b, st, pending, 0) })
}

func BenchmarkPullFromABucket(b *testing.B) {
	server := s3test.Start(b)
	backend, err := s3.Open(s3.Config{
		Endpoint: server.URL(), Bucket: s3test.Bucket, PathStyle: true, Credentials: s3test.Credentials(),
	})
	require.NoError(b, err)
	st, err := store.Open(backend, store.Options{})
	require.NoError(b, err)
	b.Cleanup(st.Close)
	keepRun(b, st, kept, longRun(b, kept, 1<<20, 4000), 0)
	keepRun(b, st, pending, longRun(b, pending, 1<<20, 100_000), 64<<10)
	indexRuns(b, st, kept, pending)
	b.Run("1 MB", func(b *testing.B) { pulls(b, st, kept, 0) })
	b.Run("1 MB again", func(b *testing.B) { pulls(b, st, kept, 64<<20) })
	b.Run("1 MB in bodies", func(b *testing.B) { pulls(b, st, pending, 0) })
}
