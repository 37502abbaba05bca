package replaytest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
)

func weather(ctx context.Context, s *replay.Session, city string) (string, error) {
	return replay.Do(ctx, s, "weather", map[string]string{"city": city}, func(context.Context) (string, error) {
		return "rain", nil
	})
}

func TestWeather(t *testing.T) {
	s := Open(t)
	got, err := weather(t.Context(), s, "Oslo")
	require.NoError(t, err)
	assert.Equal(t, "snow", got, "the tape answers, not the world")
}

func TestWeatherOf(t *testing.T) {
	t.Run("two cities: Oslo & Bergen", func(t *testing.T) {
		s := Open(t)
		for _, city := range []string{"Bergen", "Oslo"} {
			got, err := weather(t.Context(), s, city)
			require.NoError(t, err)
			assert.Equal(t, "snow in "+city, got)
		}
	})
}

// probe is a test that is looked at.
type probe struct {
	testing.TB
	name    string
	failed  bool
	log     string
	cleanup []func()
}

// fatal ends a probe as Fatal ends a test.
type fatal struct{}

func (p *probe) Helper()          {}
func (p *probe) Name() string     { return p.name }
func (p *probe) Failed() bool     { return p.failed }
func (p *probe) Cleanup(f func()) { p.cleanup = append(p.cleanup, f) }
func (p *probe) Error(args ...any) {
	p.failed = true
	p.log += fmt.Sprintln(args...)
}
func (p *probe) Errorf(format string, args ...any) { p.Error(fmt.Sprintf(format, args...)) }
func (p *probe) Logf(format string, args ...any)   { p.log += fmt.Sprintf(format, args...) + "\n" }
func (p *probe) Fatal(args ...any) {
	p.Error(args...)
	panic(fatal{})
}
func (p *probe) Fatalf(format string, args ...any) { p.Fatal(fmt.Sprintf(format, args...)) }

// run runs a test to its end.
func (p *probe) run(test func(t testing.TB)) {
	defer func() {
		if r := recover(); r != nil && r != (fatal{}) {
			panic(r)
		}
		for i := len(p.cleanup) - 1; i >= 0; i-- {
			p.cleanup[i]()
		}
	}()
	test(p)
}

func TestATestFailsForWhatIsNotAsRecorded(t *testing.T) {
	tape := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, os.WriteFile(tape, []byte(`{"seq":1,"tool":"weather","args":{"city":"Oslo"},"result":"snow"}`+"\n"), 0o600))
	for name, c := range map[string]struct {
		test func(s *replay.Session)
		want string
	}{
		"as recorded": {func(s *replay.Session) { _, _ = weather(context.Background(), s, "Oslo") }, ""},
		"unconsumed":  {func(*replay.Session) {}, "1 unconsumed"},
		"a swallowed drift": {func(s *replay.Session) {
			_, _ = weather(context.Background(), s, "Bergen")
			_, _ = weather(context.Background(), s, "Oslo")
		}, `city "Oslo" -> "Bergen"`},
		"a live call": {func(s *replay.Session) {
			_, _ = s.Call(context.Background(), "other", 1, func(context.Context) (any, error) { panic("it ran") })
			_, _ = weather(context.Background(), s, "Oslo")
		}, "1 miss"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &probe{name: t.Name()}
			p.run(func(t testing.TB) { c.test(Open(t, File(tape))) })
			assert.Equal(t, c.want != "", p.failed)
			assert.Contains(t, p.log, c.want)
		})
	}
	t.Run("live by an option", func(t *testing.T) {
		p := &probe{name: t.Name()}
		p.run(func(t testing.TB) {
			s := Open(t, File(tape), With(replay.WithLive(replay.Live{Isolated: true, Tools: []string{"weather"}, SideEffects: true})))
			_, _ = weather(context.Background(), s, "Oslo")
		})
		assert.True(t, p.failed)
		assert.Contains(t, p.log, "1 calls ran live")
	})
}

func TestAMissingTapeSaysHowToRecordIt(t *testing.T) {
	p := &probe{name: "TestNowhere"}
	p.run(func(t testing.TB) { Open(t) })
	assert.True(t, p.failed)
	assert.Contains(t, p.log, "testdata/TestNowhere.jsonl")
	assert.Contains(t, p.log, "TAPE_RECORD=1")
}

// A tape is written only where that is asked for, and only of a test that passes.
func TestRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "run.jsonl")
	record := func(fails bool, options ...Option) *probe {
		p := &probe{name: "TestX"}
		p.run(func(t testing.TB) {
			s := Open(t, append(options, File(path))...)
			_, _ = weather(context.Background(), s, "Oslo")
			if fails {
				t.Error("wrong")
			}
		})
		return p
	}
	assert.True(t, record(false).failed)
	assert.NoFileExists(t, path)
	record(true, Record())
	assert.NoFileExists(t, path)
	assert.NoFileExists(t, path+".new")
	p := record(false, Record())
	assert.False(t, p.failed)
	assert.Contains(t, p.log, "recorded 1 calls")
	t.Setenv(RecordVariable, "1")
	assert.False(t, record(false).failed)
	t.Setenv(RecordVariable, "")
	assert.False(t, record(false).failed, "what was recorded replays")
}

func TestPath(t *testing.T) {
	for name, want := range map[string]string{
		"TestA":           "testdata/TestA.jsonl",
		"TestA/b_c/d":     "testdata/TestA/b_c/d.jsonl",
		"TestA/é:*?":      "testdata/TestA/____.jsonl",
		"TestA/../../etc": "testdata/TestA/_../_../etc.jsonl",
		"TestA/./x":       "testdata/TestA/_./x.jsonl",
		`TestA/a\b#01`:    "testdata/TestA/a_b_01.jsonl",
	} {
		assert.Equal(t, filepath.FromSlash(want), Path(name))
	}
}
