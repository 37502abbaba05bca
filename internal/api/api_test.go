package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

const (
	kept       = "0102030405060708090a0b0c0d0e0f10"
	summarised = "1102030405060708090a0b0c0d0e0f10"
	pending    = "2102030405060708090a0b0c0d0e0f10"
	unknown    = "3102030405060708090a0b0c0d0e0f10"
	rowOnly    = "4102030405060708090a0b0c0d0e0f10"
)

var (
	noon = time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)
	big  = `{"page":"` + strings.Repeat("long ", 1000) + `"}`
)

type fixture struct {
	t       *testing.T
	store   *store.Store
	backend *storetest.Memory
	handler http.Handler
	logs    *observer.ObservedLogs
	seen    []string
	// keep is what the spool answers to those who ask for the runs of tenant.
	keep    map[string]api.Kept
	keepErr error
	tenant  string
}

// newFixture has one kept run, one summarised, one pending, and one whose
// fragments went while its row stayed.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, backend: storetest.NewMemory()}
	var err error
	f.store, err = store.Open(f.backend, store.Options{Now: func() time.Time { return noon }})
	require.NoError(t, err)
	t.Cleanup(f.store.Close)
	td := storetest.AgentRun(t, kept, noon,
		storetest.Call{Tool: "fetch", Args: `{"url":"http://a"}`, Result: big},
		storetest.Call{Tool: "pay", Args: `{"sum":3}`, Error: "declined"})
	_, err = offload.Traces(td, 1000, func(b offload.Body) error {
		return f.store.PutBlob(t.Context(), "failures", noon, b.SHA256, b.Data)
	})
	require.NoError(t, err)
	_, err = f.store.PutFragment(t.Context(), "failures", kept, td)
	require.NoError(t, err)
	require.NoError(t, f.store.AppendRows(t.Context(), []tape.Row{
		{TraceID: kept, Outcome: tape.OutcomeFailed, Service: "shop", Kept: true, Class: "failures", Decided: noon.Format(time.RFC3339)},
		{TraceID: summarised, Outcome: tape.OutcomeSucceeded, Service: "bank", Steps: 4, Decided: noon.Add(-time.Minute).Format(time.RFC3339)},
		{TraceID: rowOnly, Outcome: tape.OutcomeFailed, Kept: true, Decided: noon.Add(-2 * time.Minute).Format(time.RFC3339)},
	}))
	core, logs := observer.New(zapcore.DebugLevel)
	f.logs = logs
	f.handler = api.New(f.store, api.Options{
		Pending: func(_ context.Context, tenant, id string) bool { return tenant == f.tenant && id == pending },
		Keep: func(_ context.Context, tenant, id string) (api.Kept, error) {
			if tenant != f.tenant {
				return "", nil
			}
			return f.keep[id], f.keepErr
		},
		Logger:  zap.New(core),
		Subject: func(*http.Request) string { return "alice" },
		Observe: func(_ *http.Request, endpoint string, status int) {
			f.seen = append(f.seen, endpoint+" "+http.StatusText(status))
		},
		Now: func() time.Time { return noon },
	})
	return f
}

func (f *fixture) do(method, target string, header ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequestWithContext(f.t.Context(), method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

func (f *fixture) get(target string, header ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	return f.do(http.MethodGet, target, header...)
}

// audits gives the audit lines, in short.
func (f *fixture) audits() []string {
	lines := []string{}
	for _, e := range f.logs.FilterMessage("Audit").All() {
		m := e.ContextMap()
		id, _ := m["trace_id"].(string)
		if id == "" {
			id, _ = m["sha256"].(string)
		}
		line := m["action"].(string) + " " + id + " by " + m["subject"].(string)
		if outcome := m["outcome"].(string); outcome != "ok" {
			line += ": " + outcome
		}
		lines = append(lines, line)
	}
	return lines
}

type failure struct {
	Error struct{ Code, Message string }
	Row   *tape.Row
}

func failureOf(t *testing.T, w *httptest.ResponseRecorder) failure {
	t.Helper()
	assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
	var f failure
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &f), w.Body.String())
	assert.NotEmpty(t, f.Error.Message)
	return f
}

func readTape(t *testing.T, w *httptest.ResponseRecorder) *tape.Tape {
	t.Helper()
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	assert.Equal(t, "application/x-ndjson", w.Header().Get("Content-Type"))
	tp, err := tape.ReadAll(w.Body)
	require.NoError(t, err)
	return tp
}

func TestTheTapeOfAKeptRun(t *testing.T) {
	f := newFixture(t)
	tp := readTape(t, f.get("/v1/tapes/"+kept))
	require.NotNil(t, tp.Manifest)
	assert.Equal(t, kept, tp.Manifest.TraceID)
	require.Len(t, tp.Records, 2)
	assert.JSONEq(t, big, string(tp.Records[0].Result))

	tp = readTape(t, f.get("/v1/tapes/"+strings.ToUpper(kept)+"?bodies=ref"))
	require.Len(t, tp.Records[0].Bodies, 1)
	body := tp.Records[0].Bodies[0]

	tp = readTape(t, f.get("/v1/tapes/"+kept+"?bare=1&bodies=inline"))
	assert.Nil(t, tp.Manifest)
	assert.Len(t, tp.Records, 2)

	w := f.get("/v1/blobs/sha256/" + strings.ToUpper(body.SHA256))
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, big, w.Body.String())
	assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))

	assert.Equal(t, []string{
		"read_tape " + kept + " by alice", "read_tape " + kept + " by alice", "read_tape " + kept + " by alice",
		"read_blob " + body.SHA256 + " by alice",
	}, f.audits())
	for _, e := range f.logs.All() {
		for _, v := range e.ContextMap() {
			assert.NotContains(t, v, "long", "no content in the log")
		}
	}
	assert.Equal(t, []string{"tape OK", "tape OK", "tape OK", "blob OK"}, f.seen)
}

func TestIDsThatHaveNoTape(t *testing.T) {
	tests := map[string]struct {
		id     string
		status int
		code   string
	}{
		"unknown":         {unknown, 404, "not_found"},
		"summarised":      {summarised, 404, "summarised"},
		"pending":         {pending, 404, "pending"},
		"pending, upper":  {strings.ToUpper(pending), 404, "pending"},
		"row only":        {rowOnly, 404, "not_found"},
		"too short":       {kept[1:], 400, "bad_trace_id"},
		"not hex":         {"zz" + kept[2:], 400, "bad_trace_id"},
		"all zero":        {strings.Repeat("0", 32), 400, "bad_trace_id"},
		"base64":          {"AQIDBAUGBwgJCgsMDQ4PEA==", 400, "bad_trace_id"},
		"escaped slashes": {"..%2f..%2fetc%2fpasswd", 400, "bad_trace_id"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for _, target := range []string{"/v1/tapes/" + test.id, "/v1/tapes/" + test.id + "/trace"} {
				w := f.get(target)
				assert.Equal(t, test.status, w.Code)
				got := failureOf(t, w)
				assert.Equal(t, test.code, got.Error.Code)
				if test.code == "summarised" {
					require.NotNil(t, got.Row)
					assert.Equal(t, 4, got.Row.Steps)
				} else {
					assert.Nil(t, got.Row)
				}
			}
			if test.status == http.StatusBadRequest {
				assert.Empty(t, f.audits(), "what is no id is not repeated in the log")
				return
			}
			id := strings.ToLower(test.id)
			assert.Equal(t, []string{"read_tape " + id + " by alice: " + test.code, "read_trace " + id + " by alice: " + test.code}, f.audits())
		})
	}
}

func TestTheTraceInBothEncodings(t *testing.T) {
	f := newFixture(t)
	for name, test := range map[string]struct{ accept, media string }{
		"none":              {"", "application/json"},
		"any":               {"*/*", "application/json"},
		"json":              {"application/json", "application/json"},
		"protobuf":          {"application/x-protobuf", "application/x-protobuf"},
		"protobuf rather":   {"application/json;q=0.5, application/x-protobuf", "application/x-protobuf"},
		"anything but json": {"application/json;q=0, */*;q=0.1", "application/x-protobuf"},
		"application":       {"text/html, application/*;q=0.2", "application/json"},
		"none of ours":      {"text/html", ""},
		"json refused":      {"application/json;q=0", ""},
		"broken":            {";;;", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var header []string
			if test.accept != "" {
				header = []string{"Accept", test.accept}
			}
			w := f.get("/v1/tapes/"+kept+"/trace", header...)
			if test.media == "" {
				assert.Equal(t, http.StatusNotAcceptable, w.Code)
				assert.Equal(t, "not_acceptable", failureOf(t, w).Error.Code)
				return
			}
			require.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, test.media, w.Header().Get("Content-Type"))
			var td ptrace.Traces
			var err error
			if test.media == "application/json" {
				assert.Contains(t, w.Body.String(), `"traceId":"`+kept+`"`, "ids are hex")
				td, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(w.Body.Bytes())
			} else {
				td, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(w.Body.Bytes())
			}
			require.NoError(t, err)
			span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1)
			v, ok := span.Attributes().Get("gen_ai.tool.call.result")
			require.True(t, ok)
			assert.Equal(t, big, v.Str(), "bodies are back")
		})
	}
	assert.Contains(t, f.audits(), "read_trace "+kept+" by alice")
}

func TestTheList(t *testing.T) {
	f := newFixture(t)
	var body struct {
		Tapes      []tape.Row `json:"tapes"`
		NextCursor *string    `json:"next_cursor"`
	}
	list := func(query string) []string {
		t.Helper()
		w := f.get("/v1/tapes" + query)
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		body.NextCursor = nil
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		ids := []string{}
		for _, row := range body.Tapes {
			ids = append(ids, row.TraceID)
		}
		return ids
	}
	assert.Equal(t, []string{kept, summarised, rowOnly}, list(""))
	assert.Nil(t, body.NextCursor)
	assert.Equal(t, []string{kept, rowOnly}, list("?outcome=failed&service="))
	assert.Equal(t, []string{kept, summarised}, list("?service=shop&service=bank"))
	assert.Equal(t, []string{kept}, list("?class=failures"))
	assert.Equal(t, []string{kept}, list("?since=2026-01-02T12:30:00Z"))
	assert.Equal(t, []string{kept, summarised}, list("?since=90s"))
	assert.Equal(t, []string{rowOnly}, list("?until=90s"))
	assert.Equal(t, []string{}, list("?tool=none"))
	assert.Contains(t, f.get("/v1/tapes?tool=none").Body.String(), `"tapes":[]`)
	for query, want := range map[string][]string{"?limit=2": {kept, summarised}} {
		assert.Equal(t, want, list(query))
		require.NotNil(t, body.NextCursor)
		assert.Equal(t, []string{rowOnly}, list(query+"&cursor="+*body.NextCursor))
		assert.Nil(t, body.NextCursor)
	}
	assert.Empty(t, f.audits(), "a list shows no content")
}

func TestBlobs(t *testing.T) {
	f := newFixture(t)
	w := f.get("/v1/blobs/sha256/" + strings.Repeat("a", 64))
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Equal(t, "not_found", failureOf(t, w).Error.Code)
	for _, bad := range []string{"abc", strings.Repeat("g", 64), "..%2f..%2fx"} {
		w := f.get("/v1/blobs/sha256/" + bad)
		assert.Equal(t, http.StatusBadRequest, w.Code)
		assert.Equal(t, "bad_hash", failureOf(t, w).Error.Code)
	}
	assert.Equal(t, []string{"read_blob " + strings.Repeat("a", 64) + " by alice: not_found"}, f.audits())
}

func TestDelete(t *testing.T) {
	f := newFixture(t)
	w := f.do(http.MethodDelete, "/v1/tapes/"+strings.ToUpper(kept))
	assert.Equal(t, http.StatusNoContent, w.Code)
	assert.Empty(t, w.Body.String())
	assert.Equal(t, "not_found", failureOf(t, f.get("/v1/tapes/"+kept)).Error.Code)
	assert.Equal(t, "not_found", failureOf(t, f.do(http.MethodDelete, "/v1/tapes/"+kept)).Error.Code)

	assert.Equal(t, http.StatusNoContent, f.do(http.MethodDelete, "/v1/tapes/"+summarised).Code)
	assert.Equal(t, "not_found", failureOf(t, f.get("/v1/tapes/"+summarised)).Error.Code)
	assert.Equal(t, "pending", failureOf(t, f.do(http.MethodDelete, "/v1/tapes/"+pending)).Error.Code)
	assert.Equal(t, "bad_trace_id", failureOf(t, f.do(http.MethodDelete, "/v1/tapes/x")).Error.Code)
	assert.Equal(t, []string{
		"delete " + kept + " by alice",
		"read_tape " + kept + " by alice: not_found",
		"delete " + kept + " by alice: not_found",
		"delete " + summarised + " by alice",
		"read_tape " + summarised + " by alice: not_found",
		"delete " + pending + " by alice: pending",
	}, f.audits())
}

func TestTheZeroOptionsWork(t *testing.T) {
	f := newFixture(t)
	f.handler = api.New(f.store, api.Options{})
	readTape(t, f.get("/v1/tapes/"+kept))
	assert.Equal(t, "not_found", failureOf(t, f.get("/v1/tapes/"+pending)).Error.Code)
}
