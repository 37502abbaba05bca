package suggest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// report has one drift for each pair of argument texts.
func report(pairs ...string) *replay.Report {
	r := &replay.Report{}
	for i := 0; i+1 < len(pairs); i += 2 {
		list, err := replay.Diff([]byte(pairs[i]), []byte(pairs[i+1]))
		if err != nil {
			panic(err)
		}
		r.Events = append(r.Events, replay.Event{Verdict: replay.VerdictDrift, Kind: tape.KindTool, Tool: "get", Differences: list})
	}
	return r
}

func from(reports ...*replay.Report) []Place {
	var sources []Source
	for i, r := range reports {
		sources = append(sources, Source{fmt.Sprint("r", i), r})
	}
	return From(sources, 2)
}

func TestTheNarrowestRuleIsProposed(t *testing.T) {
	const uuidA, uuidB = "6f1f4c1e-0d0a-4c8e-9a55-2f6b0f3d7a11", "c2b7a6d0-93be-4f4e-8b61-7d5e0a1c9f02"
	for name, c := range map[string]struct {
		pairs []string
		want  string
	}{
		"uuid":            {[]string{`{"a":"` + uuidA + `"}`, `{"a":"` + uuidB + `"}`, `{"a":"` + uuidB + `"}`, `{"a":"` + uuidA + `"}`}, "uuid at a"},
		"time near":       {[]string{`{"a":"2026-01-01T00:00:00Z"}`, `{"a":"2026-01-01T00:00:05Z"}`, `{"a":"2026-01-01T00:00:00Z"}`, `{"a":"2026-01-01T00:00:00.5Z"}`}, "time at a within 10s"},
		"time far":        {[]string{`{"a":"2026-01-01T00:00:00Z"}`, `{"a":"2027-01-01T00:00:05Z"}`, `{"a":"2026-01-02T00:00:00Z"}`, `{"a":"2027-01-01T00:00:00Z"}`}, "time at a"},
		"number":          {[]string{`{"a":100}`, `{"a":104}`, `{"a":50}`, `{"a":51}`}, "number at a ± 0.05 of the larger"},
		"numbers too far": {[]string{`{"a":1}`, `{"a":100}`, `{"a":50}`, `{"a":51}`}, ""},
		"case":            {[]string{`{"a":"X"}`, `{"a":"x"}`, `{"a":"y"}`, `{"a":"Y"}`}, "case at a"},
		"nfc":             {[]string{`{"a":"\u00e9"}`, `{"a":"e\u0301"}`, `{"a":"e\u0301"}`, `{"a":"\u00e9"}`}, "nfc at a"},
		"order":           {[]string{`{"a":[1,2,3]}`, `{"a":[3,1,2]}`, `{"a":["x","y"]}`, `{"a":["y","x"]}`}, "unordered at a"},
		"elements":        {[]string{`{"a":[{"b":10}]}`, `{"a":[{"b":11}]}`, `{"a":[0,{"b":20}]}`, `{"a":[0,{"b":21}]}`}, "number at a[*].b ± 0.1 of the larger"},
		"counters":        {[]string{`{"a":"run-1 (x)"}`, `{"a":"run-22 (x)"}`, `{"a":"run-3 (x)"}`, `{"a":"run-4 (x)"}`}, `regexp at a like run-\d+ \(x\)`},
		"ids":             {[]string{`{"a":"call_Ab12Cd"}`, `{"a":"call_Xy98Zz"}`, `{"a":"call_Qq11Qq"}`, `{"a":"call_Ww22Ww"}`}, "id at a in namespace call"},
		"repeated ids":    {[]string{`{"a":"ab12cd34"}`, `{"a":"ee55ff66"}`, `{"a":"ab12cd34"}`, `{"a":"ee55ff66"}`}, "id at a"},
		"crossed ids":     {[]string{`{"a":"call_Ab12Cd"}`, `{"a":"call_Xy98Zz"}`, `{"a":"call_Ab12Cd"}`, `{"a":"call_Ww22Ww"}`}, ""},
		"text":            {[]string{`{"a":"good"}`, `{"a":"bad"}`, `{"a":"hot"}`, `{"a":"cold"}`}, ""},
		"absent":          {[]string{`{}`, `{"a":1}`, `{}`, `{"a":1}`}, ""},
		"once":            {[]string{`{"a":1}`, `{"a":2}`}, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			got := from(report(c.pairs...))
			if c.want == "nothing" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Equal(t, 2, got[0].Drifts)
			if c.want == "" {
				assert.Nil(t, got[0].Rule)
				return
			}
			require.NotNil(t, got[0].Rule)
			r := *got[0].Rule
			assert.Equal(t, "get", r.Tool)
			r.Kind, r.Tool = "", ""
			assert.Equal(t, c.want, r.String())
		})
	}
}

func TestTheProposalIsAPolicyFile(t *testing.T) {
	places := from(
		report(`{"at":"2026-01-01T00:00:00Z","q":"a"}`, `{"at":"2026-01-01T00:00:05Z","q":"b"}`),
		report(`{"at":"2026-01-01T00:00:00Z","q":"\u2028x"}`, `{"at":"2026-01-01T00:00:05Z","q":"d"}`, `{"at":1}`, `{"at":1}`),
	)
	places[0].Tool, places[0].Rule.Tool = "a\u2028: b", "a\u2028: b"
	text := Policy(places, 2)
	assert.Equal(t, `# Proposed from 2 reports. A rule takes values for the same that a replay would
# otherwise report: keep those that are right, and delete the others.
rules:
  # 2 drifts in 2 reports, such as "2026-01-01T00:00:00Z" -> "2026-01-01T00:00:05Z"
  - kind: tool
    tool: "a\u2028: b"
    path: "at"
    match: time
    within: 10s
# No rule but ignore would explain what differs at these places:
# tool get at q: 2 drifts in 2 reports, such as "a" -> "b"
`, string(text))
	p, err := rules.Parse("proposal", text)
	require.NoError(t, err)
	assert.Equal(t, "a\u2028: b", p.Rules[0].Tool)
	none := Policy(nil, 1)
	_, err = rules.Parse("proposal", none)
	require.NoError(t, err)
	assert.Contains(t, string(none), "rules: []")
}

// TestWhatIsProposedExplainsTheDrifts closes the circle.
func TestWhatIsProposedExplainsTheDrifts(t *testing.T) {
	deck, err := tape.ReadAll(strings.NewReader(`{"tool":"get","args":{"id":"call_Ab12","n":1000,"tags":["a","b"]}}`))
	require.NoError(t, err)
	live := json.RawMessage(`{"id":"call_Xy98Z1","n":1003,"tags":["b","a"]}`)
	replayed := func(options ...replay.Option) *replay.Report {
		s, err := replay.New(deck, options...)
		require.NoError(t, err)
		_, _ = s.Call(t.Context(), "get", live, nil)
		return s.Report()
	}
	deck.Records[0].Args = json.RawMessage(`{"id":"call_Ab12Cd","n":1000,"tags":["a","b"]}`)
	p, err := rules.Parse("p", Policy(from(replayed(), replayed()), 2))
	require.NoError(t, err)
	require.Len(t, p.Rules, 3)
	assert.True(t, replayed(replay.WithRules(p)).Clean)
}

func TestCutValuesAndOtherVerdictsTeachNothing(t *testing.T) {
	r := report(`{"a":1}`, `{"a":2}`, `{"a":1}`, `{"a":2}`)
	r.Events[0].Differences[0].Cut = true
	r.Events[1].Verdict = replay.VerdictDivergence
	assert.Empty(t, from(r, r))
}
