// Package policies runs what a store does against a server that refuses what the
// policies of deploy/policies do not allow, so that they allow what the code asks for and
// nothing else.
package policies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// guard stands where the network begins and refuses what a policy does not allow.
type guard struct {
	allowed map[string]bool

	mu        sync.Mutex
	used      map[string]bool
	refused   []string
	lifecycle []byte
}

// newGuard reads a policy. Actions on the bucket and on its objects must stand in
// statements about these.
func newGuard(t *testing.T, file string) *guard {
	t.Helper()
	var policy struct {
		Version   string
		Statement []struct {
			Effect, Resource string
			Action           json.RawMessage
		}
	}
	text, err := os.ReadFile(dir + file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &policy))
	require.Equal(t, "2012-10-17", policy.Version)
	g := &guard{allowed: map[string]bool{}, used: map[string]bool{}}
	for _, s := range policy.Statement {
		require.Equal(t, "Allow", s.Effect)
		var actions []string
		if json.Unmarshal(s.Action, &actions) != nil {
			var one string
			require.NoError(t, json.Unmarshal(s.Action, &one))
			actions = []string{one}
		}
		require.Contains(t, []string{"arn:aws:s3:::BUCKET", "arn:aws:s3:::BUCKET/*"}, s.Resource)
		_, objects := strings.CutSuffix(s.Resource, "/*")
		for _, a := range actions {
			assert.Equal(t, objects, slices.Contains(ofObjects, a), "%s is allowed on %s", a, s.Resource)
			g.allowed[a] = true
		}
	}
	return g
}

var ofObjects = []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}

// action is what a request needs to be allowed, by the service authorization reference
// of Amazon S3.
func action(r *http.Request) string {
	query := r.URL.Query()
	has := func(name string) bool { return query.Has(name) }
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	object := key != ""
	switch {
	case !object && has("lifecycle") && r.Method == http.MethodGet:
		return "s3:GetLifecycleConfiguration"
	case !object && has("lifecycle"):
		return "s3:PutLifecycleConfiguration"
	case !object && has("uploads"):
		return "s3:ListBucketMultipartUploads"
	case !object && (has("list-type") || r.Method == http.MethodHead):
		return "s3:ListBucket"
	case object && r.Method == http.MethodDelete && has("uploadId"):
		return "s3:AbortMultipartUpload"
	case object && r.Method == http.MethodGet && has("uploadId"):
		return "s3:ListMultipartUploadParts"
	case object && r.Method == http.MethodDelete:
		return "s3:DeleteObject"
	case object && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return "s3:GetObject"
	case object && (r.Method == http.MethodPut || r.Method == http.MethodPost):
		return "s3:PutObject"
	}
	return fmt.Sprintf("unknown: %s %s", r.Method, r.URL.RequestURI())
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	a := action(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.allowed[a] {
		g.refused = append(g.refused, a)
		return answer(r, http.StatusForbidden, "<Error><Code>AccessDenied</Code></Error>"), nil
	}
	g.used[a] = true
	if !r.URL.Query().Has("lifecycle") {
		g.mu.Unlock()
		defer g.mu.Lock()
		return http.DefaultTransport.RoundTrip(r)
	}
	// The server of the test has no rules of its own.
	if r.Method == http.MethodPut {
		text, err := io.ReadAll(r.Body)
		g.lifecycle = text
		return answer(r, http.StatusOK, ""), err
	}
	if g.lifecycle == nil {
		return answer(r, http.StatusNotFound, "<Error><Code>NoSuchLifecycleConfiguration</Code></Error>"), nil
	}
	return answer(r, http.StatusOK, string(g.lifecycle)), nil
}

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Request: r, Header: http.Header{"Content-Type": {"application/xml"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// onlyWhatIsAllowed asserts that nothing was refused and nothing is allowed in vain.
func (g *guard) onlyWhatIsAllowed(t *testing.T) {
	t.Helper()
	assert.Empty(t, g.refused)
	assert.Equal(t, g.allowed, g.used)
}

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

// Every file is JSON, and is told of in the page.
func TestEveryFileIsToldOf(t *testing.T) {
	page, err := os.ReadFile(dir + "README.md")
	require.NoError(t, err)
	files, err := filepath.Glob(dir + "*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, json.Valid(text), file)
		assert.Contains(t, string(page), "`"+filepath.Base(file)+"`")
	}
}
