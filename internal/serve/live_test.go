package serve

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// liveServer forks a tape of two calls at the second.
func liveServer(t *testing.T, live replay.Live, options ...replay.Option) (*replay.Session, *Server, func(path, body string) (int, map[string]json.RawMessage)) {
	t.Helper()
	read, err := tape.ReadAll(strings.NewReader(`{"seq":1,"tool":"find","args":{"q":"a"},"result":"old"}
{"seq":2,"tool":"pay","args":{"account":"acme-prod"},"result":"old","side_effect":false}
`))
	require.NoError(t, err)
	options = append(options, replay.WithFork(2, live), replay.WithAuditLog(slog.New(slog.NewTextHandler(io.Discard, nil))))
	session, err := replay.New(read, options...)
	require.NoError(t, err)
	handler := New(session)
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		handler.live.close()
		server.Close()
	})
	return session, handler, func(path, body string) (int, map[string]json.RawMessage) {
		resp, err := server.Client().Post(server.URL+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		var members map[string]json.RawMessage
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&members))
		return resp.StatusCode, members
	}
}

var mayPay = replay.Live{Isolated: true, Tools: []string{"pay"}, Substitution: replay.Substitution{Values: map[string]string{"acme-prod": "acme-test"}}}

func TestTheClientRunsWhatIsLive(t *testing.T) {
	session, _, post := liveServer(t, mayPay)
	status, got := post("/v1/call", `{"tool":"find","args":{"q":"a"},"live":true}`)
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `"old"`, string(got["result"]), "what is before the fork comes from the tape")

	status, got = post("/v1/call", `{"tool":"pay","args":{"account":"acme-prod"},"live":true}`)
	assert.Equal(t, 200, status)
	assert.Equal(t, `true`, string(got["live"]))
	assert.Equal(t, `"run_live"`, string(got["code"]))
	assert.JSONEq(t, `{"account":"acme-test"}`, string(got["args"]), "it runs with the substitutes")
	assert.NotContains(t, got, "result")
	_, second := post("/v1/call", `{"tool":"pay","args":{"account":"acme-prod"},"live":true}`)
	assert.NotEqual(t, got["call"], second["call"])

	status, answer := post("/v1/record", `{"call":`+string(second["call"])+`,"result":null,"error":{"code":"503","message":"down","type":"Unavailable"}}`)
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `{"code":"503","message":"down","type":"Unavailable"}`, string(answer["error"]))
	status, answer = post("/v1/record", `{"call":`+string(got["call"])+`,"result":{"paid":true}}`)
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `{"paid":true}`, string(answer["result"]))

	status, answer = post("/v1/record", `{"call":`+string(got["call"])+`,"result":1}`)
	assert.Equal(t, 404, status, "a call is reported once")
	assert.Contains(t, string(answer["error"]), "not_found")

	require.NoError(t, session.Close())
	assert.Equal(t, 2, session.Stats().LiveToolCalls)
	records := session.Tape().Records
	require.Len(t, records, 3)
	assert.JSONEq(t, `{"paid":true}`, string(records[1].Result))
	assert.Equal(t, "503", records[2].Error.Code)
}

func TestAClientThatCannotRunIsRefused(t *testing.T) {
	session, _, post := liveServer(t, mayPay)
	_, _ = post("/v1/call", `{"tool":"find","args":{"q":"a"}}`)
	status, got := post("/v1/call", `{"tool":"pay","args":{}}`)
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, string(got["error"]), `"code":"live_refused"`)
	assert.Contains(t, string(got["error"]), `lacks \"live\":true`)
	status, got = post("/v1/call", `{"tool":"wire","args":{},"live":true}`)
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, string(got["error"]), "--allow wire")
	require.ErrorIs(t, session.Close(), replay.ErrRefused)
}

func TestOutcomesThatAreNone(t *testing.T) {
	_, _, post := liveServer(t, mayPay)
	for body, want := range map[string]string{
		`[]`: "cannot unmarshal", `{}`: `member \"call\"`, `{"call":7}`: `member \"call\"`, `{"call":"live-9","error":"down"}`: `member \"error\"`,
	} {
		status, got := post("/v1/record", body)
		assert.Equal(t, 400, status, body)
		assert.Contains(t, string(got["error"]), want)
	}
	status, got := post("/v1/call", `{"tool":"pay","live":"yes"}`)
	assert.Equal(t, 400, status)
	assert.Contains(t, string(got["error"]), `member \"live\" is neither true nor false`)
}

// A client that dies leaves a call that failed, not a server that waits.
func TestACallThatIsNeverReportedEndsWithTheServer(t *testing.T) {
	session, handler, post := liveServer(t, mayPay)
	_, _ = post("/v1/call", `{"tool":"find","args":{"q":"a"}}`)
	_, got := post("/v1/call", `{"tool":"pay","args":{},"live":true}`)
	require.Contains(t, got, "live")
	handler.live.close()
	require.Eventually(t, func() bool { return len(session.Tape().Records) == 2 }, 5*time.Second, time.Millisecond)
	assert.Equal(t, errNeverReported.Error(), session.Tape().Records[1].Error.Message)
}

func TestFaultsReachTheClient(t *testing.T) {
	read, err := tape.ReadAll(strings.NewReader(`{"seq":1,"tool":"t","args":1,"result":{"text":"abcdefgh"}}
{"seq":2,"tool":"t","args":2,"result":{"text":"abcdefgh"}}
`))
	require.NoError(t, err)
	session, err := replay.New(read, replay.OverrideStep(1, replay.AnswerRecorded().Cut()), replay.OverrideStep(2, replay.AnswerRecorded().Malformed()))
	require.NoError(t, err)
	server := httptest.NewServer(New(session))
	defer server.Close()
	ask := func(n string) ([]byte, error) {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL+"/v1/call", strings.NewReader(`{"tool":"t","args":`+n+`}`))
		require.NoError(t, err)
		resp, err := server.Client().Do(request)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		assert.Equal(t, 200, resp.StatusCode)
		return io.ReadAll(resp.Body)
	}
	got, err := ask("1")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, `{"result":{"text":"`, string(got))
	got, err = ask("2")
	require.NoError(t, err)
	assert.Equal(t, `{"result":{{"text":"abcdefgh"}}`+"\n", string(got))
	assert.False(t, json.Valid(got))
}
