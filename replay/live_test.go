package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func shop(t *testing.T) *tape.Tape {
	return parse(t,
		`{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","service":"shop"}`,
		`{"seq":1,"tool":"find","args":{"q":"a"},"result":"old","side_effect":false}`,
		`{"seq":2,"tool":"pay","args":{"account":"acme-prod","cents":5},"result":"old","side_effect":true}`,
		`{"seq":3,"tool":"note","args":{"text":"done"},"result":"old"}`,
	)
}

var silent = WithAuditLog(slog.New(slog.NewTextHandler(io.Discard, nil)))

func fresh(context.Context) (string, error) { return "new", nil }

func TestRefusalsSayWhatToDo(t *testing.T) {
	yes, no := true, false
	all := Live{Isolated: true, Tools: []string{"t"}, SideEffects: true}
	for name, c := range map[string]struct {
		live   Live
		kind   tape.Kind
		effect *bool
		want   string
	}{
		"not isolated":        {Live{Tools: []string{"t"}, SideEffects: true}, tape.KindTool, &no, "--isolated"},
		"not named":           {Live{Isolated: true, SideEffects: true}, tape.KindTool, &no, "--allow t"},
		"a side effect":       {Live{Isolated: true, Tools: []string{"t"}}, tape.KindTool, &yes, "--allow-side-effects"},
		"nobody knows":        {Live{Isolated: true, Tools: []string{"t"}}, tape.KindTool, nil, "nobody knows"},
		"no side effect":      {Live{Isolated: true, Tools: []string{"t"}}, tape.KindTool, &no, ""},
		"allowed":             {all, tape.KindTool, &yes, ""},
		"a model":             {all, tape.KindModel, nil, "--allow-kind model"},
		"an allowed model":    {Live{Isolated: true, Kinds: []tape.Kind{tape.KindModel}}, tape.KindModel, nil, ""},
		"the clock":           {Live{Isolated: true}, tape.KindClock, nil, ""},
		"a name is not a sub": {Live{Isolated: true, Tools: []string{"tt"}}, tape.KindTool, &no, "--allow t"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.live.Refuse(c.kind, "t", c.effect)
			if c.want == "" {
				assert.Empty(t, got)
			} else {
				assert.Contains(t, got, c.want)
			}
		})
	}
}

func TestNothingRunsWhereItIsNotDeclaredSafe(t *testing.T) {
	for want, option := range map[string]Option{
		"not declared isolated":            WithLive(Live{Tools: []string{"find"}}),
		"nothing is named":                 WithLive(Live{Isolated: true}),
		"run live by their names":          WithLive(Live{Isolated: true, Kinds: []tape.Kind{tape.KindTool}}),
		"unknown kind":                     WithLive(Live{Isolated: true, Kinds: []tape.Kind{"x"}}),
		"fork at step 0: steps count from": WithFork(0, Live{Isolated: true}),
		"the tape has 3 steps":             WithFork(5, Live{Isolated: true}),
		"a derived tape is made where":     WithDerived(filepath.Join(t.TempDir(), "d.jsonl")),
	} {
		_, err := New(shop(t), option)
		require.ErrorContains(t, err, want)
	}
	_, err := New(shop(t), WithLive(Live{Isolated: true, Tools: []string{"find"}}), WithMode(ModeReplayRecord))
	require.ErrorContains(t, err, "in mode strict only")
	_, err = New(shop(t), WithLive(Live{Tools: []string{"find"}}))
	require.ErrorIs(t, err, ErrRefused)
}

func TestChosenToolsRunLive(t *testing.T) {
	var log bytes.Buffer
	path := filepath.Join(t.TempDir(), "derived.jsonl")
	s, err := New(shop(t), WithLive(Live{Isolated: true, Tools: []string{"find", "pay"}}), WithDerived(path),
		WithAuditLog(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	got, err := Do(ctx, s, "find", args{"q": "a"}, fresh)
	require.NoError(t, err)
	assert.Equal(t, "new", got)
	_, err = s.Call(ctx, "pay", args{"account": "acme-prod", "cents": 5}, never(t))
	require.ErrorIs(t, err, ErrRefused, "it has a side effect")
	got, err = Do(ctx, s, "note", args{"text": "done"}, fresh)
	require.NoError(t, err)
	assert.Equal(t, "old", got, "what is not named comes from the tape")

	closed := s.Close()
	require.ErrorIs(t, closed, ErrUnclean)
	require.ErrorIs(t, closed, ErrRefused)
	r := s.Report()
	assert.Equal(t, ChangedWorld, r.Experiment)
	assert.Equal(t, 1, r.Stats.LiveToolCalls)
	assert.Equal(t, 1, r.Stats.Refused)
	assert.Zero(t, r.Stats.Unconsumed)
	assert.Equal(t, VerdictRefused, r.Events[0].Verdict)
	assert.Contains(t, r.Text(), "live: find, pay; no side effects; 2 records set aside\n")
	assert.Contains(t, log.String(), "tool=find")
	assert.NotContains(t, log.String(), "tool=pay")

	derived, err := tape.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, &tape.Parent{TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Experiment: "changed_world"}, derived.Manifest.Parent)
	assert.Equal(t, "shop", derived.Manifest.Service)
	assert.True(t, derived.Manifest.Complete)
	require.Len(t, derived.Records, 2)
	assert.JSONEq(t, `"new"`, string(derived.Records[0].Result))
	assert.JSONEq(t, `"old"`, string(derived.Records[1].Result))
	assert.Equal(t, []tape.Member{{Name: "parent_seq", Value: raw("3")}}, derived.Records[1].Extra)
	assert.Empty(t, tape.Verify(derived))

	_, err = New(shop(t), WithLive(Live{Isolated: true, Tools: []string{"find"}}), WithDerived(path))
	require.ErrorIs(t, err, fs.ErrExist)
}

// What a session derived is a tape like any other.
func TestADerivedTapeReplays(t *testing.T) {
	live := Live{Isolated: true, Tools: []string{"find", "pay", "note"}, SideEffects: true}
	s := start(t, shop(t), WithFork(2, live), silent)
	program := func(s *Session, do func(context.Context) (string, error)) []string {
		var got []string
		for _, c := range []struct {
			tool string
			args args
		}{{"find", args{"q": "a"}}, {"pay", args{"account": "acme-prod", "cents": 7}}, {"note", args{"text": "x"}}} {
			answer, err := Do(ctx, s, c.tool, c.args, do)
			require.NoError(t, err)
			got = append(got, answer)
		}
		now, err := s.Now(ctx)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		return append(got, now.String())
	}
	first := program(s, fresh)
	assert.Equal(t, []string{"old", "new", "new"}, first[:3])
	again := start(t, s.Tape())
	assert.Equal(t, first, program(again, nil))
}

func TestForkFreezesWhatCameBefore(t *testing.T) {
	live := Live{Isolated: true, Tools: []string{"pay"}, SideEffects: true}
	s := start(t, shop(t), WithFork(2, live), silent)
	_, err := s.Call(ctx, "pay", args{"account": "x"}, never(t))
	require.ErrorIs(t, err, ErrMiss, "the prefix has not been asked for")
	_, err = s.Call(ctx, "find", args{"q": "b"}, never(t))
	require.ErrorIs(t, err, ErrDrift, "calls before the fork must hit")
	require.ErrorIs(t, s.Close(), ErrUnclean)

	s = start(t, shop(t), WithFork(2, live), silent)
	got, err := Do(ctx, s, "find", args{"q": "a"}, fresh)
	require.NoError(t, err)
	assert.Equal(t, "old", got)
	got, err = Do(ctx, s, "pay", args{"cents": 1}, fresh)
	require.NoError(t, err)
	assert.Equal(t, "new", got)
	_, err = Do(ctx, s, "note", args{"text": "done"}, fresh)
	require.ErrorIs(t, err, ErrRefused, "it is not allowed by name")
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "note", refused.Tool)
	r := s.Report()
	assert.Equal(t, Fork, r.Experiment)
	assert.Equal(t, 2, r.Policy.Fork)
	assert.Equal(t, 2, r.Policy.Asides)
	assert.False(t, r.Clean)
}

// A call that ran beside the last one before the fork may come before it.
func TestCallsBesideAForkMayComeFirst(t *testing.T) {
	tp := parse(t,
		`{"seq":1,"tool":"a","args":1,"result":1,"start":"2026-01-01T00:00:00Z","ms":100}`,
		`{"seq":2,"tool":"b","args":2,"result":2,"start":"2026-01-01T00:00:00.01Z","ms":100,"side_effect":false}`,
		`{"seq":3,"tool":"b","args":3,"result":3,"start":"2026-01-01T00:00:09Z","ms":1,"side_effect":false}`,
	)
	s := start(t, tp, WithFork(2, Live{Isolated: true, Tools: []string{"b"}}), silent)
	got, err := Do(ctx, s, "b", 2, fresh2)
	require.NoError(t, err)
	assert.Equal(t, 99, got)
	_, err = Do(ctx, s, "b", 3, fresh2)
	require.ErrorIs(t, err, ErrMiss, "this one began later")
}

func fresh2(context.Context) (int, error) { return 99, nil }

func TestSubstitution(t *testing.T) {
	sub := Substitution{Values: map[string]string{"acme-prod": "acme-test", "42": "7", "eu": "sandbox"}, Members: []string{"account", "tenant"}}
	for name, c := range map[string]struct {
		args, want string
		paths      []string
		refused    string
	}{
		"a value":             {`{"account":"acme-prod"}`, `{"account":"acme-test"}`, []string{"account"}, ""},
		"a number":            {`{"tenant":42}`, `{"tenant":7}`, []string{"tenant"}, ""},
		"a number to a word":  {`{"id":[1,42]}`, `{"id":[1,7]}`, []string{"id[1]"}, ""},
		"a word in a text":    {`{"url":"https://x/acme-prod/eu?a=acme-prod2"}`, `{"url":"https://x/acme-test/sandbox?a=acme-prod2"}`, []string{"url"}, ""},
		"nothing":             {`{"x":"europe"}`, `{"x":"europe"}`, nil, ""},
		"the sandbox's own":   {`{"account":"acme-test"}`, `{"account":"acme-test"}`, nil, ""},
		"no substitute":       {`{"a":{"account":"other"}}`, "", nil, "the value of a.account has no substitute"},
		"no substitute, list": {`{"tenant":["acme-prod","other"]}`, "", nil, "the value of tenant[1] has no substitute"},
	} {
		t.Run(name, func(t *testing.T) {
			out, paths, refused := sub.apply(raw(c.args))
			if c.refused != "" {
				assert.Contains(t, refused, c.refused)
				assert.NotContains(t, refused, "other", "a refusal names no value")
				return
			}
			assert.Empty(t, refused)
			assert.JSONEq(t, c.want, string(out))
			assert.Equal(t, c.paths, paths)
		})
	}
}

func TestALiveCallRunsWithTheSubstitutes(t *testing.T) {
	live := Live{Isolated: true, Tools: []string{"pay"}, SideEffects: true,
		Substitution: Substitution{Values: map[string]string{"acme-prod": "acme-test"}}}
	s := start(t, shop(t), WithFork(2, live), silent)
	_, err := Do(ctx, s, "find", args{"q": "a"}, fresh)
	require.NoError(t, err)

	_, err = s.Call(ctx, "pay", args{"account": "acme-prod"}, never(t))
	require.ErrorContains(t, err, "does not take the arguments")
	type payment struct {
		Account string `json:"account"`
	}
	pay := Tool(s, "pay", func(_ context.Context, p payment) (string, error) { return p.Account, nil })
	got, err := pay(ctx, payment{"acme-prod"})
	require.NoError(t, err)
	assert.Equal(t, "acme-test", got)

	records := s.Tape().Records
	last := records[len(records)-1]
	assert.JSONEq(t, `{"account":"acme-prod"}`, string(last.Args), "the tape has what the program asked")
	assert.Equal(t, []tape.Member{{Name: "substituted", Value: raw(`["account"]`)}}, last.Extra)
}

func TestReadSubstitution(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.yaml")
	require.NoError(t, os.WriteFile(path, []byte("values: {acme-prod: acme-test}\nmembers: [account]\n"), 0o600))
	sub, err := ReadSubstitution(path)
	require.NoError(t, err)
	assert.Equal(t, Substitution{Values: map[string]string{"acme-prod": "acme-test"}, Members: []string{"account"}}, sub)
	require.NoError(t, os.WriteFile(path, []byte("values: {acme-prod: ''}\nmembers: [account, '']\n"), 0o600))
	_, err = ReadSubstitution(path)
	require.ErrorContains(t, err, path+`: line 1: values: "acme-prod" -> "": both sides must be there; line 2: members[1]: empty`)
}

func TestTrialsAreCountedWithAnInterval(t *testing.T) {
	n := 0
	tally, err := Trials(ctx, shop(t), 2, Live{Isolated: true}, 10, func(ctx context.Context, s *Session) (string, error) {
		n++
		if n == 4 {
			return "fine", nil // It never asked for the prefix.
		}
		if _, err := Do(ctx, s, "find", args{"q": "a"}, fresh); err != nil {
			return "", err
		}
		switch {
		case n == 5:
			return "", errors.New("broken")
		case n%2 == 0:
			return "refunded", nil
		}
		return "asked again", nil
	}, silent)
	require.NoError(t, err)
	assert.Equal(t, 9, tally.Trials)
	assert.Equal(t, 1, tally.Diverged)
	require.Len(t, tally.Outcomes, 3)
	assert.Equal(t, "asked again", tally.Outcomes[0].Outcome)
	assert.Equal(t, 4, tally.Outcomes[0].Count)
	assert.Equal(t, 1, tally.Outcomes[2].Count)
	assert.Contains(t, tally.Text(), "9 trials, and 1 that did not come to the fork\n  asked again: 4 of 9, 44 % (95 % interval 19 to 73 %)\n")

	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Trials(ended, shop(t), 2, Live{Isolated: true}, 3, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Trials(ctx, shop(t), 2, Live{Isolated: true}, 0, nil)
	require.Error(t, err)
	_, err = Trials(ctx, shop(t), 2, Live{}, 1, nil)
	require.ErrorIs(t, err, ErrRefused)
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		n, of     int
		low, high float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {5, 10, 0.2366, 0.7634}, {1, 1, 0.2065, 1}} {
		low, high := Wilson(c.n, c.of)
		assert.InDelta(t, c.low, low, 1e-4)
		assert.InDelta(t, c.high, high, 1e-4)
	}
}

type args map[string]any

func TestToolWithoutASessionRuns(t *testing.T) {
	double := Tool(nil, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	got, err := double(ctx, 4)
	require.NoError(t, err)
	assert.Equal(t, 8, got)
	s := start(t, parse(t, `{"seq":1,"tool":"double","args":4,"result":100}`))
	got, err = double(WithSession(ctx, s), 4)
	require.NoError(t, err)
	assert.Equal(t, 100, got)
	require.NoError(t, s.Close())
	_, err = json.Marshal(s.Report())
	require.NoError(t, err)
}
