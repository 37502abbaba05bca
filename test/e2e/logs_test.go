package e2e

import (
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

const samples = "../../internal/dialect/testdata/samples/"

// A coding agent that writes no spans at all is a run like any other.
func TestAnAgentThatOnlyWritesLogs(t *testing.T) {
	c := start(t, "processors::tape::keep::outcomes=[failed,recovered,incomplete,succeeded]")
	body, err := os.ReadFile(samples + "codex.logs.json")
	require.NoError(t, err)
	status, err := c.SendLogsJSON(context.Background(), body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	id := dialect.LogTraceID("sess-7f3a").String()
	awaitStatus(t, c, id, http.StatusOK, "")
	stdout, stderr, code := cli(t, c, "pull", id)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "call_Bk03cc")
}

// Spans without content and log records with it make one tape.
func TestLogRecordsAndSpansMakeOneTape(t *testing.T) {
	c := start(t)
	logs, err := os.ReadFile(samples + "otel_genai_legacy_v136.logs.json")
	require.NoError(t, err)
	spans, err := os.ReadFile(samples + "otel_genai_legacy_v136.json")
	require.NoError(t, err)
	status, err := c.SendLogsJSON(context.Background(), logs)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	status, err = c.SendJSON(context.Background(), spans)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	var id pcommon.TraceID
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(logs)
	require.NoError(t, err)
	id = ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).TraceID()
	awaitStatus(t, c, id.String(), http.StatusOK, "")
	stdout, stderr, code := cli(t, c, "pull", id.String())
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, `"args":{"city":"Oslo","units":"metric"}`, "the arguments are in the log records alone")
}

func TestASecretInEveryFieldOfALogRecordIsNowhere(t *testing.T) {
	c := start(t, "processors::tape::keep::outcomes=[failed,recovered,incomplete,succeeded]", "service::telemetry::logs::level=debug")
	ld, planted := walktest.Logs()
	body, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	status, err := c.SendLogsJSON(context.Background(), body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	// The run has to be kept for the records to reach the store.
	id := walktest.TraceID.String()
	status, err = c.SendJSON(context.Background(), []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"`+id+`","spanId":"00000000000000a2",
		"name":"execute_tool t","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[
		{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"t"}}]}]}]}]}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	awaitStatus(t, c, id, http.StatusOK, "")
	look := func(place string, content []byte) {
		for _, leak := range walktest.Leaks(content, planted) {
			assert.Fail(t, "leak", "%s: %s", place, leak.Place)
		}
	}
	_, stored, err := harness.Get(context.Background(), c.API+"/v1/tapes/"+id+"/trace")
	require.NoError(t, err)
	require.Contains(t, string(stored), "tape.log.body", "the record is stored")
	answers(t, c, id, look)
	storeFiles(t, c.StoreDir(), look)
	log, err := os.ReadFile(c.LogPath())
	require.NoError(t, err)
	look("log", log)
}
