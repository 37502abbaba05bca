package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// crowd is a tape of n calls that all ran at once: repeated ones with different
// answers, different ones, and failures. They completed in reverse.
func crowd(t testing.TB, n int) *tape.Tape {
	lines := []string{`{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}`}
	for i := range n {
		failure := ""
		if i%7 == 3 {
			failure = `,"error":"x"`
		}
		lines = append(lines, fmt.Sprintf(`{"seq":%d,"tool":"t%d","args":{"n":%d},"result":%d,"start":"2026-01-01T00:00:00Z","ms":%d,"done":%d%s}`,
			i+1, i%2, i%5, i, 1000-i, n-i, failure))
	}
	return parse(t, lines...)
}

// TestShuffled: however concurrent calls arrive, the answers and the report are
// the same.
func TestShuffled(t *testing.T) {
	const calls = 40
	deck := crowd(t, calls)
	wantAnswers, wantReport := "", ""
	for round := range 1000 {
		s := start(t, deck)
		order := rand.Perm(calls)
		answers := make([]string, calls)
		var wait sync.WaitGroup
		for _, part := range [][]int{order[:calls/4], order[calls/4 : calls/2], order[calls/2:]} {
			wait.Go(func() {
				for _, i := range part {
					got, err := s.Call(ctx, fmt.Sprint("t", i%2), map[string]int{"n": i % 5}, never(t))
					answers[i] = fmt.Sprint(i%10, string(got), err)
				}
			})
		}
		wait.Wait()
		require.NoError(t, s.Close())
		slices.Sort(answers) // Which of identical calls got which answer is free.
		report, err := json.Marshal(s.Report())
		require.NoError(t, err)
		if round == 0 {
			wantAnswers, wantReport = strings.Join(answers, "\n"), string(report)
			continue
		}
		require.Equal(t, wantAnswers, strings.Join(answers, "\n"))
		require.Equal(t, wantReport, string(report))
	}
}

func TestCompletionAsRecorded(t *testing.T) {
	const calls = 12
	s := start(t, crowd(t, calls), WithCompletion(CompletionRecorded, time.Minute))
	var wait sync.WaitGroup
	for i := range calls {
		wait.Go(func() {
			answer, err := s.Ask(ctx, Request{Tool: fmt.Sprint("t", i%2), Args: raw(fmt.Sprintf(`{"n":%d}`, i%5))})
			assert.NoError(t, err)
			// All that completed before it are out when it comes.
			s.gate.mu.Lock()
			defer s.gate.mu.Unlock()
			assert.GreaterOrEqual(t, s.gate.next, answer.Record.Done)
		})
	}
	wait.Wait()
	require.NoError(t, s.Close())
	assert.Zero(t, s.Report().Overdue)
}

// TestCompletionDoesNotWaitForEver: code that makes its calls one by one would
// wait for a call that it never makes.
func TestCompletionDoesNotWaitForEver(t *testing.T) {
	s := start(t, crowd(t, 4), WithCompletion(CompletionRecorded, 20*time.Millisecond))
	began := time.Now()
	for i := range 4 {
		_, err := s.Call(ctx, fmt.Sprint("t", i%2), map[string]int{"n": i % 5}, never(t))
		if i != 3 {
			require.NoError(t, err)
		}
	}
	assert.Less(t, time.Since(began), 2*time.Second)
	assert.Equal(t, 1, s.Report().Overdue, "what was given up once is not waited for again")
	require.NoError(t, s.Close())
}

func TestCompletionEndsWithTheContext(t *testing.T) {
	s := start(t, crowd(t, 2), WithCompletion(CompletionRecorded, time.Minute))
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	_, err := s.Call(short, "t0", map[string]int{"n": 0}, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.Call(ctx, "t1", map[string]int{"n": 1}, nil)
	require.NoError(t, err)
}

// TestConcurrentRecording is for the race detector, and for the count.
func TestConcurrentRecording(t *testing.T) {
	s := start(t, nil, WithMode(ModeRecord))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 50 {
				_, err := s.Call(ctx, "t", i, answers(i))
				assert.NoError(t, err)
				_, _ = s.Stats(), s.Report()
			}
		})
	}
	wait.Wait()
	require.NoError(t, s.Close())
	recorded := s.Tape()
	assert.Len(t, recorded.Records, 400)
	assert.Empty(t, tape.Verify(recorded))
}
