package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tapedeck/tapedeck/tape"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// parse reads a tape whose records need not say what follows from them.
func parse(t testing.TB, lines ...string) *tape.Tape {
	read, err := tape.ReadAll(strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	return read
}

func start(t testing.TB, deck *tape.Tape, options ...Option) *Session {
	s, err := New(deck, options...)
	require.NoError(t, err)
	return s
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// never is a live function that must not run.
func never(t testing.TB) Func {
	return func(context.Context) (any, error) {
		t.Error("a call ran live")
		return nil, nil
	}
}

func TestHit(t *testing.T) {
	for name, c := range map[string]struct{ recorded, live string }{
		"reordered members":          {`{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`},
		"white space":                {`{"a":" x "}`, `{ "a" : "x" }`},
		"escapes":                    {`{"a":"\u003e\u00e9"}`, `{"a":">é"}`},
		"a member that is null":      {`{"a":1}`, `{"a":1,"b":null}`},
		"no arguments":               {`null`, ``},
		"floats equal in 6 decimals": {`{"a":0.1234561}`, `{"a":0.1234559}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, parse(t, `{"seq":1,"tool":"t","args":`+c.recorded+`,"result":{"z":1, "a":"\u003e"}}`))
			got, err := s.Call(ctx, "t", raw(c.live), never(t))
			require.NoError(t, err)
			assert.Equal(t, `{"z":1, "a":"\u003e"}`, string(got), "served as recorded, byte for byte")
			require.NoError(t, s.Close())
			assert.Equal(t, Stats{Mode: ModeStrict, Steps: 1, TapeHits: 1}, s.Stats())
		})
	}
}

func TestDriftNamesEachPlace(t *testing.T) {
	for name, c := range map[string]struct {
		recorded, live string
		want           []string
	}{
		"a value":               {`{"n":120}`, `{"n":80}`, []string{"n 120 -> 80"}},
		"number and text":       {`{"n":1}`, `{"n":"1"}`, []string{`n 1 -> "1"`}},
		"integer and float":     {`{"n":1}`, `{"n":1.0}`, []string{`n 1 -> 1.0`}},
		"true and one":          {`{"n":true}`, `{"n":1}`, []string{`n true -> 1`}},
		"composed accents":      {`{"s":"\u00e9"}`, `{"s":"e\u0301"}`, []string{"s \"\u00e9\" -> \"e\u0301\""}},
		"elements in order":     {`{"l":[1,2,3]}`, `{"l":[1,3,2]}`, []string{"l[1] 2 -> 3", "l[2] 3 -> 2"}},
		"element added":         {`{"l":[1]}`, `{"l":[1,2]}`, []string{"l[1] (absent) -> 2"}},
		"element removed":       {`{"l":[{"a":1},2]}`, `{"l":[{"a":1}]}`, []string{"l[1] 2 -> (absent)"}},
		"member added, removed": {`{"a":1,"b":{"x":1}}`, `{"b":{"y":1},"a":1}`, []string{"b.x 1 -> (absent)", "b.y (absent) -> 1"}},
		"names that need quotes": {`{"a.b":{"":{"c d":1,"搜索":2}}}`, `{"a.b":{"":{"c d":2,"搜索":3}}}`, []string{
			`["a.b"][""]["c d"] 1 -> 2`, `["a.b"][""].搜索 2 -> 3`,
		}},
		"type":              {`{"a":[1]}`, `{"a":{"b":1}}`, []string{`a [1] -> {"b":1}`}},
		"leaf and object":   {`{"a":1}`, `{"a":{"b":1}}`, []string{`a 1 -> {"b":1}`}},
		"whole value":       {`[1]`, `{"b":1}`, []string{`(whole) [1] -> {"b":1}`}},
		"nothing recorded":  {`null`, `{"b":1}`, []string{`(whole) null -> {"b":1}`}},
		"a timestamp":       {`{"at":"2026-01-01T00:00:00Z"}`, `{"at":"2026-01-01T00:00:01Z"}`, []string{`at "2026-01-01T00:00:00Z" -> "2026-01-01T00:00:01Z"`}},
		"null in an array":  {`[null]`, `[0]`, []string{`[0] null -> 0`}},
		"long values, rune": {`{"s":""}`, `{"s":"` + strings.Repeat("é", 100) + `"}`, []string{`s "" -> "` + strings.Repeat("é", 39) + `…`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, parse(t, `{"seq":7,"tool":"t","args":`+c.recorded+`}`))
			_, err := s.Call(ctx, "t", raw(c.live), never(t))
			require.ErrorIs(t, err, ErrDrift)
			var drift *DriftError
			require.ErrorAs(t, err, &drift)
			var got []string
			for _, d := range drift.Differences {
				got = append(got, d.String())
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, 7, drift.Seq)
			recordedKey, _ := tape.Key("t", []byte(c.recorded))
			liveKey, _ := tape.Key("t", []byte(c.live))
			assert.Equal(t, []string{recordedKey, liveKey}, []string{drift.RecordedKey, drift.LiveKey})
			assert.JSONEq(t, c.recorded, string(drift.RecordedArgs))
			assert.JSONEq(t, c.live, string(drift.LiveArgs))

			_, err = s.Call(ctx, "t", raw(c.recorded), never(t))
			require.NoError(t, err, "a drift takes nothing off the tape")
			err = s.Close()
			require.ErrorIs(t, err, ErrDrift, "although it was swallowed")
			require.ErrorIs(t, err, ErrUnclean)
			require.NotErrorIs(t, err, ErrUnconsumed)
			assert.Equal(t, 1, s.Stats().DriftEvents)
		})
	}
}

func TestDriftIsAgainstTheEarliestLeft(t *testing.T) {
	s := start(t, parse(t, `{"tool":"t","args":1}`, `{"tool":"u","args":5}`, `{"tool":"t","args":2}`, `{"tool":"t","kind":"model","args":3}`))
	_, err := s.Call(ctx, "t", 1, nil)
	require.NoError(t, err)
	var drift *DriftError
	_, err = s.Call(ctx, "t", 9, nil)
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, 3, drift.Seq, "records without seq count by their place")
	_, err = s.Call(ctx, "t", 9, nil, WithKind(tape.KindModel))
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, 4, drift.Seq)
	assert.Equal(t, tape.KindModel, drift.Kind)
}

func TestManyDifferencesAreCut(t *testing.T) {
	many := make([]int, 3*MaxDifferences)
	s := start(t, parse(t, `{"tool":"t","args":[]}`))
	_, err := s.Call(ctx, "t", many, nil)
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	assert.Len(t, drift.Differences, MaxDifferences)
	assert.Equal(t, 2*MaxDifferences, drift.More)
	assert.Contains(t, err.Error(), "and 200 more")
}

// TestIdenticalCalls: first recorded, first served; then exhausted.
func TestIdenticalCalls(t *testing.T) {
	s := start(t, parse(t, `{"tool":"poll","args":{},"result":"pending"}`, `{"tool":"poll","args":{},"result":"done"}`))
	for _, want := range []string{`"pending"`, `"done"`} {
		got, err := s.Call(ctx, "poll", raw("{}"), never(t))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	_, err := s.Call(ctx, "poll", raw("{}"), never(t))
	var exhausted *ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	require.ErrorIs(t, err, ErrExhausted)
	require.NotErrorIs(t, err, ErrMiss)
	assert.Equal(t, 2, exhausted.Served)
	assert.Equal(t, 2, exhausted.LastSeq)
	assert.Equal(t, "exhausted: call 3: poll:44136fa355b3 was answered 2 of 2 times, last by step 2", err.Error())
	require.ErrorIs(t, s.Close(), ErrExhausted)
}

// TestOneMissIsNotClean: nor is anything else, where all records were asked for.
func TestOneMissIsNotClean(t *testing.T) {
	s := start(t, parse(t, `{"tool":"t"}`))
	_, err := s.Call(ctx, "t", nil, nil)
	require.NoError(t, err)
	_, err = s.Call(ctx, "u", nil, nil)
	require.ErrorIs(t, err, ErrMiss)
	require.EqualError(t, s.Close(), "the replay was not clean: 1 miss")
}

// TestToolLoop: five turns that differ only in what came before are five
// answers, not one for ever.
func TestToolLoop(t *testing.T) {
	var lines []string
	history := "[]"
	var asked []string
	for i := range 5 {
		asked = append(asked, history)
		lines = append(lines, fmt.Sprintf(`{"tool":"chat","kind":"model","args":{"messages":%s},"result":%d}`, history, i))
		history = strings.TrimSuffix(history, "]") + fmt.Sprintf(`%s{"role":"tool","content":"%d"}]`, map[bool]string{true: "", false: ","}[i == 0], i)
	}
	s := start(t, parse(t, lines...))
	for i, messages := range asked {
		got, err := Do[int](ctx, s, "chat", raw(`{"messages":`+messages+`}`), nil, WithKind(tape.KindModel))
		require.NoError(t, err)
		assert.Equal(t, i, got)
	}
	require.NoError(t, s.Close())
}

func TestArgumentsDecideNotPosition(t *testing.T) {
	deck := parse(t, `{"tool":"t","args":1,"result":"one"}`, `{"tool":"t","args":2,"result":"two"}`, `{"tool":"t","args":3,"result":"three"}`)
	s := start(t, deck)
	for _, c := range []struct {
		arg  int
		want string
	}{{3, "three"}, {1, "one"}, {2, "two"}} {
		got, err := Do[string](ctx, s, "t", c.arg, nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	require.NoError(t, s.Close())
	assert.Equal(t, 2, s.Stats().Reordered, "one and two came after three")
}

// TestReorderedKnowsWhatRanAtTheSameTime: calls that overlapped when they were
// recorded have no order to be out of.
func TestReorderedKnowsWhatRanAtTheSameTime(t *testing.T) {
	deck := parse(t,
		`{"tool":"t","args":1,"start":"2026-01-01T00:00:00Z","ms":3000}`,
		`{"tool":"t","args":2,"start":"2026-01-01T00:00:01Z","ms":1000}`,
		`{"tool":"t","args":3,"start":"2026-01-01T00:00:03Z","ms":1}`)
	for order, want := range map[[3]int]int{{1, 2, 3}: 0, {2, 1, 3}: 0, {3, 1, 2}: 2, {1, 3, 2}: 1} {
		s := start(t, deck)
		for _, arg := range order {
			_, err := s.Call(ctx, "t", arg, nil)
			require.NoError(t, err)
		}
		assert.Equal(t, want, s.Stats().Reordered, order)
	}
}

func TestMissNamesTheNearest(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"get_user","args":{"id":7}}`, `{"seq":2,"tool":"search","args":{"q":"a","n":1}}`)
	for name, c := range map[string]struct {
		tool, args string
		near       string
	}{
		"renamed tool":   {"fetch_user", `{"id":7}`, "step 1, get_user:7f05c2ba3c9f: the same arguments for another tool"},
		"spelling":       {"getUser", `{"id":8}`, "step 1, get_user:7f05c2ba3c9f: a similar name"},
		"nothing like":   {"zip", `{"z":1}`, ""},
		"served already": {"search", `{"q":"b","n":1}`, "the same tool, served before, differs at q \"a\" -> \"b\""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, deck)
			_, err := s.Call(ctx, "search", raw(`{"q":"a","n":1}`), nil)
			require.NoError(t, err)
			_, err = s.Call(ctx, c.tool, raw(c.args), never(t))
			var miss *MissError
			require.ErrorAs(t, err, &miss)
			require.ErrorIs(t, err, ErrMiss)
			assert.Equal(t, c.near == "", miss.Nearest == nil)
			require.ErrorIs(t, s.Close(), ErrMiss)
			assert.False(t, s.Report().Clean)
			key, _ := tape.Key("get_user", []byte(`{"id":7}`))
			assert.Contains(t, err.Error(), strings.ReplaceAll(c.near, "get_user:7f05c2ba3c9f", key))
		})
	}
}

func TestRecordedFailureIsAnAnswer(t *testing.T) {
	deck := parse(t, `{"seq":4,"tool":"pay","args":null,"result":{"partial":1},"error":{"code":"402","message":"declined","type":"CardError"}}`, `{"tool":"x","error":"boom"}`, `{"tool":"y","error":{"code":"7"}}`)
	s := start(t, deck)
	got, err := s.Call(ctx, "pay", nil, never(t))
	require.ErrorIs(t, err, ErrRecorded)
	var failure *RecordedError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, &RecordedError{Seq: 4, Tool: "pay", Code: "402", Message: "declined", Type: "CardError", Result: raw(`{"partial":1}`)}, failure)
	assert.Equal(t, "402: declined", err.Error())
	assert.Equal(t, `{"partial":1}`, string(got))
	_, err = s.Call(ctx, "x", nil, never(t))
	require.EqualError(t, err, "boom")
	_, err = s.Call(ctx, "y", nil, never(t))
	require.EqualError(t, err, "7 failed")
	require.NoError(t, s.Close(), "the replay was clean: it failed as recorded")
	assert.Equal(t, 3, s.Stats().TapeHits)
}

func TestStrictOrder(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"a","args":1}`, `{"seq":2,"tool":"b","args":2}`, `{"seq":3,"tool":"a","args":1}`)
	s := start(t, deck, WithOrder(OrderStrict))
	_, err := s.Call(ctx, "b", 2, never(t))
	require.ErrorIs(t, err, ErrDivergence)
	var divergence *DivergenceError
	require.ErrorAs(t, err, &divergence)
	assert.Equal(t, 1, divergence.Seq)
	assert.Equal(t, "a", divergence.ExpectedTool)
	_, err = s.Call(ctx, "a", 9, never(t))
	require.ErrorIs(t, err, ErrDrift, "the tool that is due, with other arguments")
	for _, next := range []struct {
		tool string
		arg  int
	}{{"a", 1}, {"b", 2}, {"a", 1}} {
		_, err = s.Call(ctx, next.tool, next.arg, never(t))
		require.NoError(t, err)
	}
	_, err = s.Call(ctx, "a", 1, never(t))
	require.ErrorIs(t, err, ErrExhausted)
	assert.Equal(t, 2, s.Stats().DriftEvents)
	assert.Equal(t, 1, s.Report().Divergences)
	err = s.Close()
	for _, want := range []error{ErrUnclean, ErrDivergence, ErrDrift, ErrExhausted} {
		require.ErrorIs(t, err, want)
	}
	require.EqualError(t, err, "the replay was not clean: 1 drift, 1 divergence, 1 exhausted")
}

func TestUnconsumedFailsAStrictReplay(t *testing.T) {
	deck := parse(t, `{"tool":"a"}`, `{"tool":"b"}`, `{"tool":"c"}`)
	s := start(t, deck)
	_, err := s.Call(ctx, "b", nil, nil)
	require.NoError(t, err)
	err = s.Close()
	require.ErrorIs(t, err, ErrUnconsumed)
	var unclean *UncleanError
	require.ErrorAs(t, err, &unclean)
	assert.Equal(t, "the replay was not clean: 2 unconsumed: step 1 a, step 3 c", err.Error())
	assert.Equal(t, err, s.Close(), "closing again says the same")
	_, err = s.Call(ctx, "a", nil, nil)
	require.ErrorIs(t, err, ErrClosed)
}

func TestACallThatIsGivenUpTakesNothing(t *testing.T) {
	s := start(t, parse(t, `{"tool":"a"}`))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := s.Call(ended, "a", nil, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Call(ctx, "a", make(chan int), nil)
	require.ErrorContains(t, err, "arguments of a")
	_, err = s.Call(ctx, "a", raw("{"), nil)
	require.ErrorContains(t, err, "arguments of a: invalid JSON")
	assert.Zero(t, s.Stats().Steps)
	_, err = s.Call(ctx, "a", nil, nil)
	require.NoError(t, err)
}
