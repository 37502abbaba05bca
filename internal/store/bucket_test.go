package store_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/tape"
)

// requests counts what was asked of a bucket, by method.
type requests struct {
	mu sync.Mutex
	n  map[string]int
}

func (r *requests) see(q s3.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[q.Method]++
}

// take gives the counts since the last call.
func (r *requests) take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.n
	r.n = map[string]int{}
	return n
}

func bucket(t *testing.T, server *s3test.Server, seen *requests) store.Backend {
	t.Helper()
	b, err := s3.Open(s3.Config{
		Endpoint: server.URL(), Bucket: s3test.Bucket, PathStyle: true, Credentials: s3test.Credentials(),
		Timeout: 5 * time.Second, Observe: seen.see,
	})
	require.NoError(t, err)
	return b
}

func TestTheIndexOfABucketAndItsRequests(t *testing.T) {
	seen := &requests{n: map[string]int{}}
	b := bucket(t, s3test.Start(t), seen)
	c := &clock{}
	var collectors []*store.Store
	for range 2 {
		s, damaged := open(t, b, c.opt, journalIn(openDir(t, t.TempDir())))
		t.Cleanup(func() { assert.Empty(t, damaged.list) })
		collectors = append(collectors, s)
	}
	for n := range 6 {
		s := collectors[n%2]
		_, err := s.PutFragment(t.Context(), "failures", traceID(n), spans(t, traceID(n), "root"))
		require.NoError(t, err)
		require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: traceID(n), Outcome: "failed", Kept: true, Decided: at(time.Duration(n) * time.Second)}}))
	}
	assert.Equal(t, map[string]int{http.MethodPut: 6}, seen.take(), "a run is one request")
	for _, s := range collectors {
		require.NoError(t, s.Flush(t.Context(), true))
	}
	assert.Equal(t, map[string]int{http.MethodPut: 2}, seen.take(), "the rows of an interval are one more")

	reader, _ := open(t, b, c.opt)
	assert.Len(t, list(t, reader, store.Query{}), 6)
	assert.Equal(t, map[string]int{http.MethodGet: 4}, seen.take(), "days, files of the day, and each file once")
	assert.Len(t, list(t, reader, store.Query{}), 6)
	assert.Equal(t, map[string]int{http.MethodGet: 2}, seen.take(), "files are remembered")
	_, err := reader.Row(t.Context(), idB)
	require.ErrorIs(t, err, store.ErrNotFound)
	assert.Equal(t, map[string]int{http.MethodGet: 2}, seen.take())

	c.set(24 * time.Hour)
	for _, s := range collectors {
		require.NoError(t, s.Compact(t.Context()))
	}
	assert.Equal(t, 1, files(t, b, ".parquet"))
	assert.Len(t, list(t, reader, store.Query{}), 6)
	row, err := reader.Row(t.Context(), traceID(3))
	require.NoError(t, err)
	assert.True(t, row.Kept)
}
