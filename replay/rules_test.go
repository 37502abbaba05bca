package replay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

func withRules(t testing.TB, lines ...string) Option {
	p, err := rules.Parse("rules.yaml", []byte("rules:\n- "+strings.Join(lines, "\n- ")))
	require.NoError(t, err)
	return WithRules(p)
}

// TestTimesAndDurationsMatchByARule: without the rule they are a drift that names
// the place.
func TestTimesAndDurationsMatchByARule(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"log","args":{"at":"2026-01-01T00:00:00Z","ms":120,"text":"a"},"result":"ok"}`)
	const live = `{"at":"2026-01-01T00:00:30Z","ms":125,"text":"a"}`
	_, err := start(t, deck).Call(ctx, "log", raw(live), never(t))
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	assert.Len(t, drift.Differences, 2)

	s := start(t, deck, withRules(t, `{path: at, match: time, within: 1m, name: clock}`, `{path: ms, match: number, rel: 0.1, tool: "l*"}`))
	answer, err := s.Ask(ctx, Request{Tool: "log", Args: raw(live)})
	require.NoError(t, err)
	assert.Equal(t, []string{"clock", "number at ms of l* ± 0.1 of the larger"}, answer.Rules)
	require.NoError(t, s.Close())
	report := s.Report()
	assert.Equal(t, []RuleHit{{"clock", 1}, {"number at ms of l* ± 0.1 of the larger", 1}}, report.RuleHits)
	assert.Len(t, report.Policy.Rules.Rules, 2)
	assert.Contains(t, report.Text(), "  rule clock: time at at within 1m0s\n")
	assert.Contains(t, report.Text(), "  hits by rule clock: 1\n")

	s = start(t, deck, withRules(t, `{path: at, match: time, within: 1m}`))
	_, err = s.Call(ctx, "log", raw(live), never(t))
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, []Difference{{Path: "ms", Recorded: raw("120"), Live: raw("125")}}, drift.Differences, "what the rule takes for the same is no difference")
}

func TestIgnoredFieldsAreClaims(t *testing.T) {
	deck := parse(t, `{"tool":"get","args":{"url":"u","trace":"1"}}`, `{"tool":"get","args":{"url":"v","trace":"1"}}`)
	s := start(t, deck, withRules(t, `{path: trace, match: ignore, why: it is only logged}`, `{path: "x.**", match: ignore, tool: put}`))
	for _, live := range []string{`{"url":"v","trace":"2"}`, `{"url":"u"}`} {
		_, err := s.Call(ctx, "get", raw(live), never(t))
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	assert.Equal(t, []Claim{
		{Rule: "ignore at trace", Kind: tape.KindTool, Tool: "get", Path: "trace", Calls: 2, Why: "it is only logged"},
		{Rule: "ignore at x.** of put", Tool: "put", Path: "x.**", Why: "ignored: it is claimed that it cannot matter"},
	}, s.Report().Claims)
	assert.Contains(t, s.Report().Text(), "  claim: trace of tool get: it is only logged (2 calls)\n")
}

// TestTheKeyComesBeforeRules: and of records that a rule fits, the earliest.
func TestTheKeyComesBeforeRules(t *testing.T) {
	deck := parse(t, `{"tool":"t","args":{"n":1},"result":1}`, `{"tool":"t","args":{"n":2},"result":2}`, `{"tool":"t","args":{"n":3},"result":3}`, `{"tool":"t","args":{"n":50},"result":50}`)
	s := start(t, deck, withRules(t, `{path: n, match: number, abs: 5}`))
	for _, c := range []struct{ live, want int }{{2, 2}, {4, 1}, {2, 3}, {47, 50}} {
		got, err := Do[int](ctx, s, "t", map[string]int{"n": c.live}, nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	_, err := s.Call(ctx, "t", raw(`{"n":4}`), nil)
	require.ErrorIs(t, err, ErrExhausted, "records fitted, and are used up")
	assert.Equal(t, 3, s.Report().RuleHits[0].Hits)
}

func TestRulesWithStrictOrder(t *testing.T) {
	deck := parse(t, `{"tool":"t","args":{"n":1}}`, `{"tool":"t","args":{"n":2}}`)
	s := start(t, deck, withRules(t, `{path: n, match: number, abs: 1}`), WithOrder(OrderStrict))
	_, err := s.Call(ctx, "t", raw(`{"n":2}`), nil)
	require.NoError(t, err, "the first is due, and fits")
	_, err = s.Call(ctx, "t", raw(`{"n":4}`), nil)
	require.ErrorIs(t, err, ErrDrift)
	_, err = s.Call(ctx, "t", raw(`{"n":3}`), nil)
	require.NoError(t, err)
	assert.Equal(t, 2, s.Report().RuleHits[0].Hits)
}

const (
	idRule     = `{path: "**.id", match: id}`
	resultRule = `{path: "**.id", match: id, in: result}`
)

func TestIDsAreRenamedConsistently(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"open","args":{"id":"r1"},"result":1}`, `{"seq":2,"tool":"open","args":{"id":"r2"},"result":2}`,
		`{"seq":3,"tool":"close","args":{"id":"r1"},"result":3}`, `{"seq":4,"tool":"close","args":{"id":"r2"},"result":4}`)
	call := func(s *Session, tool, id string) (int, error) {
		return Do[int](ctx, s, tool, map[string]string{"id": id}, nil)
	}
	s := start(t, deck, withRules(t, idRule))
	for _, c := range []struct {
		tool, id string
		want     int
	}{{"open", "a", 1}, {"open", "b", 2}, {"close", "b", 4}, {"close", "a", 3}} {
		got, err := call(s, c.tool, c.id)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	require.NoError(t, s.Close())

	s = start(t, deck, withRules(t, idRule))
	_, err := call(s, "open", "r2")
	require.NoError(t, err, "the recorded ids stand for themselves")
	_, err = call(s, "open", "x")
	require.NoError(t, err)
	got, err := call(s, "close", "x")
	require.NoError(t, err)
	assert.Equal(t, 3, got)
	_, err = call(s, "close", "r1")
	var drift *DriftError
	require.ErrorAs(t, err, &drift, "r2 is left, and stands for itself: ids do not cross")
	assert.Equal(t, []Difference{{Path: "id", Recorded: raw(`"r2"`), Live: raw(`"r1"`)}}, drift.Differences)
}

// TestAnExactKeyDoesNotCrossIDs: a live id that is also a recorded one, and
// stands for another.
func TestAnExactKeyDoesNotCrossIDs(t *testing.T) {
	deck := parse(t, `{"tool":"open","args":{"id":"a"},"result":1}`, `{"tool":"close","args":{"id":"b"},"result":2}`, `{"tool":"close","args":{"id":"a"},"result":3}`)
	s := start(t, deck, withRules(t, idRule))
	_, err := s.Call(ctx, "open", raw(`{"id":"b"}`), nil)
	require.NoError(t, err)
	got, err := s.Call(ctx, "close", raw(`{"id":"b"}`), nil)
	require.NoError(t, err)
	assert.Equal(t, "3", string(got), "b stands for a")
}

func TestServedIDsStandForThemselves(t *testing.T) {
	deck := parse(t, `{"tool":"create","args":{},"result":{"id":"r"}}`, `{"tool":"pay","args":{"id":"r"}}`)
	s := start(t, deck, withRules(t, idRule, resultRule))
	_, err := s.Call(ctx, "create", raw(`{}`), nil)
	require.NoError(t, err)
	_, err = s.Call(ctx, "pay", raw(`{"id":"made up"}`), nil)
	require.ErrorIs(t, err, ErrDrift, "the program was given r")
	_, err = s.Call(ctx, "pay", raw(`{"id":"r"}`), nil)
	require.NoError(t, err)
}

// TestIDsOfToolCallsInModelRequests: frameworks make up ids of their own, and a
// result may not be handed to another call.
func TestIDsOfToolCallsInModelRequests(t *testing.T) {
	request := func(a, b, c, d string) string {
		return fmt.Sprintf(`{"messages":[{"role":"assistant","parts":[{"type":"tool_call","id":%q,"name":"x"},{"type":"tool_call","id":%q,"name":"y"}]},
			{"role":"tool","parts":[{"type":"tool_call_response","id":%q,"result":1},{"type":"tool_call_response","id":%q,"result":2}]}]}`, a, b, c, d)
	}
	deck := parse(t, `{"tool":"chat","kind":"model","args":`+strings.ReplaceAll(request("r1", "r2", "r1", "r2"), "\n", "")+`,"result":1}`)
	option := WithRules(&rules.Policy{Presets: []string{rules.PresetModelIDs}})
	s := start(t, deck, option)
	_, err := s.Call(ctx, "chat", raw(request("p", "q", "p", "q")), nil, WithKind(tape.KindModel))
	require.NoError(t, err)
	_, err = start(t, deck, option).Call(ctx, "chat", raw(request("p", "q", "q", "p")), nil, WithKind(tape.KindModel))
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, "messages[1].parts[0].id", drift.Differences[0].Path)
}

func TestUnorderedDriftNamesWhatIsLeft(t *testing.T) {
	deck := parse(t, `{"tool":"t","args":{"tags":["a","b","c"]}}`)
	_, err := start(t, deck, withRules(t, `{path: tags, match: unordered}`)).Call(ctx, "t", raw(`{"tags":["c","x","a"]}`), nil)
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	require.Len(t, drift.Differences, 1)
	assert.Equal(t, `"b" "x"`, string(drift.Differences[0].Recorded)+" "+string(drift.Differences[0].Live))
}

func TestARedactedAnswerCanBeAGap(t *testing.T) {
	body := bodySourceOf(`{"mail":"[REDACTED:email]"}`)
	deck := parse(t, `{"tool":"t","args":{"to":"[REDACTED:email]"},"result":"[REDACTED:email]","redacted":["result"]}`,
		`{"tool":"u","body":`+body.ref(`{"mail":"[REDACTED:email]"}`, "")+`}`)
	s := start(t, deck, WithBodies(body))
	_, err := s.Call(ctx, "t", raw(`{"to":"jane.doe@corp.com"}`), nil)
	require.NoError(t, err, "any address matches the placeholder of one")
	_, err = s.Call(ctx, "u", nil, nil)
	require.NoError(t, err)
	assert.Equal(t, 2, s.Stats().RedactedServed)
	report := s.Report()
	assert.Equal(t, 1, report.RedactedMatched)
	assert.Contains(t, report.Text(), "note: answers with a placeholder in place of a value: 2")
	_, err = start(t, deck).Call(ctx, "t", raw(`{"to":"nobody"}`), nil)
	require.ErrorIs(t, err, ErrDrift, "a placeholder has a type")

	s = start(t, deck, WithBodies(body), WithRedactedAsGap())
	for _, c := range []struct{ tool, args string }{{"t", `{"to":"jane.doe@corp.com"}`}, {"u", ""}} {
		_, err = s.Call(ctx, c.tool, raw(c.args), nil)
		require.ErrorIs(t, err, ErrGap)
		require.ErrorContains(t, err, "a value in it was redacted")
	}
	require.ErrorIs(t, s.Close(), ErrGap)
	assert.True(t, s.Report().Policy.RedactedAsGap)
}

func TestBadRulesAreRefused(t *testing.T) {
	_, err := New(nil, WithRules(&rules.Policy{Rules: []rules.Rule{{Path: "a", Match: "same"}}}))
	require.ErrorContains(t, err, `replay: rules: rule 1 (same at a): member "match": "same" is none of`)
}

func TestRulesAddUp(t *testing.T) {
	params := WithRules(&rules.Policy{Model: rules.Model{Params: []string{"seed"}}, Presets: []string{rules.PresetModelIDs}})
	s := start(t, nil, withRules(t, idRule), params, withRules(t, resultRule), WithRules(&rules.Policy{Presets: []string{rules.PresetModelIDs}}))
	text, err := json.Marshal(s.Report().Policy.Rules)
	require.NoError(t, err)
	assert.JSONEq(t, `{"presets":["model-ids"],"rules":[{"path":"**.id","match":"id"},{"path":"**.id","match":"id","in":"result"}],"model":{"params":["seed"]}}`, string(text))
	assert.Contains(t, s.Report().Text(), "compared parameters are: seed\n  rules of preset model-ids\n  rule id at **.id\n")
}

// TestShuffledWithRules: calls that no key matches, in any order and at the same
// time, leave the same answers and the same report.
func TestShuffledWithRules(t *testing.T) {
	const calls = 24
	var lines []string
	for i := range calls {
		lines = append(lines, fmt.Sprintf(`{"tool":"t","args":{"n":%d,"at":"2026-01-01T00:00:%02dZ","tags":["a","b"]},"result":%d,"start":"2026-01-01T00:00:00Z","ms":9}`, i%4, i, i))
	}
	deck := parse(t, lines...)
	option := withRules(t, `{path: at, match: time}`, `{path: tags, match: unordered}`)
	var want string
	for range 1000 {
		s := start(t, deck, option)
		answers := make([]string, calls)
		var wait sync.WaitGroup
		order := rand.Perm(calls)
		for _, part := range [][]int{order[:calls/3], order[calls/3:]} {
			wait.Go(func() {
				for _, i := range part {
					got, err := s.Call(ctx, "t", raw(fmt.Sprintf(`{"n":%d,"at":"2027-01-01T00:00:%02dZ","tags":["b","a"]}`, i%4, i)), never(t))
					answers[i] = fmt.Sprint(i%4, string(got), err)
				}
			})
		}
		wait.Wait()
		require.NoError(t, s.Close())
		slices.Sort(answers)
		report, err := json.Marshal(s.Report())
		require.NoError(t, err)
		got := strings.Join(answers, "\n") + string(report)
		if want == "" {
			want = got
		}
		require.Equal(t, want, got)
	}
}
