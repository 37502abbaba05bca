package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

const (
	keptID       = "0af7651916cd43dd8448eb211c80319c"
	summarisedID = "11111111111111111111111111111111"
	pendingID    = "22222222222222222222222222222222"
	htmlID       = "55555555555555555555555555555555"
	cutID        = "33333333333333333333333333333333"
	brokenID     = "44444444444444444444444444444444"
)

// fakeAPI answers as the API does, and keeps what it was asked.
type fakeAPI struct {
	*httptest.Server
	asked []string
	query url.Values
	rows  []tape.Row
}

func newFakeAPI(t *testing.T) *fakeAPI {
	f := &fakeAPI{}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.Method+" "+r.URL.Path)
	f.query = r.URL.Query()
	id := strings.TrimPrefix(r.URL.Path, "/v1/tapes/")
	fail := func(status int, code string, row *tape.Row) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code, "message": "the run is " + code}, "row": row})
	}
	switch {
	case r.URL.Path == "/v1/tapes":
		f.list(w, r)
	case id == summarisedID:
		fail(404, "summarised", &tape.Row{TraceID: id, Outcome: tape.OutcomeSucceeded, Steps: 3, ToolCalls: 2, ModelCalls: 1,
			Service: "travel-agent", Start: "2026-08-20T10:00:00Z", DurationMS: 1500})
	case id == pendingID:
		fail(404, "pending", nil)
	case id == brokenID:
		fail(500, "storage", nil)
	case id == htmlID:
		_, _ = w.Write([]byte("<html>welcome</html>"))
	case id == cutID:
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"tape":"1"`))
	case id != keptID:
		fail(404, "not_found", nil)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		b, _ := os.ReadFile(failedTape)
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = w.Write(b)
	}
}

// list pages with the offset as the cursor.
func (f *fakeAPI) list(w http.ResponseWriter, r *http.Request) {
	var at, limit int
	_, _ = fmt.Sscan(r.URL.Query().Get("cursor"), &at)
	_, _ = fmt.Sscan(r.URL.Query().Get("limit"), &limit)
	end := min(at+limit, len(f.rows))
	next := ""
	if end < len(f.rows) {
		next = fmt.Sprint(end)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"tapes": f.rows[at:end], "next_cursor": next})
}

func someRows(n int) []tape.Row {
	outcomes := []tape.Outcome{tape.OutcomeFailed, tape.OutcomeSucceeded, tape.OutcomeRecovered, tape.OutcomeIncomplete}
	rows := make([]tape.Row, n)
	for i := range rows {
		rows[i] = tape.Row{
			TraceID: fmt.Sprintf("%032x", i+1), Service: "travel-agent", Agent: "planner", Outcome: outcomes[i%4],
			Steps: 5, ToolCalls: 4, ModelCalls: 1, Tools: []string{"get_weather", "get_rate"},
			Start: "2026-08-20T10:00:00.5Z", DurationMS: 7900,
		}
		if i%4 == 0 {
			rows[i].Kept, rows[i].Class = true, "failures"
			rows[i].FailedCalls, rows[i].FailingTool, rows[i].FailureClass = 1, "book_table", "external_timeout"
			rows[i].FailureReason = "timed out\nafter 5 s \x1b[2J"
		}
	}
	return rows
}

func TestLs(t *testing.T) {
	api := newFakeAPI(t)
	api.rows = someRows(4)
	r := tapeCmd(t, "", "--server", api.URL, "ls")
	require.Equal(t, exitOK, r.code, r.err)
	golden(t, "ls.txt", r.out)
	r = tapeCmd(t, "", "COLUMNS=120", "--server", api.URL, "ls")
	golden(t, "ls_narrow.txt", r.out)
	r = tapeCmd(t, "", "TAPE_SERVER="+api.URL, "ls", "--json")
	golden(t, "ls.json", r.out)
}

func TestLsPassesItsFiltersOn(t *testing.T) {
	api := newFakeAPI(t)
	r := tapeCmd(t, "", "--server", api.URL+"/", "ls", "--outcome", "failed", "--outcome", "recovered", "--tool", "a b", "--class", "c", "--service", "s",
		"--agent", "g", "--conversation", "v", "--since", "2026-08-20T10:00:00+02:00", "--until", "24h")
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, "tape: no runs match\n", r.err)
	for param, want := range map[string]string{
		"outcome": "failed", "tool": "a b", "class": "c", "service": "s", "agent": "g", "conversation_id": "v",
		"since": "2026-08-20T08:00:00Z", "limit": "50",
	} {
		assert.Equal(t, want, api.query.Get(param), param)
	}
	assert.Equal(t, []string{"failed", "recovered"}, api.query["outcome"])
	until, err := time.Parse(time.RFC3339Nano, api.query.Get("until"))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(-24*time.Hour), until, time.Minute)
}

func TestLsReadsAsManyPagesAsTheLimitNeeds(t *testing.T) {
	api := newFakeAPI(t)
	api.rows = someRows(450)
	r := tapeCmd(t, "", "--server", api.URL, "ls", "--limit", "430")
	assert.Equal(t, 431, strings.Count(r.out, "\n"), "with the title")
	assert.Len(t, api.asked, 3)
	assert.Equal(t, "tape: there are more: raise --limit to see them\n", r.err)
	var got struct {
		Tapes []tape.Row
		More  bool
	}
	r = tapeCmd(t, "", "--server", api.URL, "ls", "--limit", "1000", "--json")
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	assert.Len(t, got.Tapes, 450)
	assert.False(t, got.More)
}

func TestPull(t *testing.T) {
	api := newFakeAPI(t)
	r := tapeCmd(t, "", "--server", api.URL, "pull", strings.ToUpper(keptID))
	assert.Equal(t, exitOK, r.code)
	assert.Equal(t, read(t, failedTape), r.out)
	assert.Equal(t, "tape: "+keptID+": the tape is not complete: step 3: result: never captured (to fix: set CAPTURE_CONTENT=true)\n", r.err)

	out := filepath.Join(t.TempDir(), "t.jsonl")
	r = tapeCmd(t, "", "--server", api.URL, "pull", keptID, "-o", out, "--bodies", "ref", "--bare")
	assert.Equal(t, exitOK, r.code)
	assert.Equal(t, read(t, failedTape), read(t, out))
	assert.Equal(t, url.Values{"bodies": {"ref"}, "bare": {"1"}}, api.query)
	info, err := os.Stat(out)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestShowByID(t *testing.T) {
	api := newFakeAPI(t)
	r := tapeCmd(t, "", "--server", api.URL, "show", keptID)
	assert.Equal(t, tapeCmd(t, "", "show", failedTape).out, r.out)
}

func TestPullOfWhatIsNotThere(t *testing.T) {
	api := newFakeAPI(t)
	unknown := strings.Repeat("ab", 16)
	host := api.URL
	tests := map[string]struct {
		id, want string
	}{
		"unknown": {unknown, unknown + " is not known to " + host},
		"summarised": {summarisedID, summarisedID + " was not kept, only its summary: succeeded, 3 steps (2 tool, 1 model), 1.50 s, " +
			"service travel-agent, started 2026-08-20T10:00:00Z"},
		"pending": {pendingID, pendingID + " is still open: its tape can be read when the run has ended"},
		"cut":     {cutID, host + ": the tape came in part only: unexpected EOF"},
		"no tape": {htmlID, htmlID + ": the answer is not a tape: line 1: invalid JSON at byte 0: not an object"},
		"broken":  {brokenID, brokenID + ": the run is storage"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := tapeCmd(t, "", "--server", api.URL, "pull", tt.id, "-o", filepath.Join(dir, "x.jsonl"))
			assert.Equal(t, "tape: "+tt.want+"\n", r.err)
			assert.Equal(t, exitMissing, r.code)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left, "nothing half-written")
		})
	}
}

func TestServersThatDoNotHelp(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	html := httptest.NewServer(http.NotFoundHandler())
	defer html.Close()
	stuck := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"tapes":[],"next_cursor":"again"}`))
	}))
	defer stuck.Close()
	for server, want := range map[string]string{
		closed.URL: closed.URL + " does not answer: ",
		html.URL:   html.URL + " answered 404 Not Found: is it the tape API?",
		stuck.URL:  stuck.URL + ": the list does not advance",
	} {
		r := tapeCmd(t, "", "--server", server, "ls")
		oneLineError(t, r)
		assert.Contains(t, r.err, want)
		assert.Equal(t, exitMissing, r.code)
	}
}

func TestRm(t *testing.T) {
	api := newFakeAPI(t)
	r := tapeCmd(t, "", "--server", api.URL, "rm", keptID)
	assert.Equal(t, result{"", "tape: " + keptID + " deleted\n", exitOK}, r)
	assert.Equal(t, []string{"DELETE /v1/tapes/" + keptID}, api.asked)
	r = tapeCmd(t, "", "--server", api.URL, "rm", strings.Repeat("ab", 16))
	assert.Equal(t, exitMissing, r.code)
	oneLineError(t, r)
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		"2026-08-19T10:00:00Z":      now.Add(-24 * time.Hour),
		"2026-08-19T10:00:00.5Z":    now.Add(-24*time.Hour + 500*time.Millisecond),
		"2026-08-20T12:00:00+02:00": now,
		"24h":                       now.Add(-24 * time.Hour),
		"90m":                       now.Add(-90 * time.Minute),
		"7d":                        now.Add(-7 * 24 * time.Hour),
		"1.5d":                      now.Add(-36 * time.Hour),
	} {
		got, err := moment(in, now)
		require.NoError(t, err, in)
		assert.True(t, want.Equal(got), "%s: %s", in, got)
	}
	for _, in := range []string{"", "d", "-1d", "-24h", "NaNd", "Infd", "1e9d", "24", "soon"} {
		_, err := moment(in, now)
		assert.Error(t, err, in)
	}
}

func TestServersThatWantAToken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Header.Get("Authorization") != "Bearer s3cr3t" && user+":"+password != "joe:pw" {
			http.Error(w, "authentication failed", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"tapes":[]}`))
	}))
	defer server.Close()
	r := tapeCmd(t, "", "--server", server.URL, "ls")
	assert.Equal(t, exitMissing, r.code)
	assert.Equal(t, "tape: "+server.URL+" answered 401 Unauthorized: --token or $TAPE_TOKEN is the token it gets\n", r.err)
	r = tapeCmd(t, "", "TAPE_TOKEN=s3cr3t", "--server", server.URL, "ls")
	assert.Equal(t, exitOK, r.code, r.err)
	withUser := strings.Replace(server.URL, "http://", "http://joe:pw@", 1)
	assert.Equal(t, exitOK, tapeCmd(t, "", "--server", withUser, "ls").code)
	r = tapeCmd(t, "", "--server", strings.Replace(withUser, "pw", "wrong", 1), "ls")
	assert.Equal(t, exitMissing, r.code)
	assert.NotContains(t, r.err, "wrong")
}
