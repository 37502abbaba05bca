package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// What columns tell only spares rows from being read: an answer is what is left of all
// rows, also of runs that have several, in one file or in many.
func TestAQueryIsAnsweredAsIfAllRowsWereRead(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 9))
		pick := func(of ...string) string { return of[r.IntN(len(of))] }
		s, _ := open(t, storetest.NewMemory())
		for range 6 {
			var entries []store.Entry
			for range 1 + r.IntN(12) {
				e := store.Entry{Row: tape.Row{
					TraceID: fmt.Sprintf("%032x", 1+r.IntN(25)), Decided: at(time.Duration(r.IntN(200)) * time.Minute),
					Outcome: tape.Outcome(pick("failed", "succeeded", "recovered")), Trigger: tape.Trigger(pick("idle", "root_ended", "late_failure", "")),
					Service: pick("", "shop", "bank"), Agent: pick("", "buyer"), ConversationID: pick("", "c1", "c2"),
					Class: pick("", "failures", "kept"), FailureClass: pick("", "external_timeout"), Kept: r.IntN(2) == 0, Steps: r.IntN(3),
				}}
				e.Deleted = r.IntN(12) == 0
				e.Part = !e.Deleted && r.IntN(8) == 0
				entries = append(entries, e)
			}
			require.NoError(t, s.AppendEntries(t.Context(), entries))
			require.NoError(t, s.Flush(t.Context(), true))
		}
		all := list(t, s, store.Query{Limit: store.MaxLimit})
		for _, q := range []store.Query{
			{Service: []string{"shop"}}, {Service: []string{""}}, {Service: []string{"nobody"}}, {Agent: []string{"buyer"}},
			{Conversation: []string{"c1", "c2"}}, {Class: []string{"external_timeout"}}, {Class: []string{"kept", "failures"}},
			{Outcome: []tape.Outcome{"failed"}, Service: []string{"bank", "shop"}}, {Outcome: []tape.Outcome{"recovered"}, KeptOnly: true},
		} {
			q.Limit = store.MaxLimit
			want := slices.DeleteFunc(slices.Clone(all), func(row tape.Row) bool { return !fits(&q, &row) })
			assert.Equal(t, want, append([]tape.Row{}, list(t, s, q)...), "seed %d, %+v", seed, q)
		}
	}
}

// fits is written anew, so that the query does not judge itself.
func fits(q *store.Query, row *tape.Row) bool {
	has := func(wanted []string, values ...string) bool {
		return len(wanted) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(wanted, v) })
	}
	return has(q.Service, row.Service) && has(q.Agent, row.Agent) && has(q.Conversation, row.ConversationID) &&
		has(q.Class, row.Class, row.FailureClass) && (len(q.Outcome) == 0 || slices.Contains(q.Outcome, row.Outcome)) && (!q.KeptOnly || row.Kept)
}
