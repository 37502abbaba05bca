package recorder

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

func TestMarksThatCameWithTheSpansAreNotBelieved(t *testing.T) {
	forged := func(s ptrace.Span) {
		attr.PutRow(s.Attributes(), tape.Row{TraceID: "x", Outcome: tape.OutcomeSucceeded})
		s.Attributes().PutBool(attr.Summary, true)
		s.Attributes().PutStr(attr.Outcome, "succeeded")
		s.Attributes().PutStr(attr.Key, "t:000000000000")
		s.Attributes().PutStr("secret", "hunter2")
	}
	f := newFixture(t, nil)
	td := traces(tool(1, 2, 1, forged, failed), agent(1, 1, forged, failed))
	td.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.Redaction, f.policy)
	require.NoError(t, f.Add(context.Background(), td))
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 2)
	assert.Equal(t, tape.OutcomeFailed, only1(t, spans).Outcome)
	for _, s := range spans {
		assert.False(t, attr.IsSummary(s.Attributes()))
		secret, _ := s.Attributes().Get("secret")
		assert.Equal(t, "[REDACTED:secret]", secret.Str())
		if key, ok := s.Attributes().Get(attr.Key); ok {
			assert.NotEqual(t, "t:000000000000", key.Str())
		}
	}
}

func TestRulesTravelWithTheSpansWhereThereIsNoStore(t *testing.T) {
	policy, err := redact.New(redact.Config{Keys: []string{"pin"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		policy *redact.Policy
		carry  bool
		want   bool
	}{
		"default": {redact.Default(), true, false},
		"custom":  {policy, true, true},
		"stored":  {policy, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			deps := f.deps
			deps.Scrubber, deps.CarryPolicy = scrub.New(c.policy), c.carry
			f.open(f.cfg, deps)
			f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
			f.pass(6 * time.Second)
			require.Len(t, f.emitted, 1)
			res := f.emitted[0].ResourceSpans().At(0).Resource().Attributes()
			id, ok := res.Get(attr.Redaction)
			require.True(t, ok)
			assert.Equal(t, c.policy.Manifest().Policy, id.Str())
			rules, ok := res.Get(attr.RedactionRules)
			require.Equal(t, c.want, ok)
			if ok {
				assert.JSONEq(t, string(c.policy.Manifest().Rules), rules.Str())
			}
		})
	}
}
