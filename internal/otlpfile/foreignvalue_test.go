package otlpfile

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func TestIDsAsProgramsPrintThem(t *testing.T) {
	for in, want := range map[string]string{
		`"0a0b0c0d0e0f1011"`:     "0a0b0c0d0e0f1011",
		`"0A0B0C0D0E0F1011"`:     "0a0b0c0d0e0f1011",
		`"0x0a0b0c0d0e0f1011"`:   "0a0b0c0d0e0f1011",
		`"0xa0b0c0d0e0f1011"`:    "0a0b0c0d0e0f1011",
		`"a0b0c0d0e0f1011"`:      "0a0b0c0d0e0f1011",
		`"CgsMDQ4PEBE="`:         "0a0b0c0d0e0f1011",
		`723685415333072913`:     "0a0b0c0d0e0f1011",
		`"723685415333072913"`:   "0a0b0c0d0e0f1011",
		`"18446744073709551615"`: "ffffffffffffffff",
		`"1234567890123456"`:     "1234567890123456",
		`"12"`:                   "0000000000000012",
		`12`:                     "000000000000000c",
		`null`:                   "0000000000000000",
		`""`:                     "0000000000000000",
	} {
		id, err := readSpanID(json.RawMessage(in))
		require.NoError(t, err, in)
		assert.Equal(t, want, hex.EncodeToString(id[:]), in)
	}
	for _, in := range []string{`"span-1"`, `18446744073709551616`, `"18446744073709551616"`, `-1`, `1.5`, `true`, `{}`, `"0x"+1`, `"zz"`, `"0x11223344556677889"`, strings.Repeat("9", 1<<20)} {
		_, err := readSpanID(json.RawMessage(in))
		assert.Error(t, err, in)
	}
}

func TestNamedIDs(t *testing.T) {
	var trace pcommon.TraceID
	assert.False(t, namedID("4bf92f3577b34da6a3ce929d0e0e4736", trace[:]))
	assert.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", trace.String())
	assert.True(t, namedID("4bf92f35-77b3-4da6-a3ce-929d0e0e4736", trace[:]), "a UUID keeps its digits")
	assert.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", trace.String())
	assert.True(t, namedID("trace-7", trace[:]))
	first := trace
	assert.True(t, namedID("trace-7", trace[:]))
	assert.Equal(t, first, trace)
	assert.True(t, namedID("trace-8", trace[:]))
	assert.NotEqual(t, first, trace)
	assert.True(t, namedID(strings.Repeat("0", 32), trace[:]))
	assert.False(t, trace.IsEmpty())
}

func TestTimesAsProgramsPrintThem(t *testing.T) {
	const want = pcommon.Timestamp(1772445600123456000)
	for _, in := range []string{
		`"2026-03-02T10:00:00.123456Z"`, `"2026-03-02T10:00:00.123456+00:00"`, `"2026-03-02 10:00:00.123456+00:00"`,
		`"2026-03-02T12:00:00.123456+0200"`, `"2026-03-02T10:00:00.123456"`, `"2026-03-02 10:00:00.123456"`,
		`1772445600123456`, `"1772445600123456"`, `1772445600123.456`, `1772445600.123456`, `1772445600123456000`,
		`"1772445600123456000"`, `1.772445600123456e15`, `[1772445600,123456000]`, `["1772445600","123456000"]`,
	} {
		got, err := readTime(json.RawMessage(in))
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{`null`, `""`, `"0001-01-01T00:00:00Z"`, ``} {
		got, err := readTime(json.RawMessage(in))
		require.NoError(t, err, in)
		assert.Zero(t, got, in)
	}
	for _, in := range []string{
		`"noon"`, `true`, `{}`, `[1]`, `[1,"x"]`, `[1,{}]`, `-5`, `1e400`, `"1e999999999"`, `[1e999999999,0]`, `1e-999999999`, `"NaN"`, `"Inf"`, `"1/3"`, `"0x10"`,
		`"1969-12-31T23:59:59Z"`, `"9999-01-01T00:00:00Z"`, `"2262-06-01T00:00:00Z"`, `1e25`, `[18446744073,18446744073709551615]`,
	} {
		_, err := readTime(json.RawMessage(in))
		assert.Error(t, err, in)
	}
}

func TestNestedAttributesBecomeFlat(t *testing.T) {
	in := `{"llm":{"token_count":{"prompt":3},"input_messages":[{"message":{"role":"user"}},{"message":{"tool_calls":[{"tool_call":{"function":{"arguments":{"a":1}}}}]}}]},
		"metadata":{"a":{"b":1}},"input":{"value":{"x":[1]}},"tags":["a","b"],"embedding.vector":[1.5,2.5],"none":null,"plain.key":true,"big":123456789012345678901,"mixed":[1,{"a":2}]}`
	for name, text := range map[string]string{"an object": in, "as text": mustJSON(t, in)} {
		t.Run(name, func(t *testing.T) {
			m := pcommon.NewMap()
			require.NoError(t, flatten(m, json.RawMessage(text)))
			assert.Equal(t, map[string]any{
				"llm.token_count.prompt": int64(3), "llm.input_messages.0.message.role": "user",
				"llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": `{"a":1}`,
				"metadata": `{"a":{"b":1}}`, "input.value": `{"x":[1]}`, "tags": []any{"a", "b"}, "embedding.vector": []any{1.5, 2.5},
				"plain.key": true, "big": 1.2345678901234568e20, "mixed.0": int64(1), "mixed.1.a": int64(2),
			}, m.AsRaw())
		})
	}
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	m := pcommon.NewMap()
	require.NoError(t, flatten(m, json.RawMessage(deep)))
	assert.Equal(t, 1, m.Len())
	assert.Error(t, flatten(m, json.RawMessage(`"{"`)))
	assert.Error(t, flatten(m, json.RawMessage(`[]`)))
}

func mustJSON(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// What Node.js leaves out is counted, and a text that it cut says so.
func TestObjectsAsNodePrintsThem(t *testing.T) {
	in, err := os.ReadFile("testdata/inspect/odd.txt")
	require.NoError(t, err)
	docs, err := readAllDocs(t, append(in, in...))
	require.NoError(t, err)
	require.Len(t, docs, 2)
	rs := docs[0].Traces.ResourceSpans().At(0)
	assert.Equal(t, map[string]any{"service.name": "s", "process.command_args": []any{"a", "b"}}, rs.Resource().Attributes().AsRaw())
	span := rs.ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, "it's \"a\" `tool`", span.Name())
	a := span.Attributes().AsRaw()
	assert.Equal(t, strings.Repeat("x", 10000)+cutMark, a["long"])
	delete(a, "long")
	assert.Equal(t, map[string]any{
		"n": int64(0), "big": 1.2345678901234567e19, "nan": "NaN", "date": "1970-01-01T00:00:00.000Z", "esc": "a\n\t\u0001\U0001F600\\'",
		"multi": []any{"a b c d e f g h i j k l m n o p q r s t u v w x y z", "'a b c d e f g h i j k l m n o p q r s t u v w x y z"},
	}, a)
	assert.EqualValues(t, 4, span.DroppedAttributesCount(), "many, sym, fn and deep")
	assert.EqualValues(t, 5250, span.EndTimestamp()-span.StartTimestamp())
	event := span.Events().At(0)
	assert.Equal(t, map[string]any{"msg": "m"}, event.Attributes().AsRaw())
	assert.EqualValues(t, 1, event.DroppedAttributesCount())
	assert.EqualValues(t, 1772445600000000005, event.Timestamp())
	assert.Equal(t, "00f067aa0ba902b8", span.Links().At(0).SpanID().String())
}

func TestTextsAsNodePrintsThem(t *testing.T) {
	for in, want := range map[string]string{
		"{a: 'x' +\n 'y'}":                                      `{"a":"xy"}`,
		"{a: `it's \"x\"`, 'b-c': \"d\",}":                      `{"a":"it's \"x\"","b-c":"d"}`,
		`{a: 'ab'... 400 more characters}`:                      `{"a":"ab...[truncated]"}`,
		`{a: [ 1, 'x', ... 3 more items ]}`:                     `{"a":[1,"x"]}`,
		`{a: Foo { b: 1 }, c: <ref *1> {}}`:                     `{"a":{"b":1},"c":{}}`,
		`{[Symbol(x)]: 1, a: [Circular *1]}`:                    `{"[Symbol(x)]":1,"a":null}`,
		`{attributes: {a: [Object], b: 1}}`:                     `{"attributes":{"b":1},"cutAttributesCount":1}`,
		`{attributes: {a: 1, b: {c: [Array]}, attributes: {}}}`: `{"attributes":{"a":1,"attributes":{}},"cutAttributesCount":1}`,
		`{ ... 2 more items }`:                                  `{}`,
		`{a: -1.5e3, b: undefined, c: 10n}`:                     `{"a":-1.5e3,"b":null,"c":10}`,
	} {
		got, err := fromInspected([]byte(in))
		require.NoError(t, err, in)
		assert.JSONEq(t, want, string(got), in)
	}
	for _, in := range []string{`{`, `{a`, `{a:`, `{a: '`, `{a: 'x\`, `{a: '\x1`, `{a: '\uzzzz'}`, `{a: 1 b: 2}`, `{a: what}`, `{: 1}`, `{a: 1} x`, `{a: [Object`, `{a: 'x' + 1}`, `{a: <ref`, `{[a: 1}`, `{a: [1 2]}`, `{a: ]}`} {
		_, err := fromInspected([]byte(in))
		assert.Error(t, err, in)
	}
	deep := []byte(strings.Repeat("{a:", 20000))
	_, err := fromInspected(deep)
	assert.ErrorContains(t, err, "nested deeper")
}

func TestJaegerTagsKeepTheirTypes(t *testing.T) {
	docs, err := readAllDocs(t, []byte(`{"traceID":"ab","spans":[{"spanID":"1","parentSpanID":"2","tags":[
		{"key":"s","type":"string","value":"1"},{"key":"i","type":"int64","value":"9007199254740993"},{"key":"f","type":"float64","value":2},
		{"key":"b","type":"bool","value":"true"},{"key":"x","type":"binary","value":"AQI="},{"key":"n","type":"string","value":null},
		{"key":"error","type":"string","value":"boom"},{"key":"bare","value":1.5}],
		"references":[{"refType":"FOLLOWS_FROM","traceID":"cd","spanID":"3"}],
		"process":{"serviceName":"inline","tags":[]}}]}`))
	require.NoError(t, err)
	rs := docs[0].Traces.ResourceSpans().At(0)
	assert.Equal(t, map[string]any{"service.name": "inline"}, rs.Resource().Attributes().AsRaw())
	span := rs.ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, "000000000000000000000000000000ab", span.TraceID().String())
	assert.Equal(t, "0000000000000002", span.ParentSpanID().String())
	assert.Equal(t, "0000000000000003", span.Links().At(0).SpanID().String())
	assert.Equal(t, map[string]any{"s": "1", "i": int64(9007199254740993), "f": 2.0, "b": true, "x": []byte{1, 2}, "error": "boom", "bare": 1.5}, span.Attributes().AsRaw())
	assert.Equal(t, ptrace.StatusCodeUnset, span.Status().Code(), "a text is an attribute, not the mark of a failure")
}

func TestSpansOfTheJavaScriptSDK(t *testing.T) {
	docs, err := readAllDocs(t, []byte(`{"_spanContext":{"traceId":"`+traceHex+`","spanId":"`+spanHex+`"},"parentSpanId":"00f067aa0ba902b7","name":"x","kind":2,
		"startTime":[1772445600,1],"endTime":[1772445600,9],"attributes":{"a":"b"},"status":{"code":1},"resource":{"_attributes":{"service.name":"s"}}}
		{"traceId":"`+traceHex+`","spanId":"`+spanHex+`","name":"y","kind":"SERVER","startTime":"2026-03-02T10:00:00Z","status":{"code":2,"message":"bad"}}`))
	require.NoError(t, err)
	require.Len(t, docs, 2)
	span := docs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, ptrace.SpanKindClient, span.Kind())
	assert.Equal(t, ptrace.StatusCodeOk, span.Status().Code())
	assert.EqualValues(t, 8, span.EndTimestamp()-span.StartTimestamp())
	assert.Equal(t, "00f067aa0ba902b7", span.ParentSpanID().String())
	second := docs[1].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, "bad", second.Status().Message())
	assert.Equal(t, ptrace.SpanKindServer, second.Kind(), "kinds may be named")
	assert.Zero(t, second.EndTimestamp(), "an end that nobody wrote is not made up")
}

func TestSpansThatLangfuseReceived(t *testing.T) {
	for name, metadata := range map[string]string{
		"objects":        `{"attributes":{"gen_ai.tool.name":"x"},"resourceAttributes":{"service.name":"s"},"scope":{"name":"acme"}}`,
		"texts":          `{"attributes":"{\"gen_ai.tool.name\":\"x\"}","resourceAttributes":"{\"service.name\":\"s\"}","scope":"{\"name\":\"acme\"}"}`,
		"one whole text": mustJSON(t, `{"attributes":{"gen_ai.tool.name":"x"},"resourceAttributes":{"service.name":"s"},"scope":{"name":"acme"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := readAllDocs(t, []byte(`{"id":"a","traceId":"b","startTime":"2026-03-02T10:00:00Z","statusMessage":null,"type":"TOOL","metadata":`+metadata+`}`))
			require.NoError(t, err)
			rs := docs[0].Traces.ResourceSpans().At(0)
			assert.Equal(t, map[string]any{"service.name": "s"}, rs.Resource().Attributes().AsRaw())
			assert.Equal(t, "acme", rs.ScopeSpans().At(0).Scope().Name())
			assert.Equal(t, map[string]any{
				"gen_ai.tool.name": "x", "langfuse.observation.type": "tool", "langfuse.observation.id": "a", "langfuse.trace.id": "b",
			}, rs.ScopeSpans().At(0).Spans().At(0).Attributes().AsRaw())
		})
	}
	for _, own := range []string{`{"attributes":"mine"}`, `{"attributes":[1]}`, `"text"`, `7`, `{"attributes":{},"scope":{"name":5}}`, `{"attributes":{},"resourceAttributes":"x"}`} {
		docs, err := readAllDocs(t, []byte(`{"id":"a","trace_id":"b","start_time":"2026-03-02T10:00:00Z","status_message":null,"metadata":`+own+`}`))
		require.NoError(t, err, own)
		kept, ok := docs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Get("langfuse.observation.metadata")
		assert.True(t, ok && kept.Str() != "", own)
	}
}

// FuzzForeign: a document of any format is read or refused with a place, and
// what was read survives as OTLP.
func FuzzForeign(f *testing.F) {
	entries, err := os.ReadDir("testdata/foreign")
	require.NoError(f, err)
	for _, e := range entries {
		in, err := os.ReadFile("testdata/foreign/" + e.Name())
		require.NoError(f, err)
		f.Add(in)
		if i := bytes.IndexByte(in, '\n'); i > 0 {
			f.Add(in[:i])
		}
	}
	odd, err := os.ReadFile("testdata/inspect/odd.txt")
	require.NoError(f, err)
	f.Add(odd)
	f.Fuzz(fuzzReader)
}
