package retention

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// monday is the first moment of a week.
var monday = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// world is a store whose clock is turned by hand.
type world struct {
	t       testing.TB
	now     time.Time
	backend *storetest.Memory
	store   *store.Store
	config  Config
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, now: monday, backend: storetest.NewMemory(), config: DefaultConfig()}
	w.backend.Now = w.clock
	var err error
	w.store, err = store.Open(w.backend, store.Options{Now: w.clock})
	require.NoError(t, err)
	t.Cleanup(w.store.Close)
	return w
}

func (w *world) clock() time.Time { return w.now }

func (w *world) wait(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) sweeper() *Sweeper {
	require.NoError(w.t, w.config.Validate())
	return &Sweeper{Store: w.store, Policy: w.config.Policy(), Now: w.clock}
}

// stand has the policy stand long enough.
func (w *world) stand() {
	w.sweep()
	w.wait(w.config.Grace)
}

func id(n int) string { return fmt.Sprintf("%032x", n+1) }

// run stores a run as it is decided: its bodies, its spans and its row.
func (w *world) run(n int, outcome tape.Outcome, bodies ...string) string {
	w.t.Helper()
	return w.runIn(w.store, n, tape.Row{Outcome: outcome}, bodies...)
}

func (w *world) runIn(st *store.Store, n int, row tape.Row, bodies ...string) string {
	w.t.Helper()
	ctx := context.Background()
	row.TraceID, row.Kept = id(n), true
	row.Class = w.config.Policy().ClassOf(row)
	calls := []storetest.Call{{Tool: "search", Args: fmt.Sprintf(`{"n":%d}`, n), Result: "{}"}}
	for _, body := range bodies {
		calls = append(calls, storetest.Call{Tool: "read", Args: "{}", Result: body})
	}
	td := storetest.AgentRun(w.t, row.TraceID, w.now, calls...)
	_, err := offload.Traces(td, 1000, func(b offload.Body) error {
		return st.PutBlob(ctx, row.Class, w.now, b.SHA256, b.Data)
	})
	require.NoError(w.t, err)
	f, err := st.PutFragment(ctx, row.Class, row.TraceID, td)
	require.NoError(w.t, err)
	require.NoError(w.t, st.AppendEntries(ctx, []store.Entry{{Row: row, Fragment: f.Name}}))
	return row.TraceID
}

// summary stores the row of a run that is not kept.
func (w *world) summary(n int) string {
	w.t.Helper()
	require.NoError(w.t, w.store.AppendRows(context.Background(), []tape.Row{{TraceID: id(n), Outcome: tape.OutcomeSucceeded}}))
	return id(n)
}

func body(text string) string { return strings.Repeat(text+" ", 1000) }

// plays reports whether a run can be read whole.
func (w *world) plays(traceID string) bool {
	w.t.Helper()
	stored, err := rebuild.Traces(context.Background(), w.store, traceID)
	return err == nil && len(stored.Missing) == 0 && len(stored.Damaged) == 0
}

func (w *world) listed(traceID string) bool {
	w.t.Helper()
	_, err := w.store.Row(context.Background(), traceID)
	return err == nil
}

func (w *world) below(prefix string) []string {
	var names []string
	for _, name := range w.backend.Names() {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

func (w *world) plan() (items []Item, findings []Finding, report Report) {
	w.t.Helper()
	report, err := w.sweeper().Plan(context.Background(), func(i Item) { items = append(items, i) }, func(f Finding) { findings = append(findings, f) })
	require.NoError(w.t, err)
	return items, findings, report
}

func (w *world) sweep() []Item {
	w.t.Helper()
	var mu sync.Mutex
	var items []Item
	s := w.sweeper()
	s.Removed = func(i Item) {
		mu.Lock()
		defer mu.Unlock()
		items = append(items, i)
	}
	_, err := s.Sweep(context.Background())
	require.NoError(w.t, err)
	return items
}

func shaOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// manyTapes is a backend that lists tapes which are nowhere.
type manyTapes struct {
	storetest.Memory
	n      int
	stored time.Time
	note   string
	text   []byte
}

func (m *manyTapes) Folders(_ context.Context, folder string) ([]string, error) {
	if folder == "tapes/" {
		return []string{ClassFailures}, nil
	}
	return nil, nil
}

func (m *manyTapes) GetRange(context.Context, string, int64, int64) ([]byte, error) {
	return m.text, nil
}

func (m *manyTapes) List(_ context.Context, folder string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		switch folder {
		case "tapes/failures/":
			for n := range m.n {
				name := folder + id(n) + "/00112233445566778899aabbccddeeff.otlp.zst"
				if !yield(store.Object{Name: name, Size: 4096, Modified: m.stored}, nil) {
					return
				}
			}
		case "retention/policies/":
			yield(store.Object{Name: m.note, Size: int64(len(m.text))}, nil)
		}
	}
}
