package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func rowsOf(ids ...string) []tape.Row {
	var rows []tape.Row
	for _, id := range ids {
		rows = append(rows, tape.Row{TraceID: id, Outcome: tape.OutcomeFailed, Kept: true})
	}
	return rows
}

func traceID(n int) string { return fmt.Sprintf("%032x", n+1) }

func at(offset time.Duration) string {
	return noon.Add(offset).Format(time.RFC3339Nano)
}

// list follows a query to its end.
func list(t *testing.T, s *store.Store, q store.Query) []tape.Row {
	t.Helper()
	var rows []tape.Row
	for {
		page, err := s.Rows(t.Context(), q)
		require.NoError(t, err)
		rows = append(rows, page.Rows...)
		if page.Next == "" {
			return rows
		}
		require.NotEmpty(t, page.Rows)
		q.Cursor = page.Next
	}
}

func ids(rows []tape.Row) []string {
	list := []string{}
	for _, r := range rows {
		list = append(list, r.TraceID)
	}
	return list
}

func TestRowsComeBackWholeAndNewestFirst(t *testing.T) {
	backends(t, func(t *testing.T, b store.Backend) {
		s, damaged := open(t, b)
		cost := 0.5
		want := tape.Row{
			TraceID: idA, ConversationID: "c", Service: "s", Agent: "a", Environment: "prod", Tenant: "t",
			Outcome: tape.OutcomeFailed, Trigger: tape.TriggerRootEnded, FailureClass: "external_timeout",
			FailureReason: "took \"too\" long\n\u2028", FailingTool: "fetch", Tools: []string{"fetch", "search"},
			Models: []string{"m"}, Steps: 3, Spans: 9, ToolCalls: 2, ModelCalls: 1, FailedCalls: 1,
			InputTokens: 10, OutputTokens: 20, Cost: &cost, Start: at(-time.Minute), DurationMS: 1.5,
			Bytes: 99, Fidelity: tape.FidelityExact, Kept: true, Class: "failures", Decided: at(0),
		}
		require.NoError(t, s.AppendRows(t.Context(), []tape.Row{want}))
		require.NoError(t, s.AppendRows(t.Context(), nil))
		got, err := s.Row(t.Context(), strings.ToUpper(idA))
		require.NoError(t, err)
		assert.Equal(t, want, got)

		require.NoError(t, s.AppendRows(t.Context(), []tape.Row{
			{TraceID: traceID(1), Outcome: tape.OutcomeSucceeded, Decided: at(time.Hour)},
			{TraceID: traceID(2), Outcome: tape.OutcomeSucceeded, Decided: at(-time.Hour)},
			{TraceID: strings.ToUpper(idB), Outcome: tape.OutcomeSucceeded, Decided: "2026-01-02T14:00:00+01:00"},
			{TraceID: traceID(4), Outcome: tape.OutcomeSucceeded, Decided: "no time"},
		}))
		assert.Equal(t, []string{traceID(1), idB, idA, traceID(4), traceID(2)}, ids(list(t, s, store.Query{})))
		assert.Empty(t, damaged.list)
		require.ErrorIs(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: "x"}}), store.ErrBadTraceID)
	})
}

func TestQueries(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	require.NoError(t, s.AppendRows(t.Context(), []tape.Row{
		{TraceID: traceID(1), Outcome: "failed", Tools: []string{"fetch", "search"}, Class: "failures", FailureClass: "external_timeout", Service: "shop", Agent: "buyer", ConversationID: "c1", Kept: true, Decided: at(1 * time.Second)},
		{TraceID: traceID(2), Outcome: "succeeded", Tools: []string{"search"}, Service: "shop", Agent: "seller", ConversationID: "c1", Decided: at(2 * time.Second)},
		{TraceID: traceID(3), Outcome: "recovered", Class: "failures", Service: "bank", Kept: true, Decided: at(3 * time.Second)},
		{TraceID: traceID(4), Outcome: "succeeded", Class: "gold", Service: "bank", Kept: true, Decided: at(3 * time.Hour)},
	}))
	tests := map[string]struct {
		query store.Query
		want  []int
	}{
		"all":                      {store.Query{}, []int{4, 3, 2, 1}},
		"outcome":                  {store.Query{Outcome: []tape.Outcome{"failed"}}, []int{1}},
		"any of two outcomes":      {store.Query{Outcome: []tape.Outcome{"failed", "recovered"}}, []int{3, 1}},
		"tool":                     {store.Query{Tool: []string{"search"}}, []int{2, 1}},
		"tool unknown":             {store.Query{Tool: []string{"sear"}}, nil},
		"retention class":          {store.Query{Class: []string{"failures"}}, []int{3, 1}},
		"failure class":            {store.Query{Class: []string{"external_timeout"}}, []int{1}},
		"service and outcome":      {store.Query{Service: []string{"bank"}, Outcome: []tape.Outcome{"succeeded"}}, []int{4}},
		"agent":                    {store.Query{Agent: []string{"seller"}}, []int{2}},
		"conversation":             {store.Query{Conversation: []string{"c1"}}, []int{2, 1}},
		"kept":                     {store.Query{KeptOnly: true}, []int{4, 3, 1}},
		"since is included":        {store.Query{Since: noon.Add(3 * time.Second)}, []int{4, 3}},
		"until is excluded":        {store.Query{Until: noon.Add(3 * time.Second)}, []int{2, 1}},
		"since and until":          {store.Query{Since: noon.Add(2 * time.Second), Until: noon.Add(time.Hour)}, []int{3, 2}},
		"until the end of an hour": {store.Query{Until: noon.Add(3 * time.Hour)}, []int{3, 2, 1}},
		"since after everything":   {store.Query{Since: noon.Add(24 * time.Hour)}, nil},
		"an empty span of time":    {store.Query{Since: noon.Add(time.Hour), Until: noon}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := []string{}
			for _, n := range test.want {
				want = append(want, traceID(n))
			}
			assert.Equal(t, want, ids(list(t, s, test.query)))
			test.query.Limit = 1
			assert.Equal(t, want, ids(list(t, s, test.query)), "page by page")
		})
	}
}

func TestPagingIsStableUnderConcurrentWrites(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 7, 50} {
		s, _ := open(t, storetest.NewMemory())
		var rows []tape.Row
		var want []string
		for n := range 40 {
			// Four runs share each time of decision; five hours in all.
			offset := time.Duration(n/4) * 30 * time.Minute
			rows = append(rows, tape.Row{TraceID: traceID(n), Outcome: "failed", Decided: at(offset)})
			want = append([]string{traceID(n)}, want...)
		}
		require.NoError(t, s.AppendRows(t.Context(), rows))
		var got []string
		q := store.Query{Limit: limit}
		for n := 0; ; n++ {
			page, err := s.Rows(t.Context(), q)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(page.Rows), limit)
			got = append(got, ids(page.Rows)...)
			if page.Next == "" {
				break
			}
			q.Cursor = page.Next
			// New runs, and newer rows of runs shown already or still to come.
			require.NoError(t, s.AppendRows(t.Context(), []tape.Row{
				{TraceID: traceID(1000 + n), Outcome: "failed", Decided: at(5 * time.Hour)},
				{TraceID: traceID(n % 40), Outcome: "failed", Decided: at(5*time.Hour + time.Duration(n))},
				{TraceID: traceID(39 - n%40), Outcome: "failed", Kept: true, Decided: at(6 * time.Hour)},
			}))
		}
		assert.Equal(t, want, got, "limit %d", limit)
	}
}

func TestSeveralRowsOfOneRun(t *testing.T) {
	type write struct {
		kept   bool
		offset time.Duration
		agent  string
	}
	tests := map[string]struct {
		writes []write
		want   string
	}{
		"the newest decision wins":                {[]write{{false, 0, "old"}, {false, time.Minute, "new"}}, "new"},
		"also when written first":                 {[]write{{false, time.Minute, "new"}, {false, 0, "old"}}, "new"},
		"an upgrade wins":                         {[]write{{false, 0, "summary"}, {true, time.Minute, "kept"}}, "kept"},
		"a kept row outranks a newer summary":     {[]write{{true, 0, "kept"}, {false, time.Minute, "summary"}}, "kept"},
		"also when written last":                  {[]write{{false, time.Minute, "summary"}, {true, 0, "kept"}}, "kept"},
		"across the border of an hour":            {[]write{{true, 0, "kept"}, {false, 40 * time.Minute, "summary"}}, "kept"},
		"an upgrade hours later":                  {[]write{{false, 0, "summary"}, {true, 5 * time.Hour, "kept"}}, "kept"},
		"the newest of two kept rows":             {[]write{{true, 0, "old"}, {true, 3 * time.Hour, "new"}}, "new"},
		"the same row again":                      {[]write{{true, 0, "same"}, {true, 0, "same"}}, "same"},
		"the later written of two at one instant": {[]write{{true, 0, "first"}, {true, 0, "second"}}, "second"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			backends(t, func(t *testing.T, b store.Backend) {
				s, _ := open(t, b)
				for _, w := range test.writes {
					require.NoError(t, s.AppendRows(t.Context(), []tape.Row{
						{TraceID: idA, Outcome: "failed", Kept: w.kept, Agent: w.agent, Decided: at(w.offset)},
						{TraceID: idB, Outcome: "failed", Decided: at(w.offset)},
					}))
				}
				row, err := s.Row(t.Context(), idA)
				require.NoError(t, err)
				assert.Equal(t, test.want, row.Agent)
				for _, limit := range []int{1, 10} {
					rows := list(t, s, store.Query{Limit: limit})
					assert.ElementsMatch(t, []string{idA, idB}, ids(rows), "each run once")
					for _, r := range rows {
						if r.TraceID == idA {
							assert.Equal(t, test.want, r.Agent)
						}
					}
				}
			})
		})
	}
}

func TestADeletedRunIsGone(t *testing.T) {
	for _, decided := range []time.Duration{-time.Minute, -50 * time.Minute, -5 * time.Hour, 0, time.Hour} {
		t.Run(decided.String(), func(t *testing.T) {
			backends(t, func(t *testing.T, b store.Backend) {
				s, _ := open(t, b)
				_, err := s.PutFragment(t.Context(), "failures", idA, spans(t, idA, "root"))
				require.NoError(t, err)
				require.NoError(t, s.AppendRows(t.Context(), []tape.Row{
					{TraceID: idA, Outcome: "failed", Kept: true, Decided: at(decided - time.Minute)},
					{TraceID: idA, Outcome: "failed", Decided: at(decided)},
					{TraceID: idB, Outcome: "failed", Decided: at(decided)},
				}))
				require.NoError(t, s.Delete(t.Context(), strings.ToUpper(idA)))
				_, err = s.Trace(t.Context(), idA)
				require.ErrorIs(t, err, store.ErrNotFound)
				_, err = s.Row(t.Context(), idA)
				require.ErrorIs(t, err, store.ErrNotFound)
				assert.Equal(t, []string{idB}, ids(list(t, s, store.Query{})))
				require.ErrorIs(t, s.Delete(t.Context(), idA), store.ErrNotFound, "deleting again")

				// A late span brings it back under a newer decision.
				require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: idA, Outcome: "failed", Agent: "late", Decided: at(90 * time.Minute)}}))
				row, err := s.Row(t.Context(), idA)
				require.NoError(t, err)
				assert.Equal(t, "late", row.Agent)
				assert.Len(t, list(t, s, store.Query{}), 2)
			})
		})
	}
}

func TestDeleteOfARunThatHasOnlyFragmentsOrOnlyARow(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	_, err := s.PutFragment(t.Context(), "failures", idA, spans(t, idA, "root"))
	require.NoError(t, err)
	require.NoError(t, s.Delete(t.Context(), idA))
	require.NoError(t, s.AppendRows(t.Context(), rowsOf(idB)))
	require.NoError(t, s.Delete(t.Context(), idB))
	require.ErrorIs(t, s.Delete(t.Context(), idB), store.ErrNotFound)
}

func TestAListReadsOnlyThePartitionsItNeeds(t *testing.T) {
	b := storetest.NewMemory()
	s, _ := open(t, b)
	for n := range 10 * 24 {
		require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: traceID(n), Outcome: "failed", Decided: at(time.Duration(-n) * time.Hour)}}))
	}
	reads := 0
	b.Fail = func(op, _ string) error {
		if op == "get" {
			reads++
		}
		return nil
	}
	page, err := s.Rows(t.Context(), store.Query{Limit: 3})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 3)
	assert.LessOrEqual(t, reads, 5)

	reads = 0
	assert.Len(t, list(t, s, store.Query{Since: noon.Add(-2 * time.Hour)}), 3)
	assert.LessOrEqual(t, reads, 5)
}

func TestBadCursors(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	for _, bad := range []string{"%", "abc", "YSBiIGM", "MjAyNi0wMS0wMlQxMjozMDowMFogYiBj"} {
		_, err := s.Rows(t.Context(), store.Query{Cursor: bad})
		require.ErrorIs(t, err, store.ErrBadCursor, bad)
	}
}
