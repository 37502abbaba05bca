package tapereceiver

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadatatest"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
)

const (
	plainTape = `{"seq":1,"tool":"fetch","key":"fetch:d3ad8a5ee74b","args":{"url":"http://a"},"result":{"page":"x"},"ms":12.5,"side_effect":false,"clock":"2026-01-02T03:04:05Z"}` + "\n" +
		`{"seq":2,"tool":"save","key":"save:44136fa355b3","args":{},"result":null,"ms":1,"side_effect":true,"clock":null,"error":"disk full"}` + "\n"
	loop = "127.0.0.1:0"
)

// serving takes in tapes over HTTP and does nothing else.
func serving(t testing.TB) *Config {
	t.Helper()
	return quick(func(c *Config) {
		c.Mode = ModeNone
		c.HTTP.GetOrInsertDefault().NetAddr.Endpoint = loop
	})
}

func startServing(t *testing.T, next consumer.Traces, change func(*Config)) (*fixture, string) {
	t.Helper()
	cfg := serving(t)
	if change != nil {
		change(cfg)
	}
	f := start(t, componenttest.NewNopHost(), next, cfg)
	return f, "http://" + f.Traces.(*tapeReceiver).server.addr.String() + tapesPath
}

func post(t testing.TB, url string, body []byte, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text), resp.Header
}

func (f *fixture) assertTapes(t *testing.T, source string, want map[string]int64) {
	t.Helper()
	var points []metricdata.DataPoint[int64]
	for result, n := range want {
		points = append(points, metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(
			attribute.String("source", source), attribute.String("result", result))})
	}
	metadatatest.AssertEqualTapeReceiverTapes(t, f.tel, points, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestAPostedTapeBecomesATrace(t *testing.T) {
	for name, body := range map[string][]byte{"plain": []byte(plainTape), "gzip": zipped(t, plainTape)} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			f, url := startServing(t, s, func(c *Config) { c.DefaultService = "script" })
			header := []string{"Content-Type", "application/x-ndjson"}
			if name == "gzip" {
				header = append(header, "Content-Encoding", "gzip")
			}
			status, text, _ := post(t, url, body, header...)
			require.Equal(t, http.StatusOK, status, text)
			var got answer
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			require.Len(t, got.Tapes, 1)
			assert.Equal(t, 2, got.Tapes[0].Records)
			require.Len(t, s.all(), 1)
			tapes := dialect.Translate(s.all()[0], dialect.Options{})
			require.Len(t, tapes, 1)
			assert.Equal(t, got.Tapes[0].TraceID, tapes[0].Manifest.TraceID)
			assert.Equal(t, "script", tapes[0].Manifest.Service)
			require.Len(t, tapes[0].Records, 2)
			for i, line := range strings.Split(strings.TrimSpace(plainTape), "\n") {
				r := tapes[0].Records[i]
				text, err := r.AppendJSON(nil)
				require.NoError(t, err)
				var had, has map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(line), &had))
				require.NoError(t, json.Unmarshal(text, &has))
				for _, member := range []string{"seq", "tool", "args", "result", "ms", "side_effect", "clock"} {
					assert.Equal(t, string(had[member]), string(has[member]), member)
				}
			}
			assert.Equal(t, "disk full", tapes[0].Records[1].Error.Message)
			f.assertTapes(t, "http", map[string]int64{"accepted": 1})

			_, again, _ := post(t, url, []byte(plainTape))
			assert.Equal(t, text, again, "the same tape has the same id")
		})
	}
}

func TestATapeThatIsPostedAgainHasTheSameTimes(t *testing.T) {
	const untimed = `{"seq":1,"tool":"fetch","key":"","args":{"n":1},"result":1,"ms":12.5,"side_effect":false,"clock":null}` + "\n"
	s := &sink{}
	_, url := startServing(t, s, nil)
	for _, body := range []string{untimed, untimed, strings.Replace(untimed, "fetch", "other", 1)} {
		status, text, _ := post(t, url, []byte(body))
		require.Equal(t, http.StatusOK, status, text)
	}
	got := s.all()
	require.Len(t, got, 3)
	begins := func(i int) pcommon.Timestamp {
		return got[i].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).StartTimestamp()
	}
	assert.Equal(t, got[0], got[1])
	assert.Greater(t, begins(2), begins(0))
}

func TestPostedTapesAreRememberedWithinABound(t *testing.T) {
	var f firsts
	sum := func(i int) (h [sha256.Size]byte) {
		binary.BigEndian.PutUint64(h[:], uint64(i))
		return h
	}
	at := func(i int) time.Time { return time.Unix(int64(i), 0) }
	for i := range 3 * maxFirst / 2 {
		require.Equal(t, at(i), f.of(sum(i), at(i)))
	}
	assert.Len(t, f.times, maxFirst)
	assert.Equal(t, at(maxFirst), f.of(sum(maxFirst), at(0)))
	assert.Equal(t, at(1), f.of(sum(0), at(1)), "forgotten")
}

func TestPostsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		body   string
		header []string
		status int
		text   string
		result string
	}{
		"not JSON":        {"hello\n", nil, 400, "line 1", "invalid"},
		"cut":             {plainTape[:len(plainTape)-5], nil, 400, "line 2", "invalid"},
		"unknown version": {`{"tape":"9"}` + "\n", nil, 400, "unknown tape version", "invalid"},
		"empty":           {"", nil, 400, "no record", "invalid"},
		"manifest alone":  {`{"tape":"1"}` + "\n", nil, 400, "no record", "invalid"},
		"no tape":         {`{"seq":1}` + "\n", nil, 400, "record 1 of the tape: tool: missing", "invalid"},
		"too long":        {strings.Repeat(plainTape, 100), nil, 413, "over 10000 bytes", "too_large"},
		"a bomb":          {string(zipped(t, strings.Repeat(plainTape, 100))), []string{"Content-Encoding", "gzip"}, 413, "over 10000 bytes", "too_large"},
		"from a web page": {plainTape, []string{"Origin", "https://evil.example"}, 403, "forbidden", ""},
		"another name":    {plainTape, []string{"Host", "evil.example"}, 403, "forbidden", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			f, url := startServing(t, s, func(c *Config) { c.HTTP.Get().MaxRequestBodySize = 10_000 })
			status, text, _ := post(t, url, []byte(test.body), test.header...)
			assert.Equal(t, test.status, status, text)
			assert.Contains(t, text, test.text)
			assert.Contains(t, text, `{"error":{"code":`)
			assert.Empty(t, s.all())
			if test.result != "" {
				f.assertTapes(t, "http", map[string]int64{test.result: 1})
			}
		})
	}
}

func TestTooManyRecordsAreRefused(t *testing.T) {
	s := &sink{}
	f, url := startServing(t, s, nil)
	status, text, _ := post(t, url, zipped(t, strings.Repeat("{}\n", maxRecords+1)), "Content-Encoding", "gzip")
	assert.Equal(t, http.StatusRequestEntityTooLarge, status)
	assert.Contains(t, text, "too many records")
	f.assertTapes(t, "http", map[string]int64{"too_large": 1})
}

// A tape is answered for only when the next component has it.
func TestTheAnswerTellsWhatTheNextComponentSaid(t *testing.T) {
	var say error
	s := &sink{answer: func(int, ptrace.Traces) error { return say }}
	f, url := startServing(t, s, nil)
	say = errors.New("queue is full")
	status, text, header := post(t, url, []byte(plainTape))
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "5", header.Get("Retry-After"))
	assert.NotContains(t, text, "queue is full", "what is inside is nobody's business")
	say = consumererror.NewPermanent(errors.New("no"))
	status, _, header = post(t, url, []byte(plainTape))
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Empty(t, header.Get("Retry-After"))
	say = nil
	status, _, _ = post(t, url, []byte(plainTape))
	assert.Equal(t, http.StatusOK, status)
	f.assertTapes(t, "http", map[string]int64{"failed": 1, "refused": 1, "accepted": 1})
	resp, err := http.Get(url) //nolint:gosec // a test server's own address
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
	http.DefaultClient.CloseIdleConnections()
}

func TestPostedTapesAreCutToo(t *testing.T) {
	s := &sink{}
	_, url := startServing(t, s, func(c *Config) { c.MaxRequestBytes = 2000 })
	var body strings.Builder
	for n := range 50 {
		fmt.Fprintf(&body, `{"seq":%d,"tool":"t","args":{"n":%d},"result":%q,"ms":1}`+"\n", n+1, n, strings.Repeat("x", 200))
	}
	status, _, _ := post(t, url, []byte(body.String()))
	require.Equal(t, http.StatusOK, status)
	spans := 0
	for _, td := range s.all() {
		assert.LessOrEqual(t, (&ptrace.ProtoMarshaler{}).TracesSize(td), 2000)
		spans += td.SpanCount()
	}
	assert.Equal(t, 51, spans)
}

func TestAPortThatIsTakenIsAnErrorOfTheStart(t *testing.T) {
	_, url := startServing(t, &sink{}, nil)
	cfg := serving(t)
	cfg.HTTP.Get().NetAddr.Endpoint = strings.TrimSuffix(strings.TrimPrefix(url, "http://"), tapesPath)
	r, err := NewFactory().CreateTraces(t.Context(), nopSettings(), cfg, &sink{})
	require.NoError(t, err)
	require.ErrorContains(t, r.Start(t.Context(), componenttest.NewNopHost()), "http: endpoint 127.0.0.1")
	require.NoError(t, r.Shutdown(t.Context()))
}
