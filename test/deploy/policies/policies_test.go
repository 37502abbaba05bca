// Package policies runs what a store does against a server that refuses what the
// policies of deploy/policies do not allow, so that they allow what the code asks for and
// nothing else.
package policies

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

const dir = "../../../deploy/policies/"

func open(t *testing.T, server *s3test.Server, transport http.RoundTripper, prefix string) *s3.Backend {
	t.Helper()
	b, err := s3.Open(s3.Config{
		Endpoint: server.URL(), Bucket: s3test.Bucket, Prefix: prefix, PathStyle: true, Credentials: s3test.Credentials(),
		Timeout: 10 * time.Second, PartSize: 5 << 20, Transport: transport,
	})
	require.NoError(t, err)
	return b
}

// everything is what collectors do with a bucket.
func everything(t *testing.T, server *s3test.Server, g *guard) {
	n := 0
	storetest.Backend(t, func(t *testing.T) store.Backend {
		n++
		return open(t, server, g, fmt.Sprint("store", n))
	})
	b := open(t, server, g, "big")
	require.NoError(t, b.Ping(t.Context()))
	require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", bytes.Repeat([]byte("x"), 6<<20)))
	core := minio.Core{Client: server.Client()}
	_, err := core.NewMultipartUpload(t.Context(), s3test.Bucket, "big/blobs/a/2.zst", minio.PutObjectOptions{})
	require.NoError(t, err)
	left := 0
	for object, err := range b.Leftovers(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, b.RemoveLeftover(t.Context(), object.Name))
		left++
	}
	assert.Equal(t, 1, left)
}

func TestCollectorsDoWhatTheirPolicyAllows(t *testing.T) {
	server := s3test.Start(t)
	g := newGuard(t, "collector.json")
	everything(t, server, g)
	g.onlyWhatIsAllowed(t)
}

func TestReadersReadAndNothingElse(t *testing.T) {
	server := s3test.Start(t)
	require.NoError(t, open(t, server, nil, "").Put(t.Context(), "tapes/failures/a/1.zst", []byte("one")))
	g := newGuard(t, "reader.json")
	b := open(t, server, g, "")
	require.NoError(t, b.Ping(t.Context()))
	assert.Equal(t, "one", storetest.Read(t, b, "tapes/failures/a/1.zst"))
	assert.Len(t, storetest.List(t, b, "tapes/"), 1)
	folders, err := b.Folders(t.Context(), "tapes/")
	require.NoError(t, err)
	assert.Equal(t, []string{"failures"}, folders)
	g.onlyWhatIsAllowed(t)
	require.ErrorContains(t, b.Put(t.Context(), "tapes/failures/a/2.zst", []byte("two")), "Access Denied")
	require.Error(t, b.Delete(t.Context(), "tapes/failures/a/1.zst"))
}

func TestRetentionIsAppliedByItsPolicy(t *testing.T) {
	server := s3test.Start(t)
	g := newGuard(t, "retention.json")
	everything(t, server, g)
	_, err := open(t, server, g, "").SetLifecycle(t.Context(), []s3.LifecycleRule{{Name: "tapes", Folder: "tapes/failures/", Days: 30}})
	require.NoError(t, err)
	g.onlyWhatIsAllowed(t)
}
