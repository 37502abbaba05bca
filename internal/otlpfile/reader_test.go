package otlpfile

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	traceHex = "0af7651916cd43dd8448eb211c80319c"
	spanHex  = "b7ad6b7169203331"
)

// span is a request of one span with members added to it.
func span(members string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"` + traceHex + `","spanId":"` + spanHex + `"` + members + `}]}]}]}`
}

func withIDs(traceID, spanID string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":` + traceID + `,"spanId":` + spanID + `}]}]}]}`
}

const logDoc = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"5","body":{"stringValue":"hi"},"traceId":"` + traceHex + `"}]}]}]}`

// readAllDocs reads to the end and gives what came before an error.
func readAllDocs(t *testing.T, in []byte, opts ...Option) ([]*Document, error) {
	t.Helper()
	r := NewReader("in.json", bytes.NewReader(in), opts...)
	defer func() { require.NoError(t, r.Close()) }()
	var docs []*Document
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			_, again := r.Next()
			assert.Equal(t, err, again, "an error is final")
			return docs, err
		}
		docs = append(docs, d)
	}
}

func spanCount(docs []*Document) (n int) {
	for _, d := range docs {
		n += d.Traces.SpanCount()
	}
	return n
}

func gz(t *testing.T, b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func zst(t *testing.T, b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer func() { _ = w.Close() }()
	return w.EncodeAll(b, nil)
}

func tracesProto(t testing.TB, doc string) []byte {
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(doc))
	require.NoError(t, err)
	b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return b
}

func logsProto(t *testing.T, doc string) []byte {
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs([]byte(doc))
	require.NoError(t, err)
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	return b
}

func framed(msgs ...[]byte) []byte {
	var out []byte
	for _, m := range msgs {
		out = binary.BigEndian.AppendUint32(out, uint32(len(m)))
		out = append(out, m...)
	}
	return out
}

func TestDocumentsAreFoundHoweverTheyAreLaidOut(t *testing.T) {
	one := span(`,"name":"a"`)
	pretty := strings.NewReplacer(`{`, "{\n  ", `,`, ",\n  ").Replace(one)
	p := tracesProto(t, one)
	tests := map[string]struct {
		in    []byte
		docs  int
		lines []int
	}{
		"one":                       {[]byte(one), 1, []int{1}},
		"one a line":                {[]byte(one + "\n" + one + "\n"), 2, []int{1, 2}},
		"blank lines and CRLF":      {[]byte("\r\n\r\n" + one + "\r\n\r\n" + one), 2, []int{3, 5}},
		"byte order mark":           {append([]byte("\xef\xbb\xbf"), one...), 1, []int{1}},
		"pretty":                    {[]byte(pretty), 1, []int{1}},
		"pretty, concatenated":      {[]byte(pretty + pretty), 2, nil},
		"array":                     {[]byte("[" + one + ",\n" + one + "]"), 2, []int{1, 2}},
		"arrays, concatenated":      {[]byte("[" + one + "]\n[" + one + "," + one + "]"), 3, []int{1, 2, 2}},
		"braces inside strings":     {[]byte(span(`,"name":"}]\"{\\"`)), 1, nil},
		"protobuf":                  {p, 1, []int{0}},
		"size-prefixed protobuf":    {framed(p, p, p), 3, []int{0, 0, 0}},
		"size-prefixed, compressed": {framed(zst(t, p), zst(t, []byte(one)), gz(t, p)), 3, nil},
		"gzip":                      {gz(t, []byte(one+one)), 2, nil},
		"zstd":                      {zst(t, []byte(one+"\n"+one)), 2, nil},
		"gzip of protobuf":          {gz(t, p), 1, nil},
		"zstd of size-prefixed":     {zst(t, framed(p, p)), 2, nil},
		"gzip, concatenated":        {append(gz(t, []byte(one)), gz(t, []byte(one))...), 2, nil},
		"zstd, concatenated":        {append(zst(t, []byte(one)), zst(t, []byte(one))...), 2, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			docs, err := readAllDocs(t, tt.in)
			require.NoError(t, err)
			require.Len(t, docs, tt.docs)
			assert.Equal(t, tt.docs, spanCount(docs))
			for i, line := range tt.lines {
				assert.Equal(t, line, docs[i].Line)
				assert.Equal(t, i+1, docs[i].Number)
			}
		})
	}
}

func TestLogsAreToldFromTraces(t *testing.T) {
	both := `{"resourceLogs":` + logDoc[len(`{"resourceLogs":`):len(logDoc)-1] + `,` + span("")[1:]
	tests := map[string]struct {
		in          []byte
		spans, logs int
	}{
		"JSON logs":                  {[]byte(logDoc), 0, 1},
		"protobuf logs":              {logsProto(t, logDoc), 0, 1},
		"size-prefixed logs":         {framed(logsProto(t, logDoc), tracesProto(t, span(""))), 1, 1},
		"one object with both":       {[]byte(both), 1, 1},
		"snake case":                 {[]byte(`{"resource_logs":[{"scope_logs":[{"log_records":[{"event_name":"e"}]}]}]}`), 0, 1},
		"spellings before OTLP 0.15": {[]byte(`{"resourceLogs":[{"instrumentationLibraryLogs":[{"instrumentationLibrary":{"name":"l"},"logs":[{"body":{}}]}]}]}`), 0, 1},
		"no spans beside some":       {[]byte(`{"resourceSpans":[]}` + logDoc + `{"resourceSpans":null}`), 0, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			docs, err := readAllDocs(t, tt.in)
			require.NoError(t, err)
			logs := 0
			for _, d := range docs {
				logs += d.Logs.LogRecordCount()
			}
			assert.Equal(t, tt.spans, spanCount(docs))
			assert.Equal(t, tt.logs, logs)
		})
	}
}

func TestIDsInAnySpellingBecomeHex(t *testing.T) {
	rawTrace := []byte("\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c")
	rawSpan := []byte("\xb7\xad\x6b\x71\x69\x20\x33\x31")
	quote := func(s string) string { return `"` + s + `"` }
	tests := map[string][2]string{
		"lower-case hex":  {traceHex, spanHex},
		"upper-case hex":  {strings.ToUpper(traceHex), strings.ToUpper(spanHex)},
		"base64":          {base64.StdEncoding.EncodeToString(rawTrace), base64.StdEncoding.EncodeToString(rawSpan)},
		"unpadded base64": {base64.RawStdEncoding.EncodeToString(rawTrace), base64.RawStdEncoding.EncodeToString(rawSpan)},
		"url base64":      {base64.URLEncoding.EncodeToString(rawTrace), base64.URLEncoding.EncodeToString(rawSpan)},
	}
	for name, ids := range tests {
		t.Run(name, func(t *testing.T) {
			docs, err := readAllDocs(t, []byte(withIDs(quote(ids[0]), quote(ids[1]))))
			require.NoError(t, err)
			s := docs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			assert.Equal(t, traceHex, s.TraceID().String())
			assert.Equal(t, spanHex, s.SpanID().String())
		})
	}
	t.Run("hex that is also base64 stays hex", func(t *testing.T) {
		docs, err := readAllDocs(t, []byte(withIDs(`"deadbeefdeadbeefdeadbeefdeadbeef"`, `"abcdabcdabcdabcd"`)))
		require.NoError(t, err)
		s := docs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		assert.Equal(t, "deadbeefdeadbeefdeadbeefdeadbeef", s.TraceID().String())
	})
}

func TestMembersInTheirManySpellings(t *testing.T) {
	in := span(`,"parent_span_id":null,"kind":"SPAN_KIND_CLIENT","start_time_unix_nano":1.7e18,"endTimeUnixNano":"1700000000000000001",` +
		`"status":{"code":"error","message":null},"events":null,"attributes":[` +
		`{"key":"i","value":{"intValue":"-7"}},{"key":"d","value":{"doubleValue":"NaN"}},{"key":"b","value":{"bytesValue":"_-8"}},` +
		`{"key":"n","value":null},{"key":"l","value":{"arrayValue":{"values":[{"boolValue":true},{}]}}}],"someday":{"":1}`)
	docs, err := readAllDocs(t, []byte(in))
	require.NoError(t, err)
	s := docs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	assert.True(t, s.ParentSpanID().IsEmpty())
	assert.Equal(t, ptrace.SpanKindClient, s.Kind())
	assert.EqualValues(t, 1700000000000000000, s.StartTimestamp())
	assert.EqualValues(t, 1700000000000000001, s.EndTimestamp())
	assert.Equal(t, ptrace.StatusCodeError, s.Status().Code())
	b, _ := s.Attributes().Get("b")
	assert.Equal(t, []byte{0xff, 0xef}, b.Bytes().AsRaw())
	i, _ := s.Attributes().Get("i")
	assert.EqualValues(t, -7, i.Int())
	assert.Equal(t, 5, s.Attributes().Len())
}

func TestSpellingsBeforeOTLP015(t *testing.T) {
	docs, err := readAllDocs(t, []byte(`{"resourceSpans":[{"instrumentationLibrarySpans":[{"instrumentationLibrary" : {"name":"lib"},"spans":[{"traceId":"`+
		traceHex+`","spanId":"`+spanHex+`"}]}]}]}`))
	require.NoError(t, err)
	ss := docs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0)
	assert.Equal(t, "lib", ss.Scope().Name())
	assert.Equal(t, 1, ss.Spans().Len())
}

func TestRealExportIsReadWhole(t *testing.T) {
	r, err := Open(filepath.Join("testdata", "any-agent", "otlp.jsonl"))
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	plain, err := os.ReadFile(filepath.Join("testdata", "any-agent", "otlp.jsonl"))
	require.NoError(t, err)
	var spans int
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		spans += d.Traces.SpanCount()
	}
	assert.Equal(t, bytes.Count(plain, []byte(`"spanId"`)), spans)
}

func TestMemoryIsBoundedByTheDocument(t *testing.T) {
	big := span(`,"name":"` + strings.Repeat("x", 4096) + `"`)
	for name, in := range map[string][]byte{
		"JSON":           []byte(big),
		"protobuf":       tracesProto(t, big),
		"size-prefixed":  framed(tracesProto(t, big)),
		"gzip bomb":      gz(t, []byte(span(`,"name":"`+strings.Repeat("x", 8<<20)+`"`))),
		"zstd bomb":      zst(t, []byte(span(`,"name":"`+strings.Repeat("x", 8<<20)+`"`))),
		"bomb in a size": framed(zst(t, []byte(span(`,"name":"`+strings.Repeat("x", 8<<20)+`"`)))),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAllDocs(t, in, WithMaxDocument(2048))
			require.ErrorIs(t, err, ErrTooLarge)
		})
	}
	docs, err := readAllDocs(t, []byte(strings.Repeat(span("")+"\n", 100)), WithMaxDocument(2048))
	require.NoError(t, err)
	assert.Len(t, docs, 100, "the bound is per document")
}

func TestOpenNamesAMissingFile(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestInvalidUTF8Survives(t *testing.T) {
	td := ptrace.NewTraces()
	s := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	s.SetTraceID([16]byte{1})
	s.SetSpanID([8]byte{1})
	s.SetName("caf\xe9")
	proto, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	for _, in := range [][]byte{proto, []byte(span(",\"name\":\"caf\xe9\""))} {
		docs, err := readAllDocs(t, in)
		require.NoError(t, err)
		assert.Equal(t, "caf\xe9", docs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Name())
	}
}
