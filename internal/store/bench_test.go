package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// agentRun is a run of about the given length as OTLP protobuf, in text that
// compresses like the talk of agents does.
func agentRun(b *testing.B, id string, size int) ptrace.Traces {
	b.Helper()
	var calls []storetest.Call
	for n := 0; len(calls)*1400 < size; n++ {
		var text strings.Builder
		for line := 0; text.Len() < 1000; line++ {
			fmt.Fprintf(&text, `{"id":%d,"name":"item %d of %d","price":%d.%02d,"stock":%t} `, n*7919+line, line, n, n*line%97, line%100, line%3 == 0)
		}
		calls = append(calls, storetest.Call{Tool: "search", Args: fmt.Sprintf(`{"query":"number %d"}`, n), Result: text.String()})
	}
	return storetest.AgentRun(b, id, noon, calls...)
}

func BenchmarkPutFragment(b *testing.B) {
	for _, size := range []int{42 << 10, 1 << 20} {
		td := agentRun(b, idA, size)
		for name, backend := range map[string]func() store.Backend{
			"memory": func() store.Backend { return storetest.NewMemory() },
			"directory": func() store.Backend {
				d, err := dir.Open(b.TempDir())
				require.NoError(b, err)
				return d
			},
		} {
			b.Run(fmt.Sprintf("%dKiB/%s", size>>10, name), func(b *testing.B) {
				s, _ := open(b, backend())
				b.SetBytes(int64((&ptrace.ProtoMarshaler{}).TracesSize(td)))
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					if _, err := s.PutFragment(b.Context(), "failures", fmt.Sprintf("%032x", n+1), td); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkTrace(b *testing.B) {
	for _, stored := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("1MiB of %d", stored), func(b *testing.B) {
			root := b.TempDir()
			d, err := dir.Open(root)
			require.NoError(b, err)
			s, _ := open(b, d)
			// Other runs are only in the way, so that they need no sync each.
			for n := range stored - 1 {
				other := filepath.Join(root, "tapes", "failures", fmt.Sprintf("%032x", n+1))
				require.NoError(b, os.MkdirAll(other, 0o700))
				require.NoError(b, os.WriteFile(filepath.Join(other, strings.Repeat("0", 64)+".otlp.zst"), nil, 0o600))
			}
			_, err = s.PutFragment(b.Context(), "failures", idA, agentRun(b, idA, 1<<20))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Trace(b.Context(), idA); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// indexRow is one of n rows, one decided each second.
func indexRow(n int) tape.Row {
	return tape.Row{
		TraceID: traceID(n), Outcome: tape.OutcomeFailed, Service: "shop", Agent: "buyer", Tools: []string{"search", "pay"},
		Trigger: tape.TriggerRootEnded, Models: []string{"large"}, Steps: 12, Spans: 40, ToolCalls: 6, ModelCalls: 6,
		FailureReason: "declined by the bank", Start: at(0), DurationMS: 81234.5,
		Decided: noon.Add(time.Duration(n) * time.Second).Format(time.RFC3339Nano),
	}
}

// indexed is a directory whose index has n rows, an hour to a file.
func indexed(b *testing.B, n int) store.Backend {
	b.Helper()
	d, err := dir.Open(b.TempDir())
	require.NoError(b, err)
	s, _ := open(b, d)
	for from := 0; from < n; from += 3600 {
		var rows []tape.Row
		for i := from; i < min(from+3600, n); i++ {
			rows = append(rows, indexRow(i))
		}
		require.NoError(b, s.AppendRows(b.Context(), rows))
		require.NoError(b, s.Flush(b.Context(), true))
	}
	return d
}

func BenchmarkIndex(b *testing.B) {
	for _, total := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", total), func(b *testing.B) {
			d := indexed(b, total)
			s, _ := open(b, d)
			b.Run("newest 50", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if page, err := s.Rows(b.Context(), store.Query{Limit: 50}); err != nil || len(page.Rows) != 50 {
						b.Fatal(err)
					}
				}
			})
			b.Run("a service that is nowhere, in an hour", func(b *testing.B) {
				page, err := s.Rows(b.Context(), store.Query{Limit: 1})
				require.NoError(b, err)
				newest, err := time.Parse(time.RFC3339Nano, page.Rows[0].Decided)
				require.NoError(b, err)
				q := store.Query{Service: []string{"nowhere"}, Since: newest.Add(-time.Hour)}
				b.ReportAllocs()
				for b.Loop() {
					if page, err := s.Rows(b.Context(), q); err != nil || len(page.Rows) != 0 {
						b.Fatal(err)
					}
				}
			})
			b.Run("id of the oldest", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Row(b.Context(), traceID(0)); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("unknown id", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Row(b.Context(), idB); err == nil {
						b.Fatal("found")
					}
				}
			})
			b.Run("unknown id for the first time", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					fresh, _ := open(b, d)
					if _, err := fresh.Row(b.Context(), idB); err == nil {
						b.Fatal("found")
					}
				}
			})
		})
	}
}

func BenchmarkFlush(b *testing.B) {
	rows := make([]tape.Row, 10_000)
	for i := range rows {
		rows[i] = indexRow(i % 3600)
		rows[i].TraceID = traceID(i)
		rows[i].Decided = at(time.Duration(i) * time.Millisecond)
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		d, err := dir.Open(b.TempDir())
		require.NoError(b, err)
		s, _ := open(b, d, func(o *store.Options) { o.FlushRows = 20_000 })
		require.NoError(b, s.AppendRows(b.Context(), rows))
		b.StartTimer()
		if err := s.Flush(b.Context(), true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendRows(b *testing.B) {
	d, err := dir.Open(b.TempDir())
	require.NoError(b, err)
	s, _ := open(b, d)
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if err := s.AppendRows(b.Context(), rowsOf(idA)); err != nil {
				b.Error(err)
			}
		}
	})
}
