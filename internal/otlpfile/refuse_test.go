package otlpfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorsNameThePlace(t *testing.T) {
	ok := span("")
	deep := strings.Repeat(`{"arrayValue":{"values":[`, 6000) + strings.Repeat(`]}}`, 6000)
	tests := map[string]struct {
		in   string
		want string
		is   error
	}{
		"nothing":            {"", "in.json: empty: there is no document in it", ErrEmpty},
		"white space":        {" \n\n", "in.json: empty: there is no document in it", ErrEmpty},
		"an empty array":     {"[]", "in.json: empty: there is no document in it", ErrEmpty},
		"cut":                {ok + "\n" + ok[:len(ok)-4], "in.json:2: document 2: ends in the middle of a document", ErrCut},
		"cut array":          {"[" + ok, "in.json:1: document 2: ends in the middle of a document: the array around it is not closed", ErrCut},
		"not JSON inside":    {"\n{\"resourceSpans\":\n nope}", "in.json:3: document 1: not valid JSON: invalid character 'o' in literal null (expecting 'u')", nil},
		"rubbish between":    {ok + "\nhello", `in.json:2: document 2: not a trace export: want a JSON object here, found "hello"`, ErrFormat},
		"an array of words":  {`["a"]`, `in.json:1: document 1: not a trace export: want a JSON object here, found "\"a\"]"`, ErrFormat},
		"text":               {"hello", `in.json: not a trace export: neither a JSON object or array nor OTLP protobuf: it starts with "hello"`, ErrFormat},
		"null":               {"null", `in.json: not a trace export: neither a JSON object or array nor OTLP protobuf: it starts with "null"`, ErrFormat},
		"an empty object":    {"{}", "in.json:1: document 1: not a trace export: an object without members", ErrFormat},
		"another object":     {ok + "\n" + `{"a":1,"b":2}`, `in.json:2: document 2: not a trace export: none that is known has the members "a", "b"`, ErrFormat},
		"many members":       {`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`, `in.json:1: document 1: not a trace export: none that is known has the members "a", "b", "c", "d", "e", …`, ErrFormat},
		"metrics":            {`{"resourceMetrics":[]}`, "in.json:1: document 1: not a trace export: OTLP metrics, which hold no calls", ErrFormat},
		"a tape":             {`{"tape":"1"}`, "in.json:1: document 1: not a trace export: a tape", ErrFormat},
		"a tape record":      {`{"seq":1,"tool":"t"}`, "in.json:1: document 1: not a trace export: a tape record", ErrFormat},
		"no spans":           {`{"resourceSpans":[]}`, "in.json:1: document 1: OTLP JSON with neither a span nor a log record in it", ErrNoSpans},
		"null for spans":     {`{"resourceSpans":null}`, "in.json:1: document 1: OTLP JSON with neither a span nor a log record in it", ErrNoSpans},
		"no records":         {"\n" + `{"resourceLogs":[{"scopeLogs":[]}]}` + `{"resourceSpans":[{}]}`, "in.json:2: document 1: OTLP JSON with neither a span nor a log record in it", ErrNoSpans},
		"no batches":         {`{"batches":[]}`, "in.json:1: document 1: Tempo JSON with neither a span nor a log record in it", ErrNoSpans},
		"null for batches":   {`{"batches":null}`, "in.json:1: document 1: Tempo JSON with neither a span nor a log record in it", ErrNoSpans},
		"an empty trace":     {`{"trace":{"resourceSpans":[]}}`, "in.json:1: document 1: OTLP JSON with neither a span nor a log record in it", ErrNoSpans},
		"Tempo of no array":  {`{"batches":{}}`, "in.json:1: document 1: batches: want an array, found an object", nil},
		"an empty answer":    {`{"data":[],"total":0}`, "in.json:1: document 1: not a trace export: the answer of a query without a trace in it", ErrFormat},
		"a failed query":     {`{"data":null,"errors":[{"code":404,"msg":"trace not found"}]}`, `in.json:1: document 1: not a trace export: the answer of a query without a trace in it: [{"code":404,"msg":"trace not found"}]`, ErrFormat},
		"an answer of words": {`{"data":["shop"]}`, "in.json:1: document 1: data[0]: not a trace export: want an object, found a string", ErrFormat},
		"an unknown answer":  {`{"data":[{"a":1}]}`, `in.json:1: document 1: data[0]: not a trace export: none that is known has the members "a"`, ErrFormat},
		"answers in answers": {`{"data":{"data":{"data":{"data":{"data":{"data":1}}}}}}`, "in.json:1: document 1: data.data.data.data: not a trace export: more than 4 answers inside one another", ErrFormat},
		"no Jaeger spans":    {`{"data":[{"traceID":"1","spans":[],"processes":{}}]}`, "in.json:1: document 1: data[0]: not a trace export: a Jaeger trace without spans", ErrFormat},
		"an unknown process": {`{"traceID":"1","spans":[{"spanID":"2","processID":"p9"}]}`, `in.json:1: document 1: spans[0].processID: there is no process "p9"`, nil},
		"a Jaeger id":        {`{"traceID":"1","spans":[{"spanID":"span-1"}]}`, `in.json:1: document 1: spans[0].spanID: "span-1" is neither 16 hex digits nor base64 or a decimal number of 8 bytes`, nil},
		"a Jaeger time":      {`{"traceID":"1","spans":[{"spanID":"2","startTime":"noon"}]}`, `in.json:1: document 1: spans[0].startTime: "noon" is not a time`, nil},
		"a Jaeger name":      {`{"traceID":"1","spans":[{"spanID":"2","operationName":[]}]}`, `in.json:1: document 1: spans[0].operationName: want a string, found a JSON array`, nil},
		"no span id":         {`{"name":"a","context":{"trace_id":"0x1"}}`, "in.json:1: document 1: a span without context.span_id", nil},
		"a Python time":      {`{"name":"a","context":{"trace_id":"0x1","span_id":"0x2"},"start_time":"yesterday"}`, `in.json:1: document 1: start_time: "yesterday" is not a time`, nil},
		"Python attributes":  {`{"name":"a","context":{"trace_id":"0x1","span_id":"0x2"},"attributes":[1]}`, `in.json:1: document 1: attributes: want an object, found an array`, nil},
		"a rounded id":       {`{"name":"a","context":{"trace_id":1.3e38,"span_id":"0x2"}}`, `in.json:1: document 1: context.trace_id: "1.3e38" is no number of 16 bytes`, nil},
		"a JS status":        {`{"name":"a","traceId":"1","id":"2","timestamp":1,"status":{"code":-1}}`, `in.json:1: document 1: status.code: "-1" is not a small whole number`, nil},
		"a Go event":         {`{"SpanContext":{"TraceID":"1","SpanID":"2"},"Events":[{"Time":"x"}]}`, `in.json:1: document 1: Events[0].Time: "x" is not a time`, nil},
		"Langfuse ids only":  {`{"id":"t","observations":["a"]}`, "in.json:1: document 1: observations[0]: only the ids of the observations are here: fetch the trace by its id", nil},
		"Langfuse of none":   {`{"id":"t","observations":[]}`, "in.json:1: document 1: not a trace export: a Langfuse trace without observations", ErrFormat},
		"Langfuse no id":     {`{"id":"t","observations":[{"name":"a"}]}`, "in.json:1: document 1: observations[0]: an observation without id", nil},
		"a printed object":   {"{\n  a: 1\n}", `in.json:1: document 1: not a trace export: none that is known has the members "a"`, ErrFormat},
		"printed otherwise":  {"{\n  a: 1,\n  b: <what>\n}", `in.json:4: document 1: read as an object that Node.js printed: want a value, found "}"`, nil},
		"printed in part":    {"{\n  a: 'x\n}", "in.json:3: document 1: ends in the middle of a document", ErrCut},
		"wrong top type":     {`{"resourceSpans":{}}`, "in.json:1: document 1: resourceSpans: want an array, found an object", nil},
		"wrong inner type":   {span(`,"attributes":{"a":1}`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].attributes: want an array, found an object", nil},
		"a bare value":       {span(`,"attributes":[{"key":"a","value":"x"}]`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value: want an object, found a string", nil},
		"an unknown value":   {span(`,"attributes":[{"key":"a","value":{"v":"x"}}]`), `in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value: "v" is no member of AnyValue`, nil},
		"a name of number":   {span(`,"name":3`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].name: want a string, found a number", nil},
		"a bool of number":   {span(`,"attributes":[{"value":{"boolValue":1}}]`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.boolValue: want true or false, found a number", nil},
		"a kind of no name":  {span(`,"kind":"SIDEWAYS"`), `in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].kind: "SIDEWAYS" is not an integer`, nil},
		"a time of half":     {span(`,"startTimeUnixNano":1.5`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano: 1.5 is not an integer", nil},
		"a time over range":  {span(`,"startTimeUnixNano":1e30`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano: 1e30 is out of range", nil},
		"a negative time":    {span(`,"startTimeUnixNano":"-1"`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano: -1 is out of range", nil},
		"a boolean time":     {span(`,"startTimeUnixNano":true`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano: want an integer, found a boolean", nil},
		"a nested time":      {span(`,"startTimeUnixNano":{}`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano: want an integer, found an object", nil},
		"a double too large": {span(`,"attributes":[{"value":{"doubleValue":1e999}}]`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.doubleValue: 1e999 is out of range", nil},
		"bytes of no base64": {span(`,"attributes":[{"value":{"bytesValue":"***"}}]`), `in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.bytesValue: "***" is not base64`, nil},
		"an id of no hex":    {withIDs(`"`+strings.Repeat("zz", 16)+`"`, `"`+spanHex+`"`), `in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].traceId: "` + strings.Repeat("zz", 16) + `" is not hex`, nil},
		"a short id":         {withIDs(`"abc"`, `"`+spanHex+`"`), `in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].traceId: "abc" is neither 32 hex digits nor base64 of 16 bytes`, nil},
		"an id of number":    {withIDs(`12`, `"`+spanHex+`"`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0].traceId: want an id in a string, found a number", nil},
		"an id of zeros":     {withIDs(`"`+strings.Repeat("0", 32)+`"`, `"`+spanHex+`"`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0]: a Span without traceId", nil},
		"a span without id":  {withIDs(`"`+traceHex+`"`, `null`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0]: a Span without spanId", nil},
		"no OTLP inside":     {`{"resourceSpans":[{"traceID":"x"}]}`, `in.json:1: document 1: resourceSpans[0]: "traceID" is no member of ResourceSpans`, nil},
		"an empty name":      {span(`,"":1,"name":"lost"`), "in.json:1: document 1: resourceSpans[0].scopeSpans[0].spans[0]: a member without a name", nil},
		"too deep":           {span(`,"attributes":[{"value":` + deep + `}]`), "in.json:1: document 1: nested deeper than 10000 levels", nil},
		"line of the member": {"{\n\"resourceSpans\":\n[{\n\"resource\":7}]}", "in.json:4: document 1: resourceSpans[0].resource: want an object, found a number", nil},
		"cut gzip":           {string(gz(t, []byte(ok))[:60]), "in.json: gzip: the compressed data is cut: ends in the middle of a document", ErrCut},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readAllDocs(t, []byte(tt.in))
			require.EqualError(t, err, tt.want)
			assert.NotContains(t, err.Error(), "\n")
			var e *Error
			require.ErrorAs(t, err, &e)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
		})
	}
}

func TestProtobufErrorsNameThePlace(t *testing.T) {
	p := tracesProto(t, span(`,"name":"abc"`))
	metrics := []byte("\x0a\x0b\x12\x09\x12\x07\x0a\x05calls")
	old := []byte("\x0a\x05\xc2\x3e\x02\x0a\x00")
	deep := []byte{}
	for range 5000 {
		deep = nest(deep, 1)
		deep = nest(deep, 5)
	}
	deep = nest(nest(nest(nest(nest(nest(deep, 2), 9), 2), 2), 1), 0)
	tests := map[string]struct {
		in   []byte
		want string
		is   error
	}{
		"cut":            {p[:len(p)-2], "in.json: document 1: resourceSpans[0]: not a trace export: read as protobuf traces, byte 2: 45 bytes announced, 43 left: the message is cut or not protobuf", ErrFormat},
		"metrics":        {metrics, "in.json: document 1: resourceSpans[0].scopeSpans[0].spans[0].traceId: not a trace export: read as protobuf traces, byte 7: 5 bytes, want 16", ErrFormat},
		"before 0.15":    {old, "in.json: document 1: resourceSpans[0]: not a trace export: read as protobuf traces, byte 4: written before OTLP 0.15, which is read as JSON only", ErrFormat},
		"cut in a size":  {append(framed(p), 0, 0), "in.json: document 2: ends in the middle of a document: inside its size", ErrCut},
		"cut in a frame": {framed(p)[:20], "in.json: document 1: ends in the middle of a document: 16 of 47 bytes", ErrCut},
		"no spans":       {framed(tracesProto(t, `{"resourceSpans":[{}]}`)), "in.json: document 1: OTLP protobuf with neither a span nor a log record in it", ErrNoSpans},
		"zeros":          {append(framed(p), make([]byte, 8)...), "in.json: document 2: not a trace export: a message of no bytes", ErrFormat},
		"a zip file":     {[]byte("PK\x03\x04\x14\x00\x00\x00"), `in.json: not a trace export: neither a JSON object or array nor OTLP protobuf: it starts with "PK\x03\x04\x14\x00\x00\x00"`, ErrFormat},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readAllDocs(t, tt.in)
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, tt.is)
		})
	}
	t.Run("too deep", func(t *testing.T) {
		_, err := readAllDocs(t, deep)
		require.ErrorContains(t, err, "nested deeper than 3333 messages")
		assert.Less(t, len(err.Error()), 400, "the path is cut short")
	})
	t.Run("an announced size costs nothing", func(t *testing.T) {
		in := binary.BigEndian.AppendUint32(nil, 400<<20)
		allocated := testing.AllocsPerRun(1, func() { _, _ = readAllDocs(t, append(in, 'x')) })
		assert.Less(t, allocated, 100.0)
		_, err := readAllDocs(t, append(in, 'x'))
		require.ErrorIs(t, err, ErrCut)
	})
}

// nest wraps bytes as a length-delimited field; field 0 leaves them alone.
func nest(body []byte, num byte) []byte {
	if num == 0 {
		return body
	}
	out := binary.AppendUvarint([]byte{num<<3 | wireBytes}, uint64(len(body)))
	return append(out, body...)
}

func TestReadErrorsOfTheSourceComeThrough(t *testing.T) {
	r := NewReader("pipe", io.MultiReader(bytes.NewReader([]byte(`{"resourceSpans":`)), failing{}))
	_, err := r.Next()
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
