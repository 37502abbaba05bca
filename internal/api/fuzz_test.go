package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

// FuzzRequest asks an empty store for anything: the answer is well-formed, and never
// the fault of the store.
func FuzzRequest(f *testing.F) {
	for _, seed := range []struct{ method, path, query, tenant string }{
		{"GET", "/v1/tapes", "outcome=failed&limit=3&since=24h", ""},
		{"GET", "/v1/tapes", "cursor=MjAyNg&tenant=a%2fb", "a/b"},
		{"GET", "/v1/tapes", "tool=%zz;a=b", ""},
		{"GET", "/v1/tapes/" + kept, "bodies=ref&bare=1", "../.."},
		{"GET", "/v1/tapes/" + kept + "/bundle", "", "\x00"},
		{"DELETE", "/v1/tapes/" + kept, "", ""},
		{"POST", "/v1/tapes/" + kept + "/keep", "", "t"},
		{"GET", "/v1/blobs/sha256/../../x", "", ""},
		{"BREW", "//v1//tapes", "&&=", ""},
	} {
		f.Add(seed.method, seed.path, seed.query, seed.tenant)
	}
	st, err := store.Open(storetest.NewMemory(), store.Options{})
	require.NoError(f, err)
	f.Cleanup(st.Close)
	handler := api.New(st, api.Options{MaxRequests: 4})
	f.Fuzz(func(t *testing.T, method, path, query, tenant string) {
		r := (&http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "localhost",
			Header: http.Header{"X-Scope-Orgid": {tenant}}, Body: http.NoBody,
		}).WithContext(t.Context())
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		assert.Less(t, w.Code, 500)
		if w.Code >= 400 {
			var body struct {
				Error struct{ Code, Message string }
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
			assert.NotEmpty(t, body.Error.Code)
			assert.NotEmpty(t, body.Error.Message)
		}
	})
}
