package recorder

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
)

// Two traces that have taken the ids of each other's sessions: each names the other
// as the place of its log records.
func TestTracesThatNameEachOtherAsSessionsAreBothDecided(t *testing.T) {
	f := newFixture(t, keepAll)
	sessions := []string{"first", "second"}
	for i, own := range sessions {
		other := sessions[1-i]
		f.add(tool(1, byte(2+i), 1, func(s ptrace.Span) {
			s.SetTraceID(dialect.LogTraceID(own))
			s.Attributes().PutStr("gen_ai.conversation.id", other)
		}))
		ld := plog.NewLogs()
		rec := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		rec.SetTraceID(dialect.LogTraceID(own))
		rec.Body().SetStr("belongs to " + own)
		require.NoError(t, f.AddLogs(context.Background(), ld))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.pass(11 * time.Minute)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("each decision waits for the other")
	}
	f.balanced()
	assert.Zero(t, f.Status().OpenRuns)
	assert.Equal(t, 2, f.counts.kept, "no span goes with the log records")
	assert.Empty(t, f.counts.dropped[DropDamaged])
}

func TestALargeResourceIsNotMultipliedByLogRecords(t *testing.T) {
	const large = 1 << 20
	logs := func(scopes int, id func(int) pcommon.TraceID) plog.Logs {
		ld := plog.NewLogs()
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("large", strings.Repeat("r", large))
		for i := range scopes {
			sl := rl.ScopeLogs().AppendEmpty()
			sl.Scope().SetName(fmt.Sprint("scope ", i))
			sl.LogRecords().AppendEmpty().SetTraceID(id(i))
		}
		return ld
	}
	t.Run("by scopes", func(t *testing.T) {
		chunks, _, err := splitLogs(logs(50, func(int) pcommon.TraceID { return pcommon.TraceID{1} }), 1<<30)
		require.NoError(t, err)
		require.Len(t, chunks, 1)
		assert.Equal(t, 50, chunks[0].amount.Records)
		assert.Less(t, int(chunks[0].bytes), 2*large)

		mine, rest := plog.NewLogs(), plog.NewLogs()
		heir := ID{2}
		deal(chunks[0].ld, func(pcommon.Resource, plog.LogRecord) ID { return heir }, func(to ID) plog.Logs {
			if to == heir {
				return mine
			}
			return rest
		})
		assert.Equal(t, 50, mine.LogRecordCount())
		assert.Less(t, logsSizer.LogsSize(mine), 2*large)
	})
	for name, id := range map[string]func(int) pcommon.TraceID{
		"by runs":             func(i int) pcommon.TraceID { return pcommon.TraceID{1, byte(i)} },
		"by scopes of events": func(int) pcommon.TraceID { return pcommon.TraceID{1} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			require.ErrorIs(t, f.AddLogs(context.Background(), logs(100, id)), ErrTooLarge)
			assert.Zero(t, f.live())
		})
	}
}
