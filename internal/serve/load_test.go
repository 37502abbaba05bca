package serve

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestAThousandSessions at once in one process, each with its own tape.
func TestAThousandSessions(t *testing.T) {
	const sessions, calls = 1000, 3
	var wait sync.WaitGroup
	for i := range sessions {
		wait.Go(func() {
			var records []tape.Record
			for n := range calls {
				records = append(records, model(n+1, asked(said("user", fmt.Sprint(i, n))), answered(fmt.Sprint("answer ", i, n))))
			}
			s, err := replay.New(&tape.Tape{Records: records}, Options()...)
			if !assert.NoError(t, err) {
				return
			}
			h := New(s)
			for n := range calls {
				w := ask(h, chatPath, strings.Replace(hello[chatPath], "hello", fmt.Sprint(i, n), 1))
				assert.Contains(t, w.Body.String(), fmt.Sprint("answer ", i, n))
			}
			assert.NoError(t, s.Close())
		})
	}
	wait.Wait()
}

// TestManyClientsOfOneSession get each record once.
func TestManyClientsOfOneSession(t *testing.T) {
	const clients = 200
	var records []tape.Record
	for i := range clients {
		records = append(records, model(i+1, asked(said("user", "hello")), answered(fmt.Sprintf("answer %d.", i))))
	}
	h, s := modelServer(t, records)
	var mu sync.Mutex
	seen := map[string]int{}
	var wait sync.WaitGroup
	for i := range clients {
		wait.Go(func() {
			path := []string{chatPath, responsesPath, messagesPath, geminiPath}[i%4]
			w := ask(h, path, hello[path])
			mu.Lock()
			defer mu.Unlock()
			seen[w.Header().Get("Tape-Seq")]++
		})
	}
	wait.Wait()
	assert.Len(t, seen, clients)
	require.NoError(t, s.Close())
}

// heapPeak watches the heap while a function runs and returns the most it held.
func heapPeak(run func()) uint64 {
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		peak := uint64(0)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-stop:
				done <- peak
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	run()
	close(stop)
	return <-done
}

// TestAnAnswerOf50MB streams without a second copy of itself.
func TestAnAnswerOf50MB(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const size = 50 << 20
	for _, path := range []string{chatPath, messagesPath, "/v1/call"} {
		r := model(1, asked(said("user", "hello")), answered(strings.Repeat("x", size)))
		s, err := replay.New(&tape.Tape{Records: []tape.Record{r}}, Options()...)
		require.NoError(t, err)
		server := httptest.NewServer(New(s))
		body := strings.Replace(hello[chatPath], "{", `{"stream":true,`, 1)
		if path == messagesPath {
			body = strings.Replace(hello[messagesPath], "{", `{"stream":true,`, 1)
		}
		if path == "/v1/call" {
			body = `{"kind":"model","tool":"chat","args":` + asked(said("user", "hello")) + `}`
		}
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		var n int64
		peak := heapPeak(func() {
			resp, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
			require.NoError(t, err)
			n, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		})
		http.DefaultClient.CloseIdleConnections()
		server.Close()
		assert.Greater(t, n, int64(size))
		t.Logf("%s: the tape holds %d MiB, at most %d MiB while it was served", path, before.HeapAlloc>>20, peak>>20)
		assert.Less(t, int64(peak)-int64(before.HeapAlloc), int64(64<<20))
		require.NoError(t, s.Close())
	}
}

// BenchmarkModelHit is a hit over HTTP, the client included: the tenth call of a
// conversation with a tool, 4 KB of it.
func BenchmarkModelHit(b *testing.B) {
	var messages, live []string
	for i := range 10 {
		text := strings.Repeat(fmt.Sprintf("turn %d says this. ", i), 20)
		messages, live = append(messages, said("user", text), said("assistant", text)), append(live, fmt.Sprintf(`{"role":"user","content":%q},{"role":"assistant","content":%q}`, text, text))
	}
	var records []tape.Record
	for i := range b.N + 1 {
		records = append(records, model(i+1, asked(append(messages, said("user", fmt.Sprint(i)))...), answered("fine")))
	}
	s, err := replay.New(&tape.Tape{Records: records}, Options()...)
	require.NoError(b, err)
	server := httptest.NewServer(New(s))
	defer server.Close()
	call := func(i int) {
		resp, err := http.Post(server.URL+chatPath, "application/json",
			strings.NewReader(`{"model":"gpt-x","messages":[`+strings.Join(live, ",")+fmt.Sprintf(`,{"role":"user","content":"%d"}]}`, i)))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			b.Fatal(resp.Status)
		}
	}
	call(0)
	b.ResetTimer()
	took := make([]time.Duration, b.N)
	for i := range b.N {
		start := time.Now()
		call(i + 1)
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[b.N/2].Microseconds())/1000, "ms/median")
}
