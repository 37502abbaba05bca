package s3_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

// ordinaryRun is a failed run of 42 KB of OTLP, in text that compresses like the
// talk of agents does.
func ordinaryRun(tb testing.TB, id string) ptrace.Traces {
	tb.Helper()
	var calls []storetest.Call
	for n := range 30 {
		var text strings.Builder
		for line := 0; text.Len() < 1050; line++ {
			fmt.Fprintf(&text, `{"id":%d,"name":"item %d of %d","price":%d.%02d,"stock":%t} `, n*7919+line, line, n, n*line%97, line%100, line%3 == 0)
		}
		calls = append(calls, storetest.Call{Tool: "search", Args: fmt.Sprintf(`{"query":"number %d"}`, n), Result: text.String()})
	}
	calls = append(calls, storetest.Call{Tool: "pay", Args: "{}", Error: "declined"})
	return storetest.AgentRun(tb, id, time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC), calls...)
}

// sinkStore is a store whose bucket takes everything and keeps nothing.
func sinkStore(tb testing.TB) *store.Store {
	tb.Helper()
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"x"`)
	}))
	tb.Cleanup(sink.Close)
	b, err := s3.Open(s3.Config{Endpoint: sink.URL, Bucket: "sink", PathStyle: true, Credentials: s3test.Credentials()})
	require.NoError(tb, err)
	st, err := store.Open(b, store.Options{})
	require.NoError(tb, err)
	tb.Cleanup(st.Close)
	return st
}

// Upload with encoding, hash, compression, signature and the loopback; what the
// sink itself allocates is counted too.
func BenchmarkUpload(b *testing.B) {
	st := sinkStore(b)
	td := ordinaryRun(b, strings.Repeat("1", 32))
	b.SetBytes(int64((&ptrace.ProtoMarshaler{}).TracesSize(td)))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if _, err := st.PutFragment(b.Context(), "failures", fmt.Sprintf("%032x", n+1), td); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAnUploadAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget, and forgetting allocates")
	}
	st := sinkStore(t)
	td := ordinaryRun(t, strings.Repeat("1", 32))
	size := (&ptrace.ProtoMarshaler{}).TracesSize(td)
	assert.InDelta(t, 42<<10, size, 3<<10)
	n := 0
	put := func() {
		n++
		_, err := st.PutFragment(t.Context(), "failures", fmt.Sprintf("%032x", n), td)
		require.NoError(t, err)
	}
	for range 10 {
		put()
	}
	const times = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		put()
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/times, uint64(300<<10), "bytes an upload, those of the sink included")
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// An ordinary failed run is one request: nothing is asked before or after.
func TestAnOrdinaryRunIsOnePut(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	st, err := store.Open(open(t, config(proxy.URL)), store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	proxy.Requests()
	_, err = st.PutFragment(t.Context(), "failures", strings.Repeat("1", 32), ordinaryRun(t, strings.Repeat("1", 32)))
	require.NoError(t, err)
	seen := proxy.Requests()
	require.Len(t, seen, 1)
	assert.Contains(t, seen[0], "PUT /tapes/tapes/failures/")
	// A body that many runs share is sent by the first.
	body := []byte(strings.Repeat("the system prompt ", 5000))
	for range 10 {
		require.NoError(t, st.PutBlob(t.Context(), "failures", time.Now(), digest(body), body))
	}
	assert.Len(t, proxy.Requests(), 1)
}
