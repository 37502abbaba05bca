package recorder

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/spool"
	"github.com/tapedeck/tapedeck/tape"
)

// onDisk gives the spool a directory.
func onDisk(t testing.TB, change func(*Config)) func(*Config) {
	return func(c *Config) {
		c.Spool.Directory = t.TempDir()
		if change != nil {
			change(c)
		}
	}
}

// kill leaves the recorder where it is and goes on with what a killed process would
// have left on disk: what was written, and nothing that was only known.
func (f *fixture) kill() {
	f.t.Helper()
	cfg := f.cfg
	for {
		before := f.Status().Spool
		cfg.Spool.Directory = f.t.TempDir()
		err := os.CopyFS(cfg.Spool.Directory, os.DirFS(f.cfg.Spool.Directory))
		// A kill is one moment; compaction must not have gone on meanwhile.
		if f.Status().Spool == before {
			require.NoError(f.t, err)
			break
		}
	}
	require.NoError(f.t, os.RemoveAll(filepath.Join(cfg.Spool.Directory, "lock")))
	open := f.openAmount()
	if missing := missingWithoutSegments(f.t, cfg.Spool); missing != 0 {
		// Of what came last nobody knows, and of nothing where marks found no room.
		assert.LessOrEqual(f.t, missing, int64(f.inSpool()), "no more is freed than was written")
	}
	f.counts = counts{}
	f.open(cfg, f.deps)
	assert.Equal(f.t, open.Spans, f.counts.recovered, "all that was open is open again")
	assert.Equal(f.t, open.Records, f.counts.logs.recovered)
	assert.Zero(f.t, f.Status().Spool.Damage)
	f.balanced()
}

// missingWithoutSegments is how many spans and log records a spool says are missing
// when all its segments are gone.
func missingWithoutSegments(t testing.TB, c Spool) int64 {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(c.Directory)))
	files, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	for _, file := range files {
		require.NoError(t, os.Remove(file))
	}
	sp, err := spool.Open(spool.Config{Directory: dir, MaxBytes: c.MaxBytes, SegmentBytes: c.SegmentBytes})
	require.NoError(t, err)
	defer func() { require.NoError(t, sp.Close()) }()
	return sp.Stats().Damage.Missing
}

// inSpool is how many spans and log records the spool has, of open runs and of those
// in the look-back.
func (f *fixture) inSpool() (n int) {
	for _, s := range f.shards {
		s.mu.Lock()
		for _, rn := range s.runs {
			n += rn.amount().size()
		}
		s.mu.Unlock()
	}
	return n
}

// The spool is told how much is freed: of a run that is over, of the middle of one that
// is large, of log records that join another run.
func TestTheSpoolKnowsHowMuchItHolds(t *testing.T) {
	f := newFixture(t, onDisk(t, func(c *Config) { c.MaxRunSpans = 64 }))
	check := func() {
		t.Helper()
		require.NoError(t, f.spool.Mark(ID{255}, []byte("so that the last number is known")))
		require.Positive(t, f.inSpool())
		assert.EqualValues(t, f.inSpool(), missingWithoutSegments(t, f.cfg.Spool))
	}
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.add(tool(2, 2, 1), agent(2, 1))
	f.add(tool(3, 2, 1))
	check()
	for i := range 200 {
		f.add(tool(4, byte(2+i), 1))
	}
	require.Positive(t, f.counts.dropped[DropTruncated])
	check()
	td, ld := sampleTraces(t, "codex"), sampleLogs(t, "codex")
	require.NoError(t, f.AddLogs(context.Background(), ld))
	check()
	require.NoError(t, f.Add(context.Background(), td))
	check()
	f.pass(6 * time.Second)
	check()
	f.add(tool(2, 9, 1, failed))
	check()
	f.kill()
	f.add(tool(5, 2, 1))
	f.pass(11 * time.Minute)
	check()
}

func (f *fixture) openAmount() (n Amount) {
	for _, s := range f.shards {
		s.mu.Lock()
		for rn := s.open.first; rn != nil; rn = rn.next {
			n.Spans += int(rn.spans)
			n.Records += int(rn.logs)
		}
		s.mu.Unlock()
	}
	return n
}

func TestAKilledRecorderGoesOnAsIfNothingHadHappened(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(tool(1, 2, 1), tool(2, 2, 1, failed))
	f.pass(3 * time.Minute)
	f.add(tool(1, 3, 1, failed))
	f.kill()
	f.add(tool(1, 4, 1), agent(1, 1))
	f.pass(6 * time.Second)
	spans := f.out()
	require.Len(t, spans, 4, "the spans from before the kill too")
	assert.Equal(t, tape.OutcomeRecovered, only1(t, spans).Outcome)
	f.balanced()
	f.pass(10 * time.Minute)
	row := only1(t, f.out())
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
	assert.Equal(t, tape.TriggerIdle, row.Trigger)
	f.balanced()
}

func TestTheTimeOfARestartIsNotIdleTime(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(tool(1, 2, 1))
	f.pass(4 * time.Minute)
	f.add(tool(2, 2, 1), agent(2, 1))
	f.mu.Lock()
	f.now = f.now.Add(2 * time.Hour)
	f.mu.Unlock()
	f.kill()
	f.pass(0)
	assert.Empty(t, f.out(), "nobody could send anything in these hours")
	f.pass(5 * time.Second)
	assert.Len(t, f.out(), 1, "the root had ended")
	f.pass(5*time.Minute + 50*time.Second)
	assert.Empty(t, f.out())
	f.pass(10 * time.Second)
	assert.Equal(t, tape.TriggerIdle, only1(t, f.out()).Trigger)
	f.balanced()
}

func TestDecisionsSurviveAKill(t *testing.T) {
	f := newFixture(t, onDisk(t, func(c *Config) { c.Lookback = 0 }))
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.add(tool(2, 2, 1), agent(2, 1))
	f.add(span(3, 1, 0))
	f.pass(6 * time.Second)
	require.Len(t, f.out(), 3)
	f.kill()
	assert.Zero(t, f.counts.recovered)

	f.add(tool(1, 4, 1))
	late := f.out()
	require.Len(t, late, 1, "a late span of a kept run goes on at once")
	assert.Equal(t, tape.OutcomeFailed, attr.OutcomeOf(late[0].Attributes()))
	f.add(tool(2, 4, 1))
	f.add(span(3, 2, 1))
	assert.Empty(t, f.out())
	assert.Equal(t, 3, f.counts.late)
	assert.Equal(t, 1, f.counts.summarised)
	assert.Equal(t, 1, f.counts.letGo)
	assert.Zero(t, f.Status().OpenRuns)
	f.balanced()
}

func TestTheLookBackSurvivesAKill(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(tool(1, 2, 1), agent(1, 1))
	f.pass(6 * time.Second)
	require.Len(t, f.out(), 1)
	f.kill()
	assert.Equal(t, 1, f.Status().HeldRuns)
	f.add(tool(1, 5, 1, failed))
	spans := f.out()
	require.Len(t, spans, 3)
	assert.Equal(t, tape.TriggerLateFailure, only1(t, spans).Trigger)
	f.balanced()

	f.add(tool(2, 2, 1), agent(2, 1))
	f.pass(6 * time.Second)
	f.kill()
	f.pass(2 * time.Hour)
	f.atTheStart()
}

func TestAWishToKeepSurvivesAKill(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(tool(1, 2, 1))
	answer, err := f.Keep(context.Background(), pcommon.TraceID{15: 1})
	require.NoError(t, err)
	assert.Equal(t, Waiting, answer)
	f.kill()
	f.add(agent(1, 1))
	f.pass(6 * time.Second)
	row := only1(t, f.out())
	assert.True(t, row.Kept)
	assert.Equal(t, tape.OutcomeSucceeded, row.Outcome)
	assert.Equal(t, tape.KeptAsked, row.KeptBecause)
}

func TestAnOrderlyStopParksWhatIsOpen(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(tool(1, 2, 1), tool(1, 3, 1))
	require.NoError(t, f.Close(context.Background()))
	assert.Empty(t, f.out())
	require.ErrorIs(t, f.Add(context.Background(), traces(tool(1, 4, 1))), ErrClosed)
	f.counts = counts{}
	f.open(f.cfg, f.deps)
	assert.Equal(t, 2, f.counts.recovered)
	f.add(agent(1, 1))
	f.pass(6 * time.Second)
	assert.Equal(t, 3, only1(t, f.out()).Spans)
	f.balanced()
}

func TestOneDirectoryHasOneRecorder(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	_, err := Open(f.cfg, f.deps)
	require.ErrorContains(t, err, "in use")
}

// Keys and stamps are those of one policy: what waited under another is redacted
// by the new one too.
func TestAChangedPolicyReachesWhatWaits(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	f.add(tool(1, 2, 1, failed, func(s ptrace.Span) { s.Attributes().PutStr("nickname", "hunter2") }), agent(1, 1, failed))
	policy, err := redact.New(redact.Config{Keys: []string{"nickname"}})
	require.NoError(t, err)
	f.deps.Scrubber = scrub.New(policy)
	f.kill()
	f.pass(6 * time.Second)
	require.Len(t, f.emitted, 1)
	res := f.emitted[0].ResourceSpans().At(0).Resource().Attributes()
	id, _ := res.Get(attr.Redaction)
	assert.Equal(t, policy.Manifest().Policy, id.Str())
	for _, s := range f.out() {
		if nick, ok := s.Attributes().Get("nickname"); ok {
			assert.Regexp(t, `^\[REDACTED:`, nick.Str())
		}
	}
}

func TestNothingUnredactedIsEverWritten(t *testing.T) {
	f := newFixture(t, onDisk(t, nil))
	secret := func(s ptrace.Span) {
		s.Attributes().PutStr("password", "hunter2-canary")
		s.Status().SetMessage("token=canary-4711-secret")
	}
	f.add(tool(1, 2, 1, secret), agent(1, 1))
	f.pass(6 * time.Second)
	f.add(tool(1, 3, 1, secret))
	f.add(tool(1, 4, 1, secret, failed))
	require.NoError(t, filepath.WalkDir(f.cfg.Spool.Directory, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		assert.NotContains(t, string(data), "canary")
		return err
	}))
	for _, s := range f.out() {
		assert.NotContains(t, s.Status().Message(), "canary")
	}
}
