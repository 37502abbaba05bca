package policies

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
)

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

// before has the guard stand before a server until the test ends, and gives its URL.
func (g *guard) before(t *testing.T, server *s3test.Server) string {
	t.Helper()
	target, err := url.Parse(server.URL())
	require.NoError(t, err)
	front := httptest.NewServer(&httputil.ReverseProxy{
		Transport: g,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // is signed
		},
	})
	t.Cleanup(front.Close)
	return front.URL
}
