package s3_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
)

// rules is a server that has lifecycle rules and nothing else.
type rules struct {
	t *testing.T
	// text is the configuration, "" for none.
	text, minimum string
	forget        bool
	status        int
	methods       []string
}

func (s *rules) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, ok := r.URL.Query()["lifecycle"]
	assert.True(s.t, ok)
	assert.Equal(s.t, "/"+s3test.Bucket+"/", r.URL.Path)
	assert.NotEmpty(s.t, r.URL.Query().Get("X-Amz-Signature"))
	s.methods = append(s.methods, r.Method)
	if s.status != 0 {
		w.WriteHeader(s.status)
		return
	}
	switch r.Method {
	case http.MethodGet:
		if s.text == "" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `<Error><Code>NoSuchLifecycleConfiguration</Code></Error>`)
			return
		}
		if s.minimum != "" {
			w.Header().Set("x-amz-transition-default-minimum-object-size", s.minimum)
		}
		_, _ = io.WriteString(w, s.text)
	case http.MethodPut:
		assert.NotEmpty(s.t, r.Header.Get("Content-MD5"))
		text, err := io.ReadAll(r.Body)
		assert.NoError(s.t, err)
		if !s.forget {
			s.text, s.minimum = string(text), r.Header.Get("x-amz-transition-default-minimum-object-size")
		}
	case http.MethodDelete:
		s.text = ""
	}
}

func lifecycle(t *testing.T, s *rules, prefix string) *s3.Backend {
	s.t = t
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cfg := config(server.URL)
	cfg.Prefix = prefix
	cfg.MaxAttempts = 2
	return open(t, cfg)
}

const foreign = `<Rule><ID>logs</ID><Status>Enabled</Status><Filter><And><Prefix>logs/</Prefix>` +
	`<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></And></Filter><FromTheFuture a="1">x</FromTheFuture></Rule>`

func TestLifecycleRulesOfOthersStay(t *testing.T) {
	s := &rules{
		text:    `<LifecycleConfiguration>` + foreign + `</LifecycleConfiguration>`,
		minimum: "varies_by_storage_class",
	}
	b := lifecycle(t, s, "team/a")
	mine := []s3.LifecycleRule{{Name: "tapes", Folder: "tapes/failures/", Days: 30}, {Name: "uploads", AbortDays: 3}}
	for range 2 {
		n, err := b.SetLifecycle(t.Context(), mine)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.Equal(t, `<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`+foreign+
			`<Rule><ID>tapedeck:team/a/:tapes</ID><Status>Enabled</Status><Filter><Prefix>team/a/tapes/failures/</Prefix></Filter><Expiration><Days>30</Days></Expiration></Rule>`+
			`<Rule><ID>tapedeck:team/a/:uploads</ID><Status>Enabled</Status><Filter><Prefix>team/a/</Prefix></Filter>`+
			`<AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>`+
			`</LifecycleConfiguration>`, s.text)
		assert.Equal(t, "varies_by_storage_class", s.minimum)
	}
	n, err := b.SetLifecycle(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, `<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`+foreign+`</LifecycleConfiguration>`, s.text)
}

func TestLifecycleOfTwoStoresInOneBucket(t *testing.T) {
	s := &rules{}
	a := lifecycle(t, s, "a")
	_, err := a.SetLifecycle(t.Context(), []s3.LifecycleRule{{Name: "x", Folder: "x/", Days: 1}})
	require.NoError(t, err)
	below := lifecycle(t, s, "a/b")
	n, err := below.SetLifecycle(t.Context(), []s3.LifecycleRule{{Name: "x", Folder: "x/", Days: 2}})
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	n, err = a.SetLifecycle(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Contains(t, s.text, "a/b/x/")
	_, err = below.SetLifecycle(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, s.text)
}

func TestLifecycleBesideRulesWithoutFilters(t *testing.T) {
	s := &rules{text: `<LifecycleConfiguration><Rule><ID>old</ID><Prefix>logs/</Prefix><Status>Enabled</Status></Rule></LifecycleConfiguration>`}
	_, err := lifecycle(t, s, "").SetLifecycle(t.Context(), []s3.LifecycleRule{{Name: "x", Folder: "tapes/x/", Days: 1}})
	require.NoError(t, err)
	assert.NotContains(t, s.text, "Filter")
	assert.Contains(t, s.text, "<Prefix>tapes/x/</Prefix>")
}

func TestBucketsWithoutLifecycleRules(t *testing.T) {
	mine := []s3.LifecycleRule{{Name: "x", Folder: "x/", Days: 1}}
	for name, s := range map[string]*rules{
		"not implemented":      {status: http.StatusNotImplemented},
		"not allowed":          {status: http.StatusMethodNotAllowed},
		"answers another call": {text: "<ListBucketResult></ListBucketResult>"},
		"accepts and forgets":  {forget: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lifecycle(t, s, "").SetLifecycle(t.Context(), mine)
			require.ErrorIs(t, err, s3.ErrNoLifecycle)
			if name == "answers another call" {
				assert.Equal(t, []string{http.MethodGet}, s.methods, "nothing is written")
			}
		})
	}
	_, err := lifecycle(t, &rules{status: http.StatusForbidden}, "").SetLifecycle(t.Context(), mine)
	require.Error(t, err)
	require.NotErrorIs(t, err, s3.ErrNoLifecycle)
	assert.NotContains(t, err.Error(), s3test.SecretKey)
}

func TestLifecycleOfARealServer(t *testing.T) {
	server := s3test.Start(t)
	_, err := open(t, config(server.URL())).SetLifecycle(t.Context(), []s3.LifecycleRule{{Name: "x", Folder: "x/", Days: 1}})
	if err != nil {
		require.ErrorIs(t, err, s3.ErrNoLifecycle, "it has rules or it says that it has none")
	}
}

func TestLeftoversAreUploadsInParts(t *testing.T) {
	server := s3test.Start(t)
	cfg := config(server.URL())
	cfg.Prefix = "team"
	b := open(t, cfg)
	core := minio.Core{Client: server.Client()}
	for _, key := range []string{"team/blobs/failures/2026-W20/x.zst", "other/x.zst"} {
		_, err := core.NewMultipartUpload(t.Context(), s3test.Bucket, key, minio.PutObjectOptions{})
		require.NoError(t, err)
	}
	list := func() (names []string) {
		for o, err := range b.Leftovers(t.Context()) {
			require.NoError(t, err)
			assert.False(t, o.Modified.IsZero())
			names = append(names, o.Name)
		}
		return names
	}
	names := list()
	require.Len(t, names, 1)
	assert.True(t, strings.HasPrefix(names[0], "blobs/failures/2026-W20/x.zst?"))
	for range 2 {
		require.NoError(t, b.RemoveLeftover(t.Context(), names[0]))
	}
	assert.Empty(t, list())
}
