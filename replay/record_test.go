package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func answers(value any) Func { return func(context.Context) (any, error) { return value, nil } }

// ticking is a clock that moves a millisecond with every look.
func ticking() Option {
	var mu sync.Mutex
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	return WithTime(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Millisecond)
		return now
	})
}

func TestRecordWritesARightTape(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	s, err := Open(path, WithMode(ModeRecord), WithCodeVersion("1.0"), ticking())
	require.NoError(t, err)
	got, err := s.Call(ctx, "fetch", map[string]any{"url": "https://example.com/?a=<b>", "api_key": "s3cr3t-abcdef"},
		answers(map[string]string{"text": "<é>", "token": "t0k3n-abcdef"}), WithSideEffect(false), WithToolCallID("call_1"))
	require.NoError(t, err)
	assert.Equal(t, `{"text":"<é>","token":"t0k3n-abcdef"}`, string(got), "the caller gets the real answer")
	_, err = s.Call(ctx, "pay", 12.5, func(context.Context) (any, error) {
		return nil, &RecordedError{Code: "402", Message: "declined", Type: "CardError"}
	}, WithSideEffect(true))
	require.EqualError(t, err, "402: declined")
	broken := errors.New("cable pulled, password=hunter2secret")
	_, err = s.Call(ctx, "ping", nil, func(context.Context) (any, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	_, err = s.Call(ctx, "chat", nil, answers(raw(`{ "kept": "as it is" }`)), WithKind(tape.KindModel))
	require.NoError(t, err)
	before, err := tape.ReadFile(path)
	require.NoError(t, err, "every line is whole before the session is closed")
	assert.Len(t, before.Records, 4)
	assert.False(t, before.Manifest.Complete)
	require.NoError(t, s.Close())
	assert.Equal(t, Stats{Mode: ModeRecord, Steps: 4, LiveToolCalls: 4, RealSideEffects: 1}, s.Stats())

	read, err := tape.ReadFile(path)
	require.NoError(t, err)
	assert.Empty(t, tape.Verify(read))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, secret := range []string{"s3cr3t", "t0k3n", "hunter2"} {
		assert.NotContains(t, string(text), secret)
	}
	m := read.Manifest
	assert.True(t, m.Complete)
	assert.Equal(t, tape.OutcomeRecovered, m.Outcome)
	assert.Equal(t, "1.0", m.CodeVersion)
	assert.NotEmpty(t, m.Redaction.Policy)
	r := read.Records
	assert.Equal(t, []string{"args.api_key", "result.token"}, r[0].Redacted)
	assert.Equal(t, tape.FidelityRedacted, r[0].Fidelity)
	assert.Equal(t, "call_1", r[0].ToolCallID)
	assert.Equal(t, "2026-03-02T09:00:00.002Z", r[0].Start)
	assert.Equal(t, 1.0, r[0].MS)
	assert.Equal(t, 1, r[0].Done)
	assert.Equal(t, &tape.Error{Code: "402", Message: "declined", Type: "CardError"}, r[1].Error)
	assert.Equal(t, "errors.errorString", r[2].Error.Type)
	assert.Equal(t, tape.KindModel, r[3].Kind)
	assert.Equal(t, `{ "kept": "as it is" }`, string(r[3].Result))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// TestWhatIsRecordedHits: a recorded session replays as all hits, whatever was
// called and however the members of its arguments are ordered.
func TestWhatIsRecordedHits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var value func(depth int) any
	value = func(depth int) any {
		switch n := random.IntN(8); {
		case n == 0 && depth > 0:
			object := map[string]any{}
			for range random.IntN(5) {
				object[fmt.Sprint("k", random.IntN(20))] = value(depth - 1)
			}
			return object
		case n == 1 && depth > 0:
			return []any{value(depth - 1), value(depth - 1)}
		case n < 4:
			return random.NormFloat64() * 1000
		case n < 6:
			return random.IntN(100)
		case n == 6:
			return nil
		}
		return fmt.Sprintf(" text %d jane%d@example.com ", random.IntN(5), random.IntN(3))
	}
	for range 50 {
		record := start(t, nil, WithMode(ModeRecord))
		type made struct {
			tool   string
			args   json.RawMessage
			result json.RawMessage
		}
		var calls []made
		for range 20 {
			args, err := json.Marshal(map[string]any{"a": value(3), "b": value(1)})
			require.NoError(t, err)
			c := made{tool: fmt.Sprint("t", random.IntN(3)), args: args}
			c.result, err = record.Call(ctx, c.tool, c.args, answers(random.IntN(1000)))
			require.NoError(t, err)
			calls = append(calls, c)
		}
		require.NoError(t, record.Close())
		recorded := record.Tape()
		require.Empty(t, tape.Verify(recorded))
		for i := range recorded.Records {
			recorded.Records[i].Start = "" // so that any order counts
		}
		again := start(t, recorded)
		for _, c := range calls {
			got, err := again.Call(ctx, c.tool, c.args, never(t))
			require.NoError(t, err)
			assert.Equal(t, string(c.result), string(got))
		}
		require.NoError(t, again.Close())
		assert.Equal(t, Stats{Mode: ModeStrict, Steps: 20, TapeHits: 20}, again.Stats())
	}
}

func TestReplayRecordAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"seq":1,"tool":"a","key":"a:6b86b273ff34","args":1,"result":1,"ms":0,"side_effect":true,"clock":null}`), 0o600))
	var log bytes.Buffer
	s, err := Open(path, WithMode(ModeReplayRecord), WithAuditLog(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	_, err = s.Call(ctx, "a", 2, never(t))
	require.ErrorIs(t, err, ErrDrift, "never run live")
	_, err = s.Call(ctx, "a", 1, never(t))
	require.NoError(t, err)
	for _, c := range []struct {
		tool string
		arg  any
	}{{"a", 1}, {"b", "s3cr3t"}, {"b", "s3cr3t"}} {
		ran := 0
		got, err := s.Call(ctx, c.tool, c.arg, func(context.Context) (any, error) { ran++; return ran, nil })
		require.NoError(t, err)
		assert.Equal(t, "1", string(got))
		assert.Equal(t, 1, ran, "exactly once")
	}
	_, err = s.Call(ctx, "zip", nil, nil)
	require.ErrorIs(t, err, ErrMiss, "there is nothing to run")
	assert.Equal(t, Stats{
		Mode: ModeReplayRecord, Steps: 6, TapeHits: 1, TapeMisses: 2, Exhausted: 2, LiveToolCalls: 3, RealSideEffects: 1, DriftEvents: 1,
	}, s.Stats(), "the second a is known by the tape to have a side effect")
	require.ErrorIs(t, s.Close(), ErrDrift)

	read, err := tape.ReadFile(path)
	require.NoError(t, err)
	assert.Nil(t, read.Manifest, "a bare tape stays bare")
	require.Len(t, read.Records, 4)
	assert.Empty(t, tape.Verify(read))
	assert.Equal(t, []int{1, 2, 3, 4}, []int{read.Records[0].Seq, read.Records[1].Seq, read.Records[2].Seq, read.Records[3].Seq})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	assert.Len(t, lines, 3, "each live call is audited")
	assert.Contains(t, lines[0], `msg="replay ran a call live" tool=a key=a:6b86b273ff34 side_effect=true`)
	assert.Contains(t, lines[1], "side_effect=unknown")
	assert.NotContains(t, log.String(), "s3cr3t")

	again, err := Open(path, WithMode(ModeReplayRecord))
	require.NoError(t, err)
	for _, c := range []struct {
		tool string
		arg  any
	}{{"a", 1}, {"a", 1}, {"b", "s3cr3t"}, {"b", "s3cr3t"}} {
		_, err = again.Call(ctx, c.tool, c.arg, never(t))
		require.NoError(t, err)
	}
	require.NoError(t, again.Close())
}

// TestRecordKeepsTheOrderOfBeginning: lines come in the order in which calls
// began, done says in which they ended.
func TestRecordKeepsTheOrderOfBeginning(t *testing.T) {
	var out bytes.Buffer
	s := start(t, nil, WithMode(ModeRecord), WithRecordTo(&out))
	release := map[int]chan struct{}{}
	var begun, ended sync.WaitGroup
	for i := range 4 {
		gate := make(chan struct{})
		release[i] = gate
		begun.Add(1)
		ended.Go(func() {
			_, err := s.Call(ctx, "t", i, func(context.Context) (any, error) {
				begun.Done()
				<-gate
				return i, nil
			})
			assert.NoError(t, err)
		})
		begun.Wait()
	}
	wait := func(lines int) {
		require.Eventually(t, func() bool {
			s.recorder.mu.Lock()
			defer s.recorder.mu.Unlock()
			return s.recorder.done == lines
		}, 5*time.Second, time.Millisecond)
	}
	for n, i := range []int{2, 0, 3, 1} {
		close(release[i])
		wait(n + 1)
	}
	ended.Wait()
	require.NoError(t, s.Close())
	read, err := tape.ReadAll(&out)
	require.NoError(t, err)
	assert.Empty(t, tape.Verify(&tape.Tape{Records: read.Records}))
	for i, want := range []int{2, 4, 1, 3} {
		assert.Equal(t, fmt.Sprint(i), string(read.Records[i].Args))
		assert.Equal(t, want, read.Records[i].Done)
	}
}

func TestRecordAPanicAndAnOpenCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	s, err := Open(path, WithMode(ModeRecord))
	require.NoError(t, err)
	assert.PanicsWithValue(t, "ouch", func() {
		_, _ = s.Call(ctx, "bad", nil, func(context.Context) (any, error) { panic("ouch") })
	})
	hang, ended, begun := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, err := s.Call(ctx, "slow", nil, func(context.Context) (any, error) {
			close(begun)
			<-hang
			return 1, nil
		})
		assert.NoError(t, err)
	}()
	<-begun
	_, err = s.Call(ctx, "odd", nil, answers(make(chan int)))
	require.ErrorContains(t, err, "result of odd is not JSON")
	_, err = s.Call(ctx, "odd", nil, answers(raw("{")))
	require.ErrorContains(t, err, "result of odd is not JSON")
	_, err = s.Call(ctx, "none", nil, nil)
	require.ErrorContains(t, err, "nothing to run live")
	require.NoError(t, s.Close())
	close(hang)
	<-ended

	read, err := tape.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, read.Records, 3)
	assert.Equal(t, &tape.Error{Message: "the live function panicked", Type: "panic"}, read.Records[0].Error)
	assert.Equal(t, []tape.Gap{{What: "end", Why: "1 calls still ran when the recording was closed"}}, read.Manifest.Gaps)
	assert.False(t, read.Manifest.Complete)
	assert.Equal(t, tape.OutcomeIncomplete, read.Manifest.Outcome)
}

func TestRecordThatCannotBeWritten(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "no", "run.jsonl"), WithMode(ModeRecord))
	require.ErrorIs(t, err, os.ErrNotExist)
	full := errors.New("disk full")
	_, err = New(nil, WithMode(ModeRecord), WithRecordTo(writerFunc(func([]byte) (int, error) { return 0, full })))
	require.ErrorIs(t, err, full)

	n := 0
	s := start(t, nil, WithMode(ModeRecord), WithRecordTo(writerFunc(func(b []byte) (int, error) {
		if n++; n > 1 {
			return 0, full
		}
		return len(b), nil
	})))
	got, err := s.Call(ctx, "t", nil, answers(1))
	require.NoError(t, err, "it has run: the caller must not run it again")
	assert.Equal(t, "1", string(got))
	_, err = s.Call(ctx, "t", nil, never(t))
	require.ErrorIs(t, err, full, "and nothing more runs unrecorded")
	require.ErrorIs(t, s.Close(), full)

	path := filepath.Join(t.TempDir(), "bad.jsonl")
	_, err = Open(path, WithMode(ModeReplayRecord), OverrideStep(1, AnswerResult(1)))
	require.Error(t, err)
	_, err = os.Stat(path)
	require.ErrorIs(t, err, os.ErrNotExist, "a session that did not start leaves no file")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
