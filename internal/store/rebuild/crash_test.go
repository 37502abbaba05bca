package rebuild_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/archive"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

const crashed = "0102030405060708090a0b0c0d0e0f10"

// A collector that dies at any request of a write, before the bucket has it or
// after it has it and before it could say so, leaves the whole run or none. Its
// successor, who writes all of it again, completes it.
func TestACrashAtAnyRequestOfAWriteToABucket(t *testing.T) {
	server := s3test.Start(t)
	decided := time.Now().UTC().Truncate(time.Second)
	write := func(st *store.Store) error {
		td := decidedRun(t, crashed, decided, strings.Repeat("a", 2000), strings.Repeat("b", 2000))
		if err := putRun(t, st, "failures", crashed, decided, td); err != nil {
			return err
		}
		return st.AppendRows(t.Context(), []tape.Row{{
			TraceID: crashed, Outcome: tape.OutcomeFailed, Class: "failures", Kept: true, Decided: decided.Format(time.RFC3339Nano),
		}})
	}
	// Two bodies, a fragment and a file of the index.
	const requests = 4
	for name, last := range map[string]s3test.Fault{"not stored": s3test.Reset, "stored, but not said": s3test.LoseAnswer} {
		for n := range requests {
			t.Run(fmt.Sprintf("%s, request %d", name, n+1), func(t *testing.T) {
				prefix := strings.NewReplacer("/", "-", ",", "").Replace(t.Name())
				st, proxy := bucket(t, server, prefix)
				faults := append(slices.Repeat([]s3test.Fault{s3test.Pass}, n), last)
				proxy.Break("", append(faults, slices.Repeat([]s3test.Fault{s3test.Reset}, 20)...)...)
				require.Error(t, write(st))

				reader, _ := bucket(t, server, prefix)
				whole := func() {
					tp, err := rebuild.Tape(t.Context(), reader, crashed, rebuild.Options{})
					require.NoError(t, err)
					assert.Len(t, tp.Records, 2)
					assert.Empty(t, tp.Manifest.Gaps)
				}
				page, err := reader.Rows(t.Context(), store.Query{})
				require.NoError(t, err)
				if _, err := reader.Trace(t.Context(), crashed); err == nil || len(page.Rows) > 0 {
					whole()
				} else {
					require.ErrorIs(t, err, store.ErrNotFound)
				}

				successor, _ := bucket(t, server, prefix)
				for range 2 {
					require.NoError(t, write(successor))
				}
				whole()
				page, err = reader.Rows(t.Context(), store.Query{})
				require.NoError(t, err)
				require.Len(t, page.Rows, 1)
				assert.Equal(t, crashed, page.Rows[0].TraceID)
			})
		}
	}
}

func TestTwoCollectorsWithHalfARunEachGiveOneTape(t *testing.T) {
	server := s3test.Start(t)
	start := time.Now().UTC().Add(-time.Minute).Truncate(time.Second)
	whole := storetest.AgentRun(t, crashed, start,
		storetest.Call{Tool: "search", Args: `{"q":1}`, Result: `{"hits":3}`},
		storetest.Call{Tool: "fetch", Args: `{"id":2}`, Result: `{"text":"x"}`},
		storetest.Call{Tool: "pay", Args: `{"sum":3}`, Error: "declined"})
	// One has the root and the first call, the other the rest, in different classes.
	for half := range 2 {
		td := storetest.AgentRun(t, crashed, start)
		whole.CopyTo(td)
		spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		n := 0
		spans.RemoveIf(func(ptrace.Span) bool { n++; return (n <= 2) == (half == 1) })
		st, _ := bucket(t, server, "halves")
		a := archive.New(st, archive.Options{
			Class:    func(tape.Row) string { return []string{"failures", "kept"}[half] },
			Scrubber: scrub.New(redact.Default()),
		})
		result := a.Write(t.Context(), td)
		require.NoError(t, result.Err)
		require.NoError(t, result.RefusedErr())
	}
	reader, _ := bucket(t, server, "halves")
	tp, err := rebuild.Tape(t.Context(), reader, crashed, rebuild.Options{})
	require.NoError(t, err)
	var tools []string
	for _, r := range tp.Records {
		tools = append(tools, r.Tool)
	}
	assert.Equal(t, []string{"search", "fetch", "pay"}, tools)
	assert.Equal(t, tape.OutcomeFailed, tp.Manifest.Outcome)
	page, err := reader.Rows(t.Context(), store.Query{})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 1, "and one row")
}
