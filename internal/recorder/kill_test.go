package recorder

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
)

var kills = flag.Int("kills", 8, "how often TestNoAcceptedSpanIsLostByKills kills the recorder")

// childDir tells the test binary that it is the recorder to be killed.
const childDir = "TAPEDECK_RECORDER_DIR"

// A process records what it is sent, is killed at random moments, and started
// again. Its sender repeats what was not acknowledged. In the end every span that
// was acknowledged has been handed on.
func TestNoAcceptedSpanIsLostByKills(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		recordUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	s := &sender{t: t, random: random, accepted: map[string]bool{}}
	for range *kills {
		c := startChild(t, dir)
		// Some are killed while they start.
		c.feed(s, time.Duration(random.IntN(250))*time.Millisecond)
		require.NoError(t, c.cmd.Process.Kill())
		c.end()
	}
	c := startChild(t, dir)
	c.feed(s, 200*time.Millisecond)
	c.drain(s)
	require.NoError(t, c.stdin.Close())
	c.end()

	stored, err := os.ReadFile(filepath.Join(dir, "stored"))
	require.NoError(t, err)
	got := map[string]bool{}
	for line := range strings.FieldsFuncSeq(string(stored), func(r rune) bool { return r == '\n' }) {
		got[line] = true
	}
	lost := 0
	for id := range s.accepted {
		if !got[id] {
			lost++
		}
	}
	t.Logf("%d spans accepted over %d kills, %d handed on", len(s.accepted), *kills, len(got))
	assert.NotEmpty(t, s.accepted)
	assert.Zero(t, lost)
}

// sender sends requests in the order of their numbers and again until they are
// acknowledged.
type sender struct {
	t      *testing.T
	random *rand.Rand
	next   uint32

	mu       sync.Mutex
	open     []request
	accepted map[string]bool
}

type request struct {
	number uint32
	data   []byte
	ids    []string
}

// make is a request with spans of some of the runs that go on at that time.
func (s *sender) make() request {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	s.next++
	r := request{number: s.next}
	for n := range 1 + s.random.IntN(6) {
		sp := spans.AppendEmpty()
		var id pcommon.TraceID
		binary.BigEndian.PutUint32(id[12:], 1+s.next/20*20+uint32(s.random.IntN(20)))
		var sid pcommon.SpanID
		binary.BigEndian.PutUint32(sid[:], s.next)
		sid[7] = byte(n + 1)
		sp.SetTraceID(id)
		sp.SetSpanID(sid)
		if s.random.IntN(10) > 0 {
			sp.SetParentSpanID(pcommon.SpanID{1})
		}
		sp.SetStartTimestamp(pcommon.Timestamp(s.next))
		sp.SetEndTimestamp(pcommon.Timestamp(s.next + 1))
		sp.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		sp.Attributes().PutStr("gen_ai.tool.name", "t")
		sp.Attributes().PutStr("gen_ai.tool.call.result", strings.Repeat("text ", s.random.IntN(300)))
		r.ids = append(r.ids, spanName(sp))
	}
	var err error
	r.data, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(s.t, err)
	return r
}

func spanName(sp ptrace.Span) string { return sp.TraceID().String() + " " + sp.SpanID().String() }

func (s *sender) acknowledge(number uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.open {
		if r.number == number {
			for _, id := range r.ids {
				s.accepted[id] = true
			}
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

func (s *sender) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// child is the process that records.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	done   sync.WaitGroup
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-test.run=^TestNoAcceptedSpanIsLostByKills$")}
	c.cmd.Env = append(os.Environ(), childDir+"="+dir)
	c.cmd.Stderr = os.Stderr
	var err error
	c.stdin, err = c.cmd.StdinPipe()
	require.NoError(t, err)
	c.stdout, err = c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	return c
}

// feed sends what is open from before, then more, for a while.
func (c *child) feed(s *sender, d time.Duration) {
	c.done.Go(func() {
		for {
			var number uint32
			if binary.Read(c.stdout, binary.LittleEndian, &number) != nil {
				return
			}
			s.acknowledge(number)
		}
	})
	s.mu.Lock()
	again := append([]request(nil), s.open...)
	s.mu.Unlock()
	end := time.Now().Add(d)
	for _, r := range again {
		if c.send(r) != nil {
			return
		}
	}
	for time.Now().Before(end) {
		if s.waiting() > 64 {
			time.Sleep(time.Millisecond)
			continue
		}
		r := s.make()
		s.mu.Lock()
		s.open = append(s.open, r)
		s.mu.Unlock()
		if c.send(r) != nil {
			return
		}
	}
}

func (c *child) send(r request) error {
	head := binary.LittleEndian.AppendUint32(nil, r.number)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(r.data)))
	_, err := c.stdin.Write(append(head, r.data...))
	return err
}

// drain waits until all is acknowledged.
func (c *child) drain(s *sender) {
	require.Eventually(s.t, func() bool { return s.waiting() == 0 }, 20*time.Second, 5*time.Millisecond)
}

func (c *child) end() {
	c.done.Wait()
	_ = c.cmd.Wait()
}

// recordUntilKilled is the process: it acknowledges what the recorder took, and
// writes down what the recorder handed on. When its input ends it decides the rest.
func recordUntilKilled(t *testing.T, dir string) {
	stored, err := os.OpenFile(filepath.Join(dir, "stored"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	cfg := Config{
		IdleTimeout: 400 * time.Millisecond, MaxAge: time.Hour, RootSettle: 10 * time.Millisecond,
		Lookback: 150 * time.Millisecond, MaxRunBytes: 1 << 20, MaxRunSpans: 10_000, MaxRequestBytes: 1 << 20, DecidedRuns: 10_000,
		Spool: Spool{
			Directory: filepath.Join(dir, "spool"), MaxBytes: 1 << 20, SegmentBytes: 64 << 10,
			SyncInterval: 10 * time.Millisecond, CacheBytes: 1 << 20,
		},
	}
	keepEverything(&cfg)
	r, err := Open(cfg, Deps{
		Scrubber: scrub.New(redact.Default()),
		Emit: func(_ context.Context, td ptrace.Traces) error {
			// A kill may have left a line without its end.
			b := strings.Builder{}
			b.WriteByte('\n')
			forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, sp ptrace.Span) {
				fmt.Fprintln(&b, spanName(sp))
			})
			_, err := stored.WriteString(b.String())
			return err
		},
		Permanent: func(error) bool { return false },
		Telemetry: &counts{},
		Now:       time.Now,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var work, ticks sync.WaitGroup
	for range 2 {
		ticks.Go(func() {
			for ctx.Err() == nil {
				r.Tick(ctx)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	in := bufio.NewReader(os.Stdin)
	var acks sync.Mutex
	slots := make(chan struct{}, 4)
	for {
		var head [2]uint32
		if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		data := make([]byte, head[1])
		_, err := io.ReadFull(in, data)
		require.NoError(t, err)
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
			require.NoError(t, err)
			for r.Add(ctx, td) != nil {
				// What came is used up: read it anew.
				td, _ = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
			}
			acks.Lock()
			defer acks.Unlock()
			_ = binary.Write(os.Stdout, binary.LittleEndian, head[0])
		})
	}
	work.Wait()
	for r.Status().OpenRuns > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	ticks.Wait()
	if err := r.Close(context.Background()); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
