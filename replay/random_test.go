package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

const seeds = 150

var words = []string{"", "a", "b c", "é", "e\u0301", "<x>", "1", "true", "搜索", "line\nbreak", `quo"te`, "  padded "}

// anyValue is a JSON value that a seed gives.
func anyValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case depth > 0 && n < 3:
		m := map[string]any{}
		for range r.IntN(4) {
			m[words[r.IntN(len(words))]+fmt.Sprint(r.IntN(3))] = anyValue(r, depth-1)
		}
		return m
	case depth > 0 && n < 5:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, anyValue(r, depth-1))
		}
		return list
	case n < 7:
		return words[r.IntN(len(words))]
	case n == 7:
		return r.IntN(100) - 50
	case n == 8:
		return float64(r.IntN(1000)) / 8
	}
	return []any{nil, true, false}[r.IntN(3)]
}

// anySession records a session of calls to a tool each, with arguments that a seed
// gives, and returns its tape and what was asked.
func anySession(t *testing.T, r *rand.Rand) (*tape.Tape, []Request) {
	s := start(t, nil, WithMode(ModeRecord))
	var asked []Request
	for i := range 2 + r.IntN(12) {
		args, err := json.Marshal(map[string]any{"n": i, "in": anyValue(r, 4)})
		require.NoError(t, err)
		request := Request{Tool: fmt.Sprint("tool", i), Args: args, Live: func(context.Context) (any, error) { return i, nil }}
		_, err = s.Ask(ctx, request)
		require.NoError(t, err)
		request.Live = never(t)
		asked = append(asked, request)
	}
	require.NoError(t, s.Close())
	return s.Tape(), asked
}

// eachSeed runs a test with many sessions; what fails names its seed.
func eachSeed(t *testing.T, test func(t *testing.T, r *rand.Rand, deck *tape.Tape, asked []Request)) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			deck, asked := anySession(t, r)
			test(t, r, deck, asked)
		})
	}
}

// spelledAnew is the same arguments with spaces, which have the same key.
func spelledAnew(t *testing.T, args json.RawMessage) json.RawMessage {
	var value any
	require.NoError(t, json.Unmarshal(args, &value))
	text, err := json.MarshalIndent(value, " ", "  ")
	require.NoError(t, err)
	return text
}

// TestARecordedSessionReplaysAsAllHits, in any order and in any spelling: what makes
// a record and what looks for it are one function.
func TestARecordedSessionReplaysAsAllHits(t *testing.T) {
	eachSeed(t, func(t *testing.T, r *rand.Rand, deck *tape.Tape, asked []Request) {
		s := start(t, deck)
		for _, i := range r.Perm(len(asked)) {
			request := asked[i]
			if r.IntN(2) == 0 {
				request.Args = spelledAnew(t, request.Args)
			}
			answer, err := s.Ask(ctx, request)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint(i), string(answer.Result))
			assert.Empty(t, answer.Rules)
		}
		require.NoError(t, s.Close())
		assert.Equal(t, len(asked), s.Stats().TapeHits)
	})
}

// changedLeaf changes one leaf of the arguments of a request and returns its path.
func changedLeaf(t *testing.T, r *rand.Rand, request Request) (Request, string) {
	var box any
	require.NoError(t, json.Unmarshal(request.Args, &box))
	list := leaves("", box, nil)
	leaf := list[r.IntN(len(list))]
	leaf.set("changed")
	args, err := json.Marshal(box)
	require.NoError(t, err)
	request.Args = args
	return request, leaf.path
}

// TestASingleChangeAnywhereIsNamed: a leaf that changed is reported as its path, a
// call that is gone as its record, and one that is new as itself; nothing else is.
func TestASingleChangeAnywhereIsNamed(t *testing.T) {
	eachSeed(t, func(t *testing.T, r *rand.Rand, deck *tape.Tape, asked []Request) {
		at := r.IntN(len(asked))
		changed, path := changedLeaf(t, r, asked[at])
		replayed := func(list []Request, options ...Option) *Report {
			s := start(t, deck, options...)
			for _, request := range list {
				_, _ = s.Ask(ctx, request)
			}
			return s.Report()
		}
		with := append(append(append([]Request{}, asked[:at]...), changed), asked[at+1:]...)
		report := replayed(with)
		require.Len(t, report.Events, 1)
		assert.Equal(t, VerdictDrift, report.Events[0].Verdict)
		assert.Equal(t, at+1, report.Events[0].Seq)
		require.Len(t, report.Events[0].Differences, 1)
		assert.Equal(t, path, report.Events[0].Differences[0].Path)

		without := append(append([]Request{}, asked[:at]...), asked[at+1:]...)
		report = replayed(without)
		assert.Empty(t, report.Events)
		require.Len(t, report.Unconsumed, 1)
		assert.Equal(t, at+1, report.Unconsumed[0].Seq)

		more := append(append(append([]Request{}, asked[:at]...), Request{Tool: "another", Args: raw(`{"never":"seen"}`)}), asked[at:]...)
		report = replayed(more)
		require.Len(t, report.Events, 1)
		assert.Equal(t, VerdictMiss, report.Events[0].Verdict)
		assert.Equal(t, at+1, report.Events[0].Call)
		assert.Empty(t, report.Unconsumed)

		// A rule about that place makes a hit that names it, one about another does not.
		ignore := &rules.Policy{Rules: []rules.Rule{{Path: path, Match: rules.Ignore}}}
		report = replayed(with, WithRules(ignore))
		assert.True(t, report.Clean)
		assert.Equal(t, []RuleHit{{"ignore at " + path, 1}}, report.RuleHits)
		other := &rules.Policy{Rules: []rules.Rule{{Path: "elsewhere.**", Match: rules.Ignore}, {Path: "**", Match: rules.UUID}, {Path: "**", Match: rules.ID, Kind: tape.KindModel}}}
		report = replayed(with, WithRules(other))
		require.Len(t, report.Events, 1)
		require.Len(t, report.Events[0].Differences, 1)
		assert.Equal(t, path, report.Events[0].Differences[0].Path)
		assert.Empty(t, report.RuleHits)
	})
}

// TestSwappedArgumentsAreNoSwappedAnswers: two calls of one tool that change places
// get their own answers, and are reported as reordered.
func TestSwappedArgumentsAreNoSwappedAnswers(t *testing.T) {
	eachSeed(t, func(t *testing.T, r *rand.Rand, deck *tape.Tape, asked []Request) {
		for i := range deck.Records {
			rec := &deck.Records[i]
			rec.Tool, rec.Start = "tool", ""
			rec.Key, _ = tape.KeyOf(rec)
			asked[i].Tool = "tool"
		}
		at := r.IntN(len(asked) - 1)
		order := make([]int, len(asked))
		for i := range order {
			order[i] = i
		}
		order[at], order[at+1] = at+1, at
		s := start(t, deck)
		for _, i := range order {
			answer, err := s.Ask(ctx, asked[i])
			require.NoError(t, err)
			assert.Equal(t, i+1, answer.Seq)
		}
		require.NoError(t, s.Close())
		assert.Equal(t, 1, s.Stats().Reordered)
	})
}
