// Command vcr measures what a hit costs in a replay of this repository and in one
// of go-vcr, on the same calls: each is recorded by its own recorder, in memory or
// on disk as it would have it, and then asked for in random order. A call carries
// 1 KB of arguments, the body of its request for go-vcr.
//
// Only answering calls is timed; opening a tape or cassette is not. Of several
// rounds the best counts, since other work on a machine only ever adds to a round.
//
// It is a module of its own, so that go-vcr is no dependency of anything else.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/tapedeck/tapedeck/replay"
)

func main() {
	rounds := flag.Int("rounds", 10, "how often each size is replayed; the best round counts")
	flag.Parse()
	if err := run(*rounds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(rounds int) error {
	dir, err := os.MkdirTemp("", "bench-vcr")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| recorded calls | go-vcr v4, a hit | allocations | tapedeck, a hit | allocations | tapedeck, other spelling | allocations |")
	fmt.Println("|--:|--:|--:|--:|--:|--:|--:|")
	for _, size := range []int{10, 100, 1000} {
		path := filepath.Join(dir, strconv.Itoa(size))
		if err := recordVCR(path, size); err != nil {
			return fmt.Errorf("go-vcr: %w", err)
		}
		if err := recordTape(path+".jsonl", size); err != nil {
			return fmt.Errorf("tapedeck: %w", err)
		}
		vcr, err := best(rounds, size, func() (round, error) { return replayVCR(path) })
		if err != nil {
			return fmt.Errorf("go-vcr: %w", err)
		}
		same, err := best(rounds, size, func() (round, error) { return replayTape(path+".jsonl", "") })
		if err != nil {
			return fmt.Errorf("tapedeck: %w", err)
		}
		other, err := best(rounds, size, func() (round, error) { return replayTape(path+".jsonl", " ") })
		if err != nil {
			return fmt.Errorf("tapedeck: %w", err)
		}
		fmt.Printf("| %d | %s | %s | %s |\n", size, vcr, same, other)
	}
	return nil
}

// body is the arguments of a call: 1 KB of JSON. Space goes behind the number,
// where it changes the spelling and nothing else.
func body(i int, space string) []byte {
	return []byte(`{"id":` + strconv.Itoa(i) + space + `,"body":"` + strings.Repeat("word ", 200) + `"}`)
}

// round is one replay: ask makes a call, end ends it.
type round struct {
	ask func(i int) error
	end func() error
}

// cost is what a hit took.
type cost struct {
	time   time.Duration
	allocs uint64
}

func (c cost) String() string { return fmt.Sprintf("%s | %d", short(c.time), c.allocs) }

func short(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%.2f µs", float64(d)/float64(time.Microsecond))
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// best replays all calls of a size several times, in an order that a seed gives.
func best(rounds, size int, open func() (round, error)) (cost, error) {
	var least cost
	for n := range rounds {
		r, err := open()
		if err != nil {
			return cost{}, err
		}
		order := rand.New(rand.NewPCG(1, uint64(n))).Perm(size)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		for _, i := range order {
			if err := r.ask(i); err != nil {
				return cost{}, err
			}
		}
		took := time.Since(began) / time.Duration(size)
		runtime.ReadMemStats(&after)
		if err := r.end(); err != nil {
			return cost{}, err
		}
		if n == 0 || took < least.time {
			// What a caller does to make its request is part of both.
			least = cost{took, (after.Mallocs - before.Mallocs) / uint64(size)}
		}
	}
	return least, nil
}

func recordTape(path string, size int) error {
	ctx := context.Background()
	s, err := replay.Open(path, replay.WithMode(replay.ModeRecord))
	if err != nil {
		return err
	}
	for i := range size {
		if _, err := s.Ask(ctx, replay.Request{Tool: "fetch", Args: body(i, ""), Live: func(context.Context) (any, error) {
			return map[string]int{"status": i}, nil
		}}); err != nil {
			return err
		}
	}
	return s.Close()
}

func replayTape(path, space string) (round, error) {
	ctx := context.Background()
	s, err := replay.Open(path)
	if err != nil {
		return round{}, err
	}
	ask := func(i int) error {
		answer, err := s.Ask(ctx, replay.Request{Tool: "fetch", Args: body(i, space)})
		if err == nil && string(answer.Result) != `{"status":`+strconv.Itoa(i)+`}` {
			err = fmt.Errorf("call %d got %s", i, answer.Result)
		}
		return err
	}
	return round{ask, s.Close}, nil
}

const url = "http://tool.example/fetch"

// world answers requests while they are recorded.
type world struct{ n int }

func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	// The recorder sees of a request what is read of it.
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	text := `{"status":` + strconv.Itoa(w.n) + `}`
	w.n++
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r,
	}, nil
}

func recordVCR(path string, size int) error {
	r, err := recorder.New(path, recorder.WithMode(recorder.ModeRecordOnly), recorder.WithRealTransport(&world{}))
	if err != nil {
		return err
	}
	for i := range size {
		if _, err := post(r, i); err != nil {
			return err
		}
	}
	return r.Stop()
}

func replayVCR(path string) (round, error) {
	r, err := recorder.New(path, recorder.WithMode(recorder.ModeReplayOnly), recorder.WithSkipRequestLatency(true))
	if err != nil {
		return round{}, err
	}
	ask := func(i int) error {
		text, err := post(r, i)
		if err == nil && text != `{"status":`+strconv.Itoa(i)+`}` {
			err = fmt.Errorf("call %d got %s", i, text)
		}
		return err
	}
	return round{ask, r.Stop}, nil
}

func post(r *recorder.Recorder, i int) (string, error) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body(i, "")))
	if err != nil {
		return "", err
	}
	response, err := r.GetDefaultClient().Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
