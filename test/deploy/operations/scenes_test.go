package operations

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
)

// scene is a collector to which something happens, a number of times. Each time the
// metric grows, and then what the collector shows is written down.
type scene struct {
	settings []string
	// bucket is the status with which a bucket answers those who write; without one
	// the store is a directory.
	bucket int
	times  int
	act    func(*stage)
	// metric and labels, as the text has them, name what grows.
	metric string
	labels []string
	// fires names the alerts that must fire. If it is quiet, no other may.
	fires []string
	quiet bool
}

// stage is where a scene is played.
type stage struct {
	*testing.T
	c *harness.Collector
	// start runs the collector, again after its end, with what it had on disk.
	start func() *harness.Collector
	runs  int
}

var scenes = map[string]*scene{
	"all is well": {
		settings: []string{"extensions::tape_store::retention::interval=1s"},
		times:    4, act: func(s *stage) { s.ordinaryWork(); s.await("otelcol_tape_store_sweep_last", 0) },
		metric: "otelcol_tape_exporter_fragments",
		quiet:  true,
	},
	"traces of others are passed on": {
		settings: []string{"processors::tape::pass_through=true"},
		times:    1, act: func(s *stage) { s.send(trace(s.id(), span{name: "GET /"})) },
		metric: "otelcol_processor_tape_passed_spans",
	},
	"nothing comes any more": {
		times: 1, act: (*stage).ordinaryWork,
		metric: "otelcol_tape_exporter_fragments",
		fires:  []string{"TapedeckNothingArrives"}, quiet: true,
	},
	"a span has no trace": {
		times: 1, act: func(s *stage) { s.send(trace("", span{name: "lost"})) },
		metric: "otelcol_processor_tape_dropped_spans", labels: []string{`reason="no_trace_id"`},
		fires: []string{"TapedeckSpansLost"},
	},
	"content is not captured": {
		times: 4, act: func(s *stage) { s.send(trace(s.id(), tool(""), failed)) },
		metric: "otelcol_processor_tape_examined_records", labels: []string{`fidelity="absent"`, `kind="tool"`},
		fires: []string{"TapedeckContentMissing"},
	},
	"the bucket is away": {
		bucket: http.StatusServiceUnavailable,
		times:  8, act: func(s *stage) { s.send(trace(s.id(), tool("x"), failed)) },
		metric: "otelcol_tape_store_operations", labels: []string{`operation="put"`, `outcome="error"`},
		fires: []string{"TapedeckStoreAway"},
	},
	"the bucket refuses": {
		bucket: http.StatusRequestEntityTooLarge,
		times:  1, act: func(s *stage) { s.send(trace(s.id(), tool("x"), failed)) },
		metric: "otelcol_tape_exporter_refused_spans",
		fires:  []string{"TapedeckTapesRefused"},
	},
	"the directory is away": {
		times: 8, act: (*stage).blockTheDirectory,
		metric: "otelcol_tape_store_operations", labels: []string{`operation="put"`, `outcome="error"`},
		fires: []string{"TapedeckStoreAway"},
	},
	"the queue is full": {
		bucket:   http.StatusServiceUnavailable,
		settings: []string{"exporters::tape::sending_queue::queue_size=1048576"},
		times:    1, act: func(s *stage) { s.send(trace(s.id(), append(slices.Repeat([]span{tool(text(1))}, 13), failed)...)) },
		metric: "otelcol_exporter_queue_size",
		fires:  []string{"TapedeckQueueFilling"},
	},
	"the spool is full and the store away": {
		bucket:   http.StatusServiceUnavailable,
		settings: small,
		times:    1, act: func(s *stage) { s.fill(failed) },
		metric: "otelcol_processor_tape_refused_spans",
		fires:  []string{"TapedeckSpansRefused"},
	},
	"the spool is full of open runs": {
		settings: small,
		times:    1, act: func(s *stage) { s.fill() },
		metric: "otelcol_processor_tape_decided_runs", labels: []string{`trigger="evicted"`},
		fires: []string{"TapedeckRunsDecidedEarly"},
	},
	"the spool is damaged": {
		times: 1, act: (*stage).damageTheSpool,
		metric: "otelcol_processor_tape_damaged_bytes",
		fires:  []string{"TapedeckSpoolDamaged"},
	},
	"a stored object is damaged": {
		times: 1, act: (*stage).damageTheStore,
		metric: "otelcol_tape_store_damaged",
		fires:  []string{"TapedeckStoreDamaged"},
	},
}

// small is the least spool that there can be.
var small = []string{
	"processors::tape::spool::max_bytes=1048576", "processors::tape::spool::max_run_bytes=1048576",
	"processors::tape::spool::segment_bytes=131072", "processors::tape::lookback=0",
}

// play gives what the collector showed. A scene is played once, whoever asks.
func play(t *testing.T, name string) *history {
	t.Helper()
	if h, ok := played[name]; ok {
		return h
	}
	sc := scenes[name]
	s, dir := &stage{T: t}, t.TempDir()
	config := sc.config(t, dir)
	s.start = func() *harness.Collector {
		bin := os.Getenv("TAPEDECK_BIN")
		require.NotEmpty(t, bin, "TAPEDECK_BIN is not set: run make check-operations")
		var err error
		s.c, err = harness.Start(context.Background(), bin, config, dir, append([]string{
			"processors::tape::root_settle=100ms", "exporters::tape::retry_on_failure::initial_interval=100ms",
			"exporters::tape::retry_on_failure::max_interval=1s",
		}, sc.settings...)...)
		require.NoError(t, err)
		return s.c
	}
	s.start()
	defer func() { require.NoError(t, s.c.Kill()) }()
	h := &history{calm: s.scrape()}
	for range sc.times {
		last, err := s.c.Sum(t.Context(), sc.metric, sc.labels...)
		require.NoError(t, err)
		sc.act(s)
		s.await(sc.metric, last, sc.labels...)
		h.trouble = append(h.trouble, s.scrape())
	}
	played[name] = h
	return h
}

var played = map[string]*history{}

// config is that of one machine, with a bucket in the place of the directory if the scene
// has one.
func (sc *scene) config(t *testing.T, dir string) string {
	t.Helper()
	config := root + "deploy/local.yaml"
	if sc.bucket == 0 {
		return config
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut || r.Method == http.MethodPost:
			w.WriteHeader(sc.bucket)
		case r.URL.Query().Has("list-type"):
			_, _ = w.Write([]byte("<ListBucketResult></ListBucketResult>"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	before, after, found := strings.Cut(string(text), "    directory:\n      path: ${env:TAPE_DIR:-./tapes}\n")
	require.True(t, found)
	config = filepath.Join(dir, "bucket.yaml")
	bucket := fmt.Sprintf(`    s3:
      bucket: tapes
      endpoint: %s
      path_style: true
      max_attempts: 1
      credentials: {source: static, access_key_id: key, secret_access_key: secret}
    index: {directory: %s}
`, server.URL, filepath.Join(dir, "index"))
	require.NoError(t, os.WriteFile(config, []byte(before+bucket+after), 0o600))
	return config
}

func (s *stage) scrape() scrape {
	s.Helper()
	_, text, err := harness.Get(s.Context(), s.c.Metrics)
	require.NoError(s, err)
	return parse(s.T, text)
}

// await returns once the sum of a metric is above a value.
func (s *stage) await(metric string, above float64, labels ...string) {
	s.Helper()
	require.NoError(s, harness.Eventually(s.Context(), time.Minute, func() (bool, error) {
		now, err := s.c.Sum(s.Context(), metric, labels...)
		return now > above, err
	}), "%s does not grow", metric)
}

// ordinaryWork is a failed run with a secret, a good run, a trace of others and a span
// that comes after the decision.
func (s *stage) ordinaryWork() {
	s.Helper()
	fragments, err := s.c.Sum(s.Context(), "otelcol_tape_exporter_fragments")
	require.NoError(s, err)
	id := s.id()
	s.send(trace(id, tool(`{\"password\":\"correct horse\",\"text\":\"`+strings.Repeat("again ", 400)+`\"}`), failed))
	s.send(trace(s.id(), tool("x"), ended))
	s.send(trace(s.id(), span{name: "GET /"}))
	s.await("otelcol_tape_exporter_fragments", fragments)
	s.send(trace(id, span{name: "late"}))
}

// blockTheDirectory puts a file where the folder of the tapes is, which not even root can
// write below.
func (s *stage) blockTheDirectory() {
	s.Helper()
	tapes := filepath.Join(s.c.StoreDir(), "tapes")
	require.NoError(s, os.RemoveAll(tapes))
	require.NoError(s, os.WriteFile(tapes, nil, 0o600))
	s.send(trace(s.id(), tool("x"), failed))
}

// fill sends runs with more than the smallest spool holds, until one is not taken.
func (s *stage) fill(rest ...span) {
	s.Helper()
	// While the store is away, whoever sends waits for room as long as it likes to.
	ctx, cancel := context.WithTimeout(s.Context(), 5*time.Second)
	defer cancel()
	for i := range 30 {
		status, err := s.c.SendJSON(ctx, trace(s.id(), append([]span{tool(text(i))}, rest...)...))
		if ctx.Err() != nil || status != http.StatusOK {
			return
		}
		require.NoError(s, err)
	}
}

// text is 100 KB that no other seed has.
func text(seed int) string {
	out := new(strings.Builder)
	for i := range 7000 {
		fmt.Fprintf(out, "%d of %d, ", i, seed)
	}
	return out.String()
}

// damageTheSpool changes a byte of a run that is open when the collector is killed.
func (s *stage) damageTheSpool() {
	s.Helper()
	for range 4 {
		s.send(trace(s.id(), tool("x")))
	}
	require.NoError(s, s.c.Kill())
	segments, err := filepath.Glob(filepath.Join(s.c.Dir, "spool", "*.segment"))
	require.NoError(s, err)
	require.NotEmpty(s, segments)
	text, err := os.ReadFile(segments[0])
	require.NoError(s, err)
	at := bytes.LastIndex(text, []byte("execute_tool"))
	require.Positive(s, at)
	text[at] ^= 0x5a
	require.NoError(s, os.WriteFile(segments[0], text, 0o600))
	s.start()
}

// damageTheStore overwrites a fragment and reads it.
func (s *stage) damageTheStore() {
	s.Helper()
	id := s.id()
	s.send(trace(id, tool("x"), failed))
	var fragments []string
	require.NoError(s, harness.Eventually(s.Context(), time.Minute, func() (bool, error) {
		var err error
		fragments, err = filepath.Glob(filepath.Join(s.c.StoreDir(), "tapes", "*", id, "*.otlp.zst"))
		return len(fragments) > 0, err
	}))
	require.NoError(s, os.WriteFile(fragments[0], []byte("not zstd"), 0o600))
	status, _, err := harness.Get(s.Context(), s.c.API+"/v1/tapes/"+id)
	require.NoError(s, err)
	require.Equal(s, http.StatusInternalServerError, status)
}

func (s *stage) send(request []byte) {
	s.Helper()
	status, err := s.c.SendJSON(s.Context(), request)
	require.NoError(s, err)
	require.Equal(s, http.StatusOK, status)
}

// id is that of another trace each time.
func (s *stage) id() string {
	s.runs++
	return fmt.Sprintf("%032x", s.runs)
}
