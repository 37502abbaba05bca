package replay

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// A program that asks the time and draws random bytes replays the same from a
// tape that has neither.
func TestClockAndRandomAreDerivedFromTheTape(t *testing.T) {
	lines := []string{
		`{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","started":"2026-03-01T10:00:00Z"}`,
		`{"seq":1,"tool":"t","args":1,"result":1,"start":"2026-03-01T10:00:01Z","ms":500}`,
		`{"seq":2,"tool":"t","args":2,"result":1,"start":"2026-03-01T10:00:05Z","ms":10,"clock":"2026-03-01T12:00:00Z"}`,
	}
	walk := func(lines []string) (times []string, drawn [][]byte) {
		s := start(t, parse(t, lines...))
		read := func() {
			for range 2 {
				now, err := s.Now(ctx)
				require.NoError(t, err)
				times = append(times, now.Format(time.RFC3339Nano))
			}
			bytes, err := s.Random(ctx, 11)
			require.NoError(t, err)
			require.Len(t, bytes, 11)
			drawn = append(drawn, bytes)
		}
		read()
		for n := 1; n <= 2; n++ {
			_, err := s.Call(ctx, "t", n, nil)
			require.NoError(t, err)
			read()
		}
		require.NoError(t, s.Close())
		st := s.Stats()
		assert.Equal(t, 9, st.Derived)
		assert.Equal(t, 2, st.TapeHits)
		return times, drawn
	}
	times, drawn := walk(lines)
	assert.Equal(t, []string{
		"2026-03-01T10:00:00.000001Z", "2026-03-01T10:00:00.000002Z",
		"2026-03-01T10:00:01.500001Z", "2026-03-01T10:00:01.500002Z",
		"2026-03-01T12:00:00.000001Z", "2026-03-01T12:00:00.000002Z",
	}, times)
	assert.NotEqual(t, drawn[0], drawn[1])
	againTimes, againDrawn := walk(lines)
	assert.Equal(t, times, againTimes)
	assert.Equal(t, drawn, againDrawn)
	lines[0] = `{"tape":"1","trace_id":"00000000000000000000000000000001","started":"2026-03-01T10:00:00Z"}`
	_, other := walk(lines)
	assert.NotEqual(t, drawn, other, "another run draws something else")

	// Without times it is a second a step.
	times, _ = walk([]string{`{"seq":1,"tool":"t","args":1,"result":1}`, `{"seq":2,"tool":"t","args":2,"result":1}`})
	assert.Equal(t, []string{
		"2000-01-01T00:00:00.000001Z", "2000-01-01T00:00:00.000002Z", "2000-01-01T00:00:01.000001Z",
		"2000-01-01T00:00:01.000002Z", "2000-01-01T00:00:02.000001Z", "2000-01-01T00:00:02.000002Z",
	}, times)
}

// A derived tape has what was derived, where it was asked for.
func TestWhatWasDerivedIsOnTheDerivedTape(t *testing.T) {
	s := start(t, parse(t,
		`{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","started":"2026-03-01T10:00:00Z"}`,
		`{"seq":1,"tool":"t","args":1,"result":1,"start":"2026-03-01T10:00:01Z","ms":500}`,
		`{"seq":2,"tool":"t","args":2,"result":1,"start":"2026-03-01T10:00:05Z","ms":10,"side_effect":false}`,
	), WithFork(2, Live{Isolated: true, Tools: []string{"t"}}), silent)
	first, err := s.Now(ctx)
	require.NoError(t, err)
	_, err = s.Call(ctx, "t", 1, nil)
	require.NoError(t, err)
	drawn, err := s.Random(ctx, 4)
	require.NoError(t, err)
	_, err = Do(ctx, s, "t", 3, fresh2)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	derived := s.Tape()
	require.Len(t, derived.Records, 4)
	assert.Empty(t, tape.Verify(derived))

	again := start(t, derived)
	second, err := again.Now(ctx)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	_, err = again.Call(ctx, "t", 1, nil)
	require.NoError(t, err)
	bytes, err := again.Random(ctx, 4)
	require.NoError(t, err)
	assert.Equal(t, drawn, bytes)
	assert.Zero(t, again.Stats().Derived)
}

// A tape that has clock reads answers with those alone.
func TestRecordedClockReadsAreNotStretched(t *testing.T) {
	s := start(t, parse(t, `{"seq":1,"tool":"now","kind":"clock","args":null,"result":"2026-03-01T10:00:00Z"}`))
	_, err := s.Now(ctx)
	require.NoError(t, err)
	_, err = s.Now(ctx)
	require.ErrorIs(t, err, ErrExhausted)
	_, err = s.Random(ctx, maxDraw+1)
	require.ErrorIs(t, err, ErrMiss, "a draw is bounded")
}

func TestExpiryIsSetWhenRecording(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	at := func(d time.Duration) Option { return WithTime(func() time.Time { return now.Add(d) }) }
	s := start(t, nil, WithMode(ModeRecord), at(0), WithExpiry("price_*", time.Hour), WithExpiry("*", 48*time.Hour))
	for _, tool := range []string{"price_of", "name_of"} {
		_, err := Do(ctx, s, tool, 1, fresh2)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	recorded := s.Tape()
	assert.Equal(t, "2026-03-01T11:00:00Z", recorded.Records[0].Expires)
	assert.Equal(t, "2026-03-03T10:00:00Z", recorded.Records[1].Expires)

	s = start(t, recorded, at(2*time.Hour))
	_, err := s.Call(ctx, "price_of", 1, nil)
	require.NoError(t, err)
	_, err = s.Call(ctx, "name_of", 1, nil)
	require.NoError(t, err)
	assert.Equal(t, 1, s.Stats().ExpiredServed)
	s = start(t, recorded, at(2*time.Hour), WithExpiredAsGap())
	_, err = s.Call(ctx, "price_of", 1, nil)
	require.ErrorIs(t, err, ErrGap)

	for want, option := range map[string]Option{"no pattern": WithExpiry("[", time.Hour), "want a time to come": WithExpiry("a", 0)} {
		_, err := New(nil, option)
		require.ErrorContains(t, err, want)
	}
}

var manyCalls = flag.Int("many-calls", 30_000, "calls that TestManyCallsLeakNothing makes")

// Calls of every verdict leave nothing behind, however many there are. Ten million
// take minutes: go test ./replay -run ManyCalls -many-calls 10000000.
func TestManyCallsLeakNothing(t *testing.T) {
	calls := *manyCalls
	if testing.Short() {
		calls = min(calls, 10_000)
	}
	s := start(t, fiveCalls(t), OverrideStep(1, AnswerResult(1)))
	burst := func(n int) {
		for i := range n {
			_, _ = s.Call(ctx, "t", i, nil)
			_, _ = s.Call(ctx, "x", i%7, nil)
			_, _ = s.Now(ctx)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	burst(2000)
	before := heap()
	burst(calls / 3)
	after := heap()
	const noise = 256 << 10
	assert.Less(t, after, before+noise)
	assert.Greater(t, s.Stats().Steps, calls-3)
}
