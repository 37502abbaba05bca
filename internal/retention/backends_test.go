package retention

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// sweepAll fills a store, in which unfinished writes were left, and sweeps it two
// months later.
func sweepAll(t *testing.T, backend store.Backend, leftovers Leftovers) {
	w := newWorld(t)
	w.now = time.Now()
	st, err := store.Open(backend, store.Options{Now: w.clock})
	require.NoError(t, err)
	defer st.Close()
	w.store = st
	acme, err := st.Tenant("acme")
	require.NoError(t, err)
	for n := range 3 {
		w.runIn(st, n, tape.Row{Outcome: tape.OutcomeFailed}, body("shared"))
		w.runIn(acme, n, tape.Row{Outcome: tape.OutcomeSucceeded}, body("other"))
	}
	w.summary(9)
	pinned := id(0)
	_, err = st.Pin(t.Context(), pinned, Bodies)
	require.NoError(t, err)
	require.NoError(t, st.Flush(t.Context(), true))
	require.NoError(t, acme.Flush(t.Context(), true))
	w.sweep()
	w.wait(60 * day)
	s := w.sweeper()
	s.Leftovers = leftovers
	planned, err := s.Plan(t.Context(), nil, nil)
	require.NoError(t, err)
	done, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, planned.Items, done.Items)
	assert.Equal(t, planned.Bytes, done.Bytes)
	// Of the rows that of the pinned run stays.
	assert.Equal(t, map[Kind]int{KindTape: 6, KindBlob: 2, KindRows: 6, KindLeftover: 1}, done.Items)
	assert.True(t, w.plays(pinned))
	assert.True(t, w.listed(pinned))
	for _, folder := range []string{"tapes/failures/", "blobs/failures/", "tenants/acme/tapes/", "tenants/acme/blobs/", "tenants/acme/index/"} {
		assert.Empty(t, storetest.List(t, backend, folder))
	}
	again, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Empty(t, again.Items)
}

func TestSweepOfADirectory(t *testing.T) {
	root := t.TempDir()
	backend, err := dir.Open(root)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".tmp", "put-1"), []byte("torn"), 0o600))
	sweepAll(t, backend, backend)
}

func TestSweepOfABucket(t *testing.T) {
	server := s3test.Start(t)
	backend, err := s3.Open(s3.Config{
		Endpoint: server.URL(), Bucket: s3test.Bucket, Prefix: "team/a", PathStyle: true, Credentials: s3test.Credentials(),
	})
	require.NoError(t, err)
	core := minio.Core{Client: server.Client()}
	_, err = core.NewMultipartUpload(t.Context(), s3test.Bucket, "team/a/blobs/failures/2026-W20/x.zst", minio.PutObjectOptions{})
	require.NoError(t, err)
	sweepAll(t, backend, backend)
}

var benchTapes = flag.Int("tapes", 10_000, "how many tapes the store of the benchmark has on disk")

func BenchmarkPlanDirectory(b *testing.B) {
	root := b.TempDir()
	backend, err := dir.Open(root)
	require.NoError(b, err)
	w := newWorld(b)
	w.now = time.Now()
	w.store, err = store.Open(backend, store.Options{Now: w.clock})
	require.NoError(b, err)
	data := slices.Repeat([]byte{1}, 4096)
	for n := range *benchTapes {
		folder := filepath.Join(root, "tapes", ClassFailures, id(n))
		require.NoError(b, os.MkdirAll(folder, 0o700))
		require.NoError(b, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%032x.otlp.zst", n)), data, 0o600))
	}
	w.stand()
	w.wait(60 * day)
	for b.Loop() {
		report, err := w.sweeper().Plan(context.Background(), nil, nil)
		require.NoError(b, err)
		require.Equal(b, *benchTapes, report.Items[KindTape])
	}
}
