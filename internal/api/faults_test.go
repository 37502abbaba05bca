package api_test

import (
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap/zapcore"
)

func TestBadQueriesNameTheMember(t *testing.T) {
	f := newFixture(t)
	for target, member := range map[string]string{
		"/v1/tapes?outcome=broken":                 "outcome",
		"/v1/tapes?since=yesterday":                "since",
		"/v1/tapes?until=-3h":                      "until",
		"/v1/tapes?limit=0":                        "limit",
		"/v1/tapes?limit=1001":                     "limit",
		"/v1/tapes?limit=ten":                      "limit",
		"/v1/tapes?cursor=%3F":                     "cursor",
		"/v1/tapes?limit=1&limit=2":                "limit",
		"/v1/tapes?conversation=x":                 "conversation",
		"/v1/tapes/" + kept + "?bodies=all":        "bodies",
		"/v1/tapes/" + kept + "?bare=yes":          "bare",
		"/v1/tapes/" + kept + "?bare=1&bare=0":     "bare",
		"/v1/tapes/" + kept + "?bodys=ref&bare=1":  "bodys",
		"/v1/tapes/" + kept + "/bundle?bodies=ref": "bodies",
	} {
		w := f.get(target)
		assert.Equal(t, http.StatusBadRequest, w.Code, target)
		got := failureOf(t, w)
		assert.Equal(t, "bad_query", got.Error.Code, target)
		assert.Contains(t, got.Error.Message, `"`+member+`"`, target)
	}
	w := f.get("/v1/tapes?tool=%zz")
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Equal(t, "bad_query", failureOf(t, w).Error.Code)
}

func TestMethodsAndPaths(t *testing.T) {
	f := newFixture(t)
	for _, test := range []struct{ method, target, allow string }{
		{"POST", "/v1/tapes", "GET, HEAD"},
		{"PUT", "/v1/tapes/" + kept, "GET, HEAD, DELETE"},
		{"DELETE", "/v1/tapes/" + kept + "/trace", "GET, HEAD"},
		{"DELETE", "/v1/blobs/sha256/" + strings.Repeat("a", 64), "GET, HEAD"},
	} {
		w := f.do(test.method, test.target)
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, test.target)
		assert.Equal(t, test.allow, w.Header().Get("Allow"))
		assert.Equal(t, "method_not_allowed", failureOf(t, w).Error.Code)
	}
	for _, target := range []string{"/", "/v1", "/v1/tapes/", "/v1/tapes/" + kept + "/parcel", "/v1/blobs/md5/x", "/metrics"} {
		w := f.get(target)
		assert.Equal(t, http.StatusNotFound, w.Code, target)
		assert.Equal(t, "not_found", failureOf(t, w).Error.Code)
	}
	assert.Equal(t, http.StatusOK, f.do(http.MethodHead, "/v1/tapes/"+kept).Code)
}

func TestAMissingBodyIsAGapInTheTapeAndNotAnError(t *testing.T) {
	f := newFixture(t)
	for _, o := range storetest.List(t, f.backend, "blobs/") {
		require.NoError(t, f.backend.Delete(t.Context(), o.Name))
	}
	tp := readTape(t, f.get("/v1/tapes/"+kept))
	assert.False(t, tp.Manifest.Complete)
	assert.Len(t, tp.Manifest.Gaps, 1)
	for target, want := range map[string]http.Header{
		"?bare=1": {"Tapedeck-Complete": {"false"}, "Tapedeck-Gaps": {"1"}},
		"/bundle": {"Tapedeck-Complete": {"false"}, "Tapedeck-Gaps": {"1"}},
		"/trace":  {"Tapedeck-Damaged-Parts": {"0"}, "Tapedeck-Missing-Bodies": {"1"}},
	} {
		got := f.get("/v1/tapes/" + kept + target).Header()
		for name, values := range want {
			assert.Equal(t, values, got[name], target+" "+name)
		}
	}
}

func TestADamagedPartIsToldWithTheRest(t *testing.T) {
	f := newFixture(t)
	late := storetest.AgentRun(t, kept, noon, storetest.Call{Tool: "late", Args: `{}`, Result: `{}`})
	_, err := f.store.PutFragment(t.Context(), "failures", kept, late)
	require.NoError(t, err)
	victim := storetest.List(t, f.backend, "tapes/")[0].Name
	f.backend.Damage(victim, func([]byte) []byte { return []byte("junk") })
	w := f.get("/v1/tapes/" + kept)
	assert.Equal(t, "1", w.Header().Get("Tapedeck-Gaps"))
	tp := readTape(t, w)
	require.Len(t, tp.Manifest.Gaps, 1)
	assert.Equal(t, "span", tp.Manifest.Gaps[0].What)
	assert.NotEmpty(t, tp.Manifest.Gaps[0].Why)
	assert.Equal(t, "1", f.get("/v1/tapes/"+kept+"/trace").Header().Get("Tapedeck-Damaged-Parts"))
}

func TestFaultsOfTheStoreAreToldWithoutItsPlace(t *testing.T) {
	f := newFixture(t)
	f.backend.Fail = func(string, string) error { return errors.New("read /srv/secret/place: disk on fire") }
	for _, target := range []string{"/v1/tapes", "/v1/tapes/" + kept, "/v1/tapes/" + kept + "/trace", "/v1/blobs/sha256/" + strings.Repeat("a", 64)} {
		w := f.get(target)
		assert.Equal(t, http.StatusServiceUnavailable, w.Code, target)
		assert.Equal(t, "store_unavailable", failureOf(t, w).Error.Code)
		assert.NotContains(t, w.Body.String(), "secret")
	}
	assert.Equal(t, 4, f.logs.FilterLevelExact(zapcore.ErrorLevel).Len())
	f.backend.Fail = nil

	for _, o := range storetest.List(t, f.backend, "tapes/") {
		f.backend.Damage(o.Name, func([]byte) []byte { return []byte("junk") })
	}
	w := f.get("/v1/tapes/" + kept)
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.Equal(t, "damaged", failureOf(t, w).Error.Code)
}

// brokenWriter loses the client after the status.
type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestATapeCutShortBreaksTheConnection(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/tapes/"+kept, nil)
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
		f.handler.ServeHTTP(brokenWriter{httptest.NewRecorder()}, r)
	})
}

func TestInvalidUTF8DoesNotBreakAnAnswer(t *testing.T) {
	f := newFixture(t)
	id := hex.EncodeToString([]byte("sixteen bytes id"))
	td := storetest.AgentRun(t, id, noon, storetest.Call{Tool: "fetch", Args: `{"a":"b"}`, Result: "broken \xff\xfe text"})
	_, err := f.store.PutFragment(t.Context(), "kept", id, td)
	require.NoError(t, err)
	assert.Len(t, readTape(t, f.get("/v1/tapes/"+id)).Records, 1)
	w := f.get("/v1/tapes/" + id + "/trace")
	require.Equal(t, http.StatusOK, w.Code)
	_, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(w.Body.Bytes())
	require.NoError(t, err)
}

// broken is a client that goes away in the middle of an answer.
type broken struct{ *httptest.ResponseRecorder }

func (broken) Write([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

func TestAnAnswerThatBreaksOffIsAudited(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/tapes/"+kept, nil)
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() { f.handler.ServeHTTP(broken{httptest.NewRecorder()}, r) })
	assert.Equal(t, []string{"read_tape " + kept + " by alice", "read_tape " + kept + " by alice: cut_short"}, f.audits())
}
