package recorder

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/tape"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func only1(t *testing.T, spans []ptrace.Span) tape.Row {
	t.Helper()
	got := rows(spans)
	require.Len(t, got, 1, "exactly one span carries the row")
	return got[0]
}

func TestAFailedRunIsKeptWhole(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1))
	f.add(tool(1, 3, 1, failed))
	f.add(agent(1, 1, failed))
	f.pass(4 * time.Second)
	assert.Empty(t, f.out(), "the root settles first")
	f.pass(2 * time.Second)

	spans := f.out()
	require.Len(t, spans, 3)
	row := only1(t, spans)
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
	assert.Equal(t, tape.TriggerRootEnded, row.Trigger)
	assert.True(t, row.Kept)
	assert.Equal(t, "failures", row.Class)
	assert.Equal(t, 2, row.ToolCalls)
	assert.Equal(t, 1, row.FailedCalls)
	for _, s := range spans {
		assert.Equal(t, tape.OutcomeFailed, attr.OutcomeOf(s.Attributes()))
		if strings.HasPrefix(s.Name(), "execute_tool") {
			key, ok := s.Attributes().Get(attr.Key)
			require.True(t, ok)
			assert.Regexp(t, `^t:[0-9a-f]{12}$`, key.Str())
			_, ok = s.Attributes().Get(attr.Seq)
			assert.True(t, ok)
		}
	}
	assert.Zero(t, f.live())
	f.balanced()
}

func TestAGoodRunBecomesOneSummarySpan(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), tool(1, 3, 1), agent(1, 1))
	f.pass(6 * time.Second)

	spans := f.out()
	require.Len(t, spans, 1)
	s := spans[0]
	row := only1(t, spans)
	assert.True(t, attr.IsSummary(s.Attributes()))
	assert.Equal(t, tape.OutcomeSucceeded, row.Outcome)
	assert.False(t, row.Kept)
	assert.Equal(t, 2, row.ToolCalls)
	assert.Equal(t, []string{"t"}, row.Tools)
	assert.Equal(t, "invoke_agent a", s.Name())
	assert.True(t, s.ParentSpanID().IsEmpty())
	assert.False(t, s.SpanID().IsEmpty())
	assert.GreaterOrEqual(t, s.EndTimestamp(), s.StartTimestamp())
	_, leaked := s.Attributes().Get("gen_ai.tool.call.arguments")
	assert.False(t, leaked, "a summary holds no content")
	f.balanced()
}

func TestRunsWithoutCallsAreLetGoOrPassedOn(t *testing.T) {
	f := newFixture(t, nil)
	f.add(span(1, 2, 1), span(1, 1, 0))
	f.pass(6 * time.Second)
	assert.Empty(t, f.out())
	assert.Equal(t, 2, f.counts.letGo)
	f.add(span(1, 3, 1))
	assert.Empty(t, f.out())
	f.balanced()

	f.add(tool(1, 4, 1, failed), agent(1, 9, failed))
	f.pass(6 * time.Second)
	assert.Len(t, rows(f.out()), 1, "a call makes it a run after all")
	f.balanced()

	f = newFixture(t, func(c *Config) { c.PassThrough = true })
	f.add(span(1, 2, 1), span(1, 1, 0, func(s ptrace.Span) { s.Attributes().PutStr("password", "hunter2") }))
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 2)
	for _, s := range spans {
		assert.Empty(t, attr.OutcomeOf(s.Attributes()))
		if v, ok := s.Attributes().Get("password"); ok {
			assert.Equal(t, "[REDACTED:password]", v.Str(), "what is passed on is redacted too")
		}
	}
	f.add(span(1, 3, 1))
	assert.Len(t, f.out(), 1)
	f.balanced()
}

func TestADecisionSaysHowFarItsTapeReplays(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), agent(1, 1))
	f.add(tool(2, 2, 1, func(s ptrace.Span) { s.Attributes().Remove("gen_ai.tool.call.result") }), agent(2, 1))
	f.add(span(3, 1, 0))
	f.pass(6 * time.Second)
	assert.Equal(t, 2, f.counts.examined, "a trace without calls has no tape")
	assert.Equal(t, 1, f.counts.replays)
}

func TestSpansWithoutTraceIDAreCounted(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(0, 1, 0), tool(1, 2, 1))
	assert.Equal(t, 1, f.counts.dropped[DropNoTraceID])
	f.balanced()
}

func TestEmptyRequests(t *testing.T) {
	f := newFixture(t, nil)
	td := ptrace.NewTraces()
	require.NoError(t, f.Add(context.Background(), td))
	td.ResourceSpans().AppendEmpty()
	require.NoError(t, f.Add(context.Background(), td))
	td.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
	require.NoError(t, f.Add(context.Background(), td))
	assert.Zero(t, f.Status().OpenRuns)
}

func TestSplitKeepsResourcesAndScopes(t *testing.T) {
	td := ptrace.NewTraces()
	for r := range 2 {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutInt("r", int64(r))
		rs.SetSchemaUrl(fmt.Sprint("r", r))
		for s := range 2 {
			ss := rs.ScopeSpans().AppendEmpty()
			ss.Scope().SetName(fmt.Sprint("s", s))
			ss.SetSchemaUrl(fmt.Sprint("s", s))
			for id := range 4 {
				tool(byte(1+id%2), byte(1+r*8+s*4+id), 0)(rs, ss.Spans().AppendEmpty())
			}
		}
	}
	pieces, err := newFixture(t, nil).split(td)
	require.NoError(t, err)
	require.Len(t, pieces, 2)
	for i, p := range pieces {
		assert.Equal(t, ID{15: byte(i + 1)}, p.id)
		assert.Equal(t, 8, p.amount.Spans)
		require.Equal(t, 2, p.td.ResourceSpans().Len())
		for r, rs := range p.td.ResourceSpans().All() {
			assert.Equal(t, fmt.Sprint("r", r), rs.SchemaUrl())
			require.Equal(t, 2, rs.ScopeSpans().Len())
			for s, ss := range rs.ScopeSpans().All() {
				assert.Equal(t, fmt.Sprint("s", s), ss.Scope().Name())
				assert.Equal(t, 2, ss.Spans().Len())
			}
		}
	}
}
