package rebuild_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// bucket is a store behind a proxy that sees each request.
func bucket(t *testing.T, server *s3test.Server, prefix string) (*store.Store, *s3test.Proxy) {
	t.Helper()
	proxy := s3test.NewProxy(t, server)
	backend, err := s3.Open(s3.Config{
		Endpoint: proxy.URL, Bucket: s3test.Bucket, Prefix: prefix, PathStyle: true,
		Credentials: s3test.Credentials(), Timeout: 5 * time.Second, MaxAttempts: 2,
	})
	require.NoError(t, err)
	st, err := store.Open(backend, store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st, proxy
}

// decidedRun is a run as a processor sends it, with its row, and with as many
// bodies as there are results over 1000 bytes.
func decidedRun(t *testing.T, id string, decided time.Time, results ...string) ptrace.Traces {
	t.Helper()
	var calls []storetest.Call
	for i, result := range results {
		calls = append(calls, storetest.Call{Tool: fmt.Sprintf("tool%d", i), Args: "{}", Result: result})
	}
	td := storetest.AgentRun(t, id, decided, calls...)
	rs := td.ResourceSpans().At(0)
	rs.Resource().Attributes().PutStr(attr.Redaction, "v1:of the test")
	attr.PutRow(rs.ScopeSpans().At(0).Spans().At(0).Attributes(),
		tape.Row{TraceID: id, Outcome: tape.OutcomeFailed, Trigger: tape.TriggerRootEnded, Decided: decided.Format(time.RFC3339Nano)})
	return td
}

func putRun(t *testing.T, st *store.Store, class, id string, decided time.Time, td ptrace.Traces) error {
	t.Helper()
	if _, err := offload.Traces(td, 1000, func(b offload.Body) error {
		return st.PutBlob(t.Context(), class, decided, b.SHA256, b.Data)
	}); err != nil {
		return err
	}
	_, err := st.PutFragment(t.Context(), class, id, td)
	return err
}

func count(requests []string, prefix string) int {
	n := 0
	for _, r := range requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

// The requests of a pull do not depend on how much else is stored: one list for
// each class, one get for each fragment and for each body.
func TestAPullFromABucketCostsFewRequests(t *testing.T) {
	const id = "0102030405060708090a0b0c0d0e0f10"
	decided := time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)
	server := s3test.Start(t)
	st, proxy := bucket(t, server, "few")
	results := []string{strings.Repeat("a", 2000), strings.Repeat("b", 2000), strings.Repeat("c", 2000), "{}"}
	require.NoError(t, putRun(t, st, "failures", id, decided, decidedRun(t, id, decided, results...)))
	// Other classes and weeks are there too.
	for i, class := range []string{"kept", "audits"} {
		other := fmt.Sprintf("%032x", i+1)
		for week := range 3 {
			at := decided.AddDate(0, 0, 7*week)
			require.NoError(t, putRun(t, st, class, other, at, decidedRun(t, other, at, strings.Repeat("x", 2000+week))))
		}
	}
	pull := func() []string {
		proxy.Requests()
		tp, err := rebuild.Tape(t.Context(), st, id, rebuild.Options{})
		require.NoError(t, err)
		require.Len(t, tp.Records, 4)
		assert.Empty(t, tp.Manifest.Gaps)
		return proxy.Requests()
	}
	cold := pull()
	assert.Equal(t, 1+3, count(cold, "LIST few/tapes/"), "the classes are listed once: %v", cold)
	assert.Equal(t, 1, count(cold, "LIST few/index/"), "one day of the index: %v", cold)
	warm := pull()
	assert.Equal(t, 3, count(warm, "LIST "), "one for each class: %v", warm)
	assert.Equal(t, 1, count(warm, "GET /tapes/few/tapes/"), "one fragment: %v", warm)
	assert.Equal(t, 3, count(warm, "GET /tapes/few/blobs/"), "each body once: %v", warm)
	assert.LessOrEqual(t, len(warm), 3+1+3+1, "beyond that one get for the policy: %v", warm)
	slices.Sort(warm)
	assert.Equal(t, warm, slices.Compact(slices.Clone(warm)), "no request twice")
}

// A body that is not where the row says is still found.
func TestABodyOfAnotherWeekIsFound(t *testing.T) {
	const id = "0102030405060708090a0b0c0d0e0f10"
	decided := time.Date(2026, 1, 4, 23, 59, 59, 0, time.UTC)
	st, err := store.Open(storetest.NewMemory(), store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	td := decidedRun(t, id, decided, strings.Repeat("a", 2000))
	_, err = offload.Traces(td, 1000, func(b offload.Body) error {
		return st.PutBlob(t.Context(), "elsewhere", decided.Add(time.Minute), b.SHA256, b.Data)
	})
	require.NoError(t, err)
	_, err = st.PutFragment(t.Context(), "failures", id, td)
	require.NoError(t, err)
	tp, err := rebuild.Tape(t.Context(), st, id, rebuild.Options{})
	require.NoError(t, err)
	assert.Empty(t, tp.Manifest.Gaps)
}
