package retention

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func TestFailuresStay30DaysAndSummaries7(t *testing.T) {
	w := newWorld(t)
	failed, recovered, kept := w.run(1, tape.OutcomeFailed), w.run(2, tape.OutcomeRecovered), w.run(3, tape.OutcomeSucceeded)
	summary := w.summary(4)
	w.sweep()
	w.wait(7*day - time.Minute)
	assert.Empty(t, w.sweep())
	w.wait(2 * time.Hour)
	assert.Len(t, w.sweep(), 1)
	assert.False(t, w.listed(summary))
	for _, run := range []string{failed, recovered, kept} {
		assert.True(t, w.listed(run))
	}
	w.wait(23*day - 3*time.Hour)
	assert.Empty(t, w.sweep())
	w.wait(3 * time.Hour)
	w.sweep()
	for _, run := range []string{failed, recovered, kept} {
		assert.False(t, w.plays(run))
		assert.False(t, w.listed(run))
	}
	assert.Empty(t, w.below("tapes/"))
	assert.Empty(t, w.below("index/"))
}

func TestTwoTapesShareABlobTheFirstExpiresTheSecondStillPlays(t *testing.T) {
	w := newWorld(t)
	w.stand()
	first := w.run(1, tape.OutcomeFailed, body("shared"))
	w.wait(2 * day)
	second := w.run(2, tape.OutcomeFailed, body("shared"))
	require.Len(t, w.below("blobs/"), 1)
	w.wait(28*day + time.Hour)
	w.sweep()
	assert.False(t, w.plays(first))
	assert.True(t, w.plays(second))
	w.wait(2 * day)
	w.sweep()
	assert.False(t, w.plays(second))
	w.wait(14 * day)
	w.sweep()
	assert.Empty(t, w.below("blobs/"), "the body goes with its week")
}

func TestAFailedPublicationLeavesNothingAfterTheGracePeriod(t *testing.T) {
	w := newWorld(t)
	w.stand()
	played := w.run(1, tape.OutcomeFailed, body("named"))
	w.backend.Fail = func(op, name string) error {
		if op == "put" && strings.HasPrefix(name, "tapes/") {
			return errors.New("full")
		}
		return nil
	}
	orphan := body("never published")
	sha := shaOf(orphan)
	require.NoError(t, w.store.PutBlob(t.Context(), ClassFailures, w.now, sha, []byte(orphan)))
	w.backend.Fail = nil
	require.Len(t, w.below("blobs/"), 2)
	w.wait(7*day - time.Hour)
	w.sweep()
	require.Len(t, w.below("blobs/"), 2, "the week is over, the grace period is not")
	w.wait(time.Hour)
	w.sweep()
	require.Len(t, w.below("blobs/"), 1)
	assert.True(t, w.plays(played))
	_, err := w.store.Blob(t.Context(), sha)
	require.ErrorIs(t, err, store.ErrNotFound)
	assert.Len(t, w.below("retention/scanned/"), 1)
	assert.Empty(t, w.sweep(), "a week is looked through once")
}

func TestADamagedFragmentKeepsAllBodiesOfItsTime(t *testing.T) {
	w := newWorld(t)
	w.stand()
	w.run(1, tape.OutcomeFailed, body("named"))
	w.backend.Damage(w.below("tapes/")[0], func([]byte) []byte { return []byte("torn") })
	w.wait(7*day + w.config.Grace)
	_, findings, _ := w.plan()
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].Text, "cannot be read")
	w.sweep()
	assert.Len(t, w.below("blobs/"), 1)
}

func TestWhatHasTheNameOfNoFragmentIsToldAndGoesWithItsClass(t *testing.T) {
	w := newWorld(t)
	w.stand()
	require.NoError(t, w.backend.Put(t.Context(), "tapes/failures/"+id(1)+"/part.otlp.gz", []byte("of another kind")))
	w.run(2, tape.OutcomeFailed, body("named"))
	w.wait(7*day + w.config.Grace)
	_, findings, _ := w.plan()
	require.NotEmpty(t, findings)
	assert.Contains(t, findings[0].Text, "part.otlp.gz cannot be read")
	w.wait(30 * day)
	w.sweep()
	assert.Empty(t, w.below("tapes/failures/"+id(1)+"/"))
}

func TestSeveralSweepersAtATime(t *testing.T) {
	w := newWorld(t)
	w.stand()
	for n := range 20 {
		w.run(n, tape.OutcomeFailed, body("shared"))
	}
	w.wait(60 * day)
	young := w.run(999, tape.OutcomeFailed, body("shared"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := w.sweeper().Sweep(context.Background())
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.True(t, w.plays(young))
	assert.Len(t, w.below("tapes/"), 1)
	assert.Len(t, w.below("blobs/"), 1)
}

func TestALateSpanOfAnExpiredRunIsANewRevision(t *testing.T) {
	w := newWorld(t)
	w.stand()
	run := w.run(1, tape.OutcomeFailed)
	w.wait(30 * day)
	late := storetest.AgentRun(t, run, w.now, storetest.Call{Tool: "late", Args: "{}"})
	f, err := w.store.PutFragment(t.Context(), ClassFailures, run, late)
	require.NoError(t, err)
	assert.Empty(t, w.sweep(), "what was added to keeps the whole run")
	w.wait(30 * day)
	w.sweep()
	assert.False(t, w.plays(run))
	again, err := w.store.PutFragment(t.Context(), ClassFailures, run, late)
	require.NoError(t, err)
	assert.Equal(t, f, again)
	assert.Empty(t, w.sweep())
	assert.True(t, w.plays(run), "what comes after the end is a revision with an age of its own")
}

func TestASweepThatIsKilledLeavesWhatTheNextTakesUp(t *testing.T) {
	for step := range 40 {
		w := newWorld(t)
		w.stand()
		for n := range 3 {
			w.run(n, tape.OutcomeFailed, body("shared"))
			w.wait(time.Hour)
		}
		w.wait(29 * day)
		young := w.run(99, tape.OutcomeFailed, body("shared"))
		w.wait(14 * day)
		left := step
		killed := errors.New("killed")
		var mu sync.Mutex
		w.backend.Fail = func(op, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			if op == "put" || op == "delete" {
				if left--; left < 0 {
					return killed
				}
			}
			return nil
		}
		_, err := w.sweeper().Sweep(t.Context())
		w.backend.Fail = nil
		assert.True(t, w.plays(young), "killed at step %d", step)
		if err == nil {
			return
		}
		w.sweep()
		assert.True(t, w.plays(young))
		assert.Len(t, w.below("tapes/"), 1)
		assert.Len(t, w.below("blobs/"), 1)
	}
	t.Fatal("it never came to the end")
}

func TestThePlanIsWhatThenHappens(t *testing.T) {
	for seed := range uint64(2) {
		w := newWorld(t)
		w.config.Default.MaxBytes = 4000
		w.config.Rules = []Rule{
			{Class: Class{Name: "billing", Keep: Forever}, Service: []string{"billing"}},
			{Class: Class{Name: "denied", Keep: Keep(3 * day)}, FailureClass: []string{"permission_denied"}},
			{Class: Class{Name: ClassFailures, Keep: Keep(20 * day)}, Outcome: []string{"failed"}},
		}
		random := rand.New(rand.NewPCG(seed, 7))
		w.sweep()
		acme, err := w.store.Tenant("acme")
		require.NoError(t, err)
		for n := range 40 {
			w.wait(time.Duration(random.IntN(20)) * time.Hour)
			row := tape.Row{
				Outcome:      []tape.Outcome{tape.OutcomeFailed, tape.OutcomeSucceeded}[random.IntN(2)],
				Service:      []string{"billing", "shop", "desk"}[random.IntN(3)],
				FailureClass: []string{"", "permission_denied"}[random.IntN(2)],
			}
			switch random.IntN(6) {
			case 0:
				w.summary(n)
			case 1:
				w.runIn(acme, n, row, body("one"), body(row.Service))
			case 2:
				run := w.runIn(w.store, n, row, body("pin"))
				_, err := w.store.Pin(t.Context(), run, Bodies)
				require.NoError(t, err)
			default:
				w.runIn(w.store, n, row, body("one"), body(row.Service))
			}
			if n%8 == 7 {
				planned, _, report := w.plan()
				before := w.backend.Names()
				done := w.sweep()
				order := func(a, b Item) int { return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Name, b.Name)) }
				slices.SortFunc(planned, order)
				slices.SortFunc(done, order)
				require.Equal(t, planned, done, "seed %d, run %d", seed, n)
				var bytes int64
				for _, i := range planned {
					bytes += i.Bytes
				}
				assert.Equal(t, bytes, report.Bytes)
				after := w.backend.Names()
				if len(planned) == 0 {
					assert.Subset(t, after, before, "nothing else goes")
				}
				more, _, _ := w.plan()
				assert.Empty(t, more, "nothing is left to be done")
			}
		}
	}
}

func TestAStoreThatWasCopiedKeepsItsBodies(t *testing.T) {
	w := newWorld(t)
	w.stand()
	run := w.run(1, tape.OutcomeFailed, body("old"))
	w.wait(20 * day)
	// The copy has the times of the copy.
	for _, name := range w.backend.Names() {
		if strings.HasPrefix(name, "tapes/") || strings.HasPrefix(name, "blobs/") {
			w.backend.Damage(name, func(b []byte) []byte { return b })
			data := storetest.Read(t, w.backend, name)
			require.NoError(t, w.backend.Put(t.Context(), name, []byte(data)))
		}
	}
	w.wait(20 * day)
	w.sweep()
	assert.True(t, w.plays(run))
}

func TestHundredThousandTapesAreJudgedInFlatMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	many := &manyTapes{n: 100_000, stored: monday}
	w := newWorld(t)
	st, err := store.Open(many, store.Options{Now: w.clock})
	require.NoError(t, err)
	defer st.Close()
	w.stand()
	s := &Sweeper{Store: st, Policy: w.config.Policy(), Now: w.clock}
	text, sum, err := encode(s.Policy)
	require.NoError(t, err)
	many.note, many.text = "retention/policies/0000000000001-"+sum+".json", text
	w.wait(60 * day)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	judged := 0
	var most uint64
	begun := time.Now()
	_, err = s.Plan(t.Context(), func(Item) {
		if judged++; judged%20_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}, nil)
	require.NoError(t, err)
	took := time.Since(begun)
	t.Logf("%d tapes in %v, heap %d KB over the start", judged, took, (int64(most)-int64(before.HeapAlloc))>>10)
	assert.Equal(t, 100_000, judged)
	assert.Less(t, took, 60*time.Second)
	assert.Less(t, int64(most)-int64(before.HeapAlloc), int64(4<<20))
}
