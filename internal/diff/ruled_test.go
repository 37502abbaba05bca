package diff

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

const bookings = `rules:
  - {tool: log, path: at, match: ignore, why: the time of the call}
  - {path: "**.trace", match: ignore}
  - {tool: price, path: eur, match: number, abs: 0.5}
  - {path: ticket, match: id}
  - {path: ticket, match: id, in: result}
`

func lines(t *testing.T, text string) *tape.Tape {
	t.Helper()
	read, err := tape.ReadAll(strings.NewReader(text))
	require.NoError(t, err)
	return read
}

// Two runs are compared by the rules by which a replay would match them.
func TestRulesSayWhatMayDiffer(t *testing.T) {
	policy, err := rules.Parse("bookings.yaml", []byte(bookings))
	require.NoError(t, err)
	set, err := rules.Compile(policy)
	require.NoError(t, err)
	unused := []string{"at of log: the time of the call (0 calls)", "**.trace: ignored: it is claimed that it cannot matter (0 calls)"}
	for name, c := range map[string]struct {
		a, b   string
		counts Counts
		// changes are places of the first step, claims and hits what the report lists.
		changes []string
		claims  []string
		hits    int
	}{
		"ignored": {
			a: `{"seq":1,"tool":"log","args":{"at":1,"m":"x"}}`, b: `{"seq":1,"tool":"log","args":{"at":2,"m":"x"}}`,
			counts: Counts{Same: 1}, claims: []string{"at of tool log: the time of the call (1 calls)", unused[1]}, hits: 1,
		},
		"ignored, and on one side alone": {
			a: `{"seq":1,"tool":"log","args":{"m":"x"}}`, b: `{"seq":1,"tool":"log","args":{"at":2,"m":"x"}}`,
			counts: Counts{Same: 1}, claims: []string{"at of tool log: the time of the call (1 calls)", unused[1]}, hits: 1,
		},
		"ignored beside what differs": {
			a: `{"seq":1,"tool":"log","args":{"at":1,"m":"x"}}`, b: `{"seq":1,"tool":"log","args":{"at":2,"m":"y"}}`,
			counts: Counts{Changed: 1}, changes: []string{"args.m"}, claims: []string{"at of tool log: the time of the call (1 calls)", unused[1]},
		},
		"near": {
			a: `{"seq":1,"tool":"price","args":{"eur":1}}`, b: `{"seq":1,"tool":"price","args":{"eur":1.25}}`,
			counts: Counts{Same: 1}, claims: unused, hits: 1,
		},
		"not near": {
			a: `{"seq":1,"tool":"price","args":{"eur":1}}`, b: `{"seq":1,"tool":"price","args":{"eur":2}}`,
			counts: Counts{Changed: 1}, changes: []string{"args.eur"}, claims: unused,
		},
		"aligned by what rules leave": {
			a: `{"seq":1,"tool":"log","args":{"at":1,"m":"x"}}
{"seq":2,"tool":"log","args":{"at":2,"m":"y"}}`,
			b: `{"seq":1,"tool":"log","args":{"at":7,"m":"y"}}`, counts: Counts{Same: 1, Missing: 1},
			claims: []string{"at of tool log: the time of the call (1 calls)", unused[1]}, hits: 1,
		},
		"ids correspond": {
			a: `{"seq":1,"tool":"open","args":{},"result":{"ticket":"a1"}}
{"seq":2,"tool":"shut","args":{"ticket":"a1"}}`,
			b: `{"seq":1,"tool":"open","args":{},"result":{"ticket":"b1"}}
{"seq":2,"tool":"shut","args":{"ticket":"b1"}}`,
			counts: Counts{Same: 2}, claims: unused, hits: 2,
		},
		"ids cross": {
			a: `{"seq":1,"tool":"open","args":{},"result":{"ticket":"a1"}}
{"seq":2,"tool":"shut","args":{"ticket":"a1"}}`,
			b: `{"seq":1,"tool":"open","args":{},"result":{"ticket":"b1"}}
{"seq":2,"tool":"shut","args":{"ticket":"b2"}}`,
			counts: Counts{Same: 1, Changed: 1}, changes: []string{"args.ticket"}, claims: unused, hits: 1,
		},
		"no rule": {
			a: `{"seq":1,"tool":"x","args":{"at":1}}`, b: `{"seq":1,"tool":"x","args":{"at":2}}`,
			counts: Counts{Changed: 1}, changes: []string{"args.at"}, claims: unused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Tapes(lines(t, c.a+"\n"), lines(t, c.b+"\n"), Rules(set))
			assert.Equal(t, c.counts, r.Counts)
			var changes, claims []string
			if len(r.Steps) > 0 {
				for _, change := range r.Steps[0].Changes {
					changes = append(changes, change.Place())
				}
			}
			for _, claim := range r.Claims {
				claims = append(claims, claim.String())
			}
			assert.Equal(t, c.changes, changes)
			assert.ElementsMatch(t, c.claims, claims)
			hits := 0
			for _, h := range r.RuleHits {
				hits += h.Hits
			}
			assert.Equal(t, c.hits, hits)
			assert.Len(t, r.Policy.Rules, 5)
			var page bytes.Buffer
			require.NoError(t, r.HTML(&page))
			assert.Contains(t, page.String(), "Taken for granted")
		})
	}
}

// What a replay by rules claimed is in the comparison with its report.
func TestTheRulesOfAReplayAreInItsReport(t *testing.T) {
	recorded := lines(t, `{"seq":1,"tool":"log","args":{"at":1}}`+"\n")
	policy, err := rules.Parse("bookings.yaml", []byte(bookings))
	require.NoError(t, err)
	session, err := replay.New(recorded, replay.WithRules(policy))
	require.NoError(t, err)
	_, err = session.Ask(t.Context(), replay.Request{Tool: "log", Args: []byte(`{"at":2}`)})
	require.NoError(t, err)
	r, err := Replayed(recorded, session.Report())
	require.NoError(t, err)
	assert.True(t, r.Same)
	assert.Len(t, r.RuleHits, 1)
	assert.NotEmpty(t, r.Claims)
}
