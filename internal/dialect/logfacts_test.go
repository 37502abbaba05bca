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
				kind, failed := defaultConfig.LogKind(rl.Resource(), sl.Scope(), rec)
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

func TestNamesOfASpan(t *testing.T) {
	s := ptrace.NewSpan()
	s.Attributes().PutStr("mcp.session.id", "transport")
	session, call := SpanNames(s)
	assert.Empty(t, session+call)
	s.Attributes().PutStr("session.id", "s1")
	s.Attributes().PutStr("call_id", "c1")
	session, call = SpanNames(s)
	assert.Equal(t, "s1", session)
	assert.Equal(t, "c1", call)
}
