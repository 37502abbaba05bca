package dialect

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func TestWhatALogRecordStandsFor(t *testing.T) {
	text, err := os.ReadFile("testdata/samples/codex.logs.json")
	require.NoError(t, err)
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
	require.NoError(t, err)
	tools, failures := 0, 0
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, rec := range sl.LogRecords().All() {
				assert.NotEmpty(t, LogSession(rec))
				kind, failed := LogKind(rl.Resource(), sl.Scope(), rec)
				if kind == KindTool {
					tools++
				}
				if failed {
					failures++
				}
			}
		}
	}
	assert.Equal(t, 3, tools)
	assert.Equal(t, 1, failures)
}

func TestSessionsOfSpans(t *testing.T) {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for _, id := range []string{"b", "a", "b"} {
		spans.AppendEmpty().Attributes().PutStr("session.id", id)
	}
	spans.AppendEmpty().Attributes().PutStr("mcp.session.id", "transport")
	assert.Equal(t, []string{"b", "a"}, Sessions(td))
}
