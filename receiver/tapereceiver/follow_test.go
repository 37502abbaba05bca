package tapereceiver

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// memory is a storage extension; what is in it outlives a receiver.
type memory struct {
	component.StartFunc
	component.ShutdownFunc

	mu   sync.Mutex
	data map[string][]byte
	fail error
	open int
}

func (m *memory) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open++
	return &client{m}, nil
}

type client struct{ *memory }

func (c *client) Get(_ context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.data[key], c.fail
}

func (c *client) Set(_ context.Context, key string, value []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail == nil {
		c.data[key] = value
	}
	return c.fail
}

func (c *client) Delete(context.Context, string) error { return nil }

func (c *client) Batch(context.Context, ...*storage.Operation) error { return nil }

func (c *client) Close(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	return nil
}

// remembering is a host with a store and a storage for checkpoints.
type remembering struct {
	*tapestoretest.Host
	memory *memory
}

func newRemembering() *remembering {
	return &remembering{tapestoretest.NewHost(), &memory{data: map[string][]byte{}}}
}

func (h *remembering) GetExtensions() map[component.ID]component.Component {
	out := maps.Clone(h.Host.GetExtensions())
	out[component.MustNewID("file_storage")] = h.memory
	return out
}

func checkpointed(c *Config) {
	id := component.MustNewID("file_storage")
	c.Checkpoint = &id
	if !c.Watch.HasValue() {
		c.Mode = ModeFollow
	}
}

func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }

func (s *sink) wait(t *testing.T, want ...string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, want, s.ids()) }, 5*time.Second, time.Millisecond)
}

func TestFollowGoesOnBehindTheCheckpoint(t *testing.T) {
	h := newRemembering()
	first := &sink{}
	f := start(t, h, first, quick(checkpointed))
	put(t, h.Host, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	first.wait(t, traceID(1))
	require.NoError(t, f.Shutdown(t.Context()))
	assert.Zero(t, h.memory.open, "the client is closed")

	// Decided while nobody looked, which without a checkpoint would be missed.
	put(t, h.Host, tape.Row{TraceID: traceID(2), Outcome: "failed"})
	second := &sink{}
	start(t, h, second, quick(checkpointed))
	second.wait(t, traceID(2))
	put(t, h.Host, tape.Row{TraceID: traceID(3), Outcome: "failed"})
	second.wait(t, traceID(2), traceID(3))
}

// The source is given up only when the next component has taken it.
func TestTheCheckpointMovesOnlyBehindWhatWasTaken(t *testing.T) {
	h := newRemembering()
	full := &sink{answer: func(int, ptrace.Traces) error { return errors.New("queue is full") }}
	f := start(t, h, full, quick(func(c *Config) {
		checkpointed(c)
		c.RetryConfig.Enabled = false
	}))
	put(t, h.Host, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	f.waitFor(t, "were refused")
	require.NoError(t, f.Shutdown(t.Context()))

	open := &sink{}
	f = start(t, h, open, quick(checkpointed))
	open.wait(t, traceID(1))
	require.NoError(t, f.Shutdown(t.Context()))

	after := &sink{}
	start(t, h, after, quick(checkpointed))
	put(t, h.Host, tape.Row{TraceID: traceID(2), Outcome: "failed"})
	after.wait(t, traceID(2))
}

func TestWhatIsRefusedForGoodIsNotOfferedAgain(t *testing.T) {
	h := newRemembering()
	s := &sink{answer: func(n int, _ ptrace.Traces) error {
		if n == 1 {
			return consumererror.NewPermanent(errors.New("no"))
		}
		return nil
	}}
	f := start(t, h, s, quick(checkpointed))
	put(t, h.Host, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	f.waitFor(t, "were refused")
	put(t, h.Host, tape.Row{TraceID: traceID(2), Outcome: "failed"})
	s.wait(t, traceID(2))
	f.assertRuns(t, map[string]int64{"dropped": 1, "sent": 1})
}

// A row may be stored long after its decision.
func TestTheLookBackIsConfigured(t *testing.T) {
	for name, test := range map[string]struct {
		back time.Duration
		want []string
	}{
		"far enough": {time.Hour, []string{traceID(2), traceID(1)}},
		"too short":  {time.Minute, []string{traceID(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			h, s := tapestoretest.NewHost(), &sink{}
			start(t, h, s, quick(func(c *Config) { c.Mode, c.Since, c.LookBack = ModeFollow, "2h", test.back }))
			// The first look goes back to since, those after it only so far.
			time.Sleep(30 * time.Millisecond)
			put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed", Decided: ago(30 * time.Minute)})
			put(t, h, tape.Row{TraceID: traceID(2), Outcome: "failed", Decided: ago(time.Second)})
			if test.back == time.Minute {
				s.wait(t, traceID(2))
				time.Sleep(30 * time.Millisecond)
				assert.Len(t, s.all(), 1)
				return
			}
			require.Eventually(t, func() bool { return len(s.all()) == 2 }, 5*time.Second, time.Millisecond)
			assert.ElementsMatch(t, test.want, s.ids())
		})
	}
}

func TestCheckpointsThatCannotBe(t *testing.T) {
	start := func(h component.Host) error {
		r, err := NewFactory().CreateTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), quick(checkpointed), &sink{})
		require.NoError(t, err)
		return errors.Join(r.Start(t.Context(), h), r.Shutdown(t.Context()))
	}
	require.ErrorContains(t, start(tapestoretest.NewHost()), "checkpoint: there is no extension file_storage")
	require.ErrorContains(t, start(strange{tapestoretest.NewHost()}), "extension file_storage is no storage")
}

type strange struct{ *tapestoretest.Host }

func (h strange) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{
		component.MustNewID("tape_store"):   h.Extension,
		component.MustNewID("file_storage"): h.Extension,
	}
}

func TestADamagedCheckpointIsAnErrorOfTheStart(t *testing.T) {
	for _, key := range []string{followKey, watchKey} {
		h := newRemembering()
		h.memory.data[key] = []byte("{")
		r, err := NewFactory().CreateTraces(t.Context(), nopSettings(), quick(func(c *Config) {
			c.Watch.GetOrInsertDefault().Directory = t.TempDir()
			checkpointed(c)
			c.Mode = ModeFollow
		}), &sink{})
		require.NoError(t, err)
		require.ErrorContains(t, r.Start(t.Context(), h), "checkpoint "+key)
		assert.Zero(t, h.memory.open)
	}
}

func TestACheckpointThatCannotBeWrittenIsSaid(t *testing.T) {
	h, s := newRemembering(), &sink{}
	f := start(t, h, s, quick(checkpointed))
	h.memory.mu.Lock()
	h.memory.fail = errors.New("disk full")
	h.memory.mu.Unlock()
	put(t, h.Host, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	s.wait(t, traceID(1))
	f.waitFor(t, "The checkpoint cannot be written")
}

func TestManyRunsAreSavedOnTheWay(t *testing.T) {
	h, s := newRemembering(), &sink{}
	for n := range 2*saveEvery + 10 {
		put(t, h.Host, tape.Row{TraceID: traceID(n), Outcome: "failed", Decided: ago(time.Minute)})
	}
	s.answer = func(n int, _ ptrace.Traces) error {
		if n > saveEvery+50 {
			return errors.New("full")
		}
		return nil
	}
	f := start(t, h, s, quick(func(c *Config) { checkpointed(c); c.Since = "1h" }))
	f.waitFor(t, "Trying again")
	var state followState
	known, err := (&checkpoint{&client{h.memory}}).load(t.Context(), followKey, &state)
	require.NoError(t, err)
	require.True(t, known)
	assert.Len(t, state.Seen, saveEvery, "a kill now repeats at most so many")
	require.NoError(t, f.Shutdown(t.Context()))
	known, err = (&checkpoint{&client{h.memory}}).load(t.Context(), followKey, &state)
	require.NoError(t, err)
	assert.True(t, known)
	assert.Len(t, state.Seen, saveEvery+50, "a shutdown repeats none")
}

func TestTenantsAreReadApartAndTogether(t *testing.T) {
	h := tapestoretest.NewHost()
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	for n, tenant := range []string{"acme", "umbrella"} {
		st, err := h.Store().Tenant(tenant)
		require.NoError(t, err)
		td := ptrace.NewTraces()
		span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		var id [16]byte
		id[15] = byte(3 + n)
		span.SetTraceID(id)
		_, err = st.PutFragment(t.Context(), "failures", traceID(2+n), td)
		require.NoError(t, err)
		require.NoError(t, st.AppendRows(t.Context(), []tape.Row{{TraceID: traceID(2 + n), Kept: true, Outcome: "failed", Tenant: tenant}}))
	}
	for name, test := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"all":   {nil, []string{traceID(1), traceID(2), traceID(3)}},
		"one":   {func(c *Config) { c.Tenant = []string{"umbrella"} }, []string{traceID(3)}},
		"by id": {func(c *Config) { c.TraceIDs = []string{traceID(2)} }, []string{traceID(2)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			f := start(t, h, s, quick(test.change))
			f.waitFor(t, allSent)
			assert.ElementsMatch(t, test.want, s.ids())
		})
	}
}

func TestAReceiverThatOnlyTakesInNeedsNoStore(t *testing.T) {
	r, err := NewFactory().CreateTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), serving(t), &sink{})
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, r.Shutdown(t.Context()))
}
