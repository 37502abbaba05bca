package scrub_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/walk"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

func encodeTraces(t testing.TB, td ptrace.Traces) []byte {
	out, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return out
}

func TestNoCanarySurvivesInAnyField(t *testing.T) {
	s := scrub.New(redact.Default())

	td, planted := walktest.Traces()
	before := encodeTraces(t, td)
	assert.Len(t, walktest.Leaks(before, planted), len(planted), "all are there before")
	stats := s.Traces(td)
	assert.Empty(t, walktest.Leaks(encodeTraces(t, td), planted))
	assert.GreaterOrEqual(t, stats.Values, len(planted))

	ld, planted := walktest.Logs()
	s.Logs(ld)
	out, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	assert.Empty(t, walktest.Leaks(out, planted))
}

func TestScrubbingTwiceChangesNothing(t *testing.T) {
	s := scrub.New(redact.Default())
	td, _ := walktest.Traces()
	s.Traces(td)
	once := encodeTraces(t, td)
	stats := s.Traces(td)
	assert.Equal(t, once, encodeTraces(t, td))
	assert.Zero(t, stats)
}

func span() (ptrace.Traces, ptrace.Span) {
	td := ptrace.NewTraces()
	return td, td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
}

func redacted(m pcommon.Map) []any {
	v, ok := m.Get(attr.Redacted)
	if !ok {
		return nil
	}
	return v.Slice().AsRaw()
}

func TestTypesStayAndPathsAreNoted(t *testing.T) {
	td, s := span()
	s.SetName("login password=hunter2")
	s.Status().SetMessage("host=db token=abc")
	a := s.Attributes()
	a.PutStr("gen_ai.tool.call.arguments", `{"password":"x","n":1}`)
	a.PutInt("pin.password", 1234)
	a.PutDouble("otp", 1.5)
	a.PutBool("secret", true)
	a.PutEmptyBytes("cookie").FromRaw([]byte("a=b"))
	creds := a.PutEmptyMap("credentials")
	creds.PutStr("user", "bob")
	creds.PutEmpty("none")
	creds.PutEmptySlice("list").AppendEmpty().SetInt(7)
	a.PutInt("card", 4111111111111111)
	a.PutStr("plain", "stays")
	e := s.Events().AppendEmpty()
	e.SetName("exception")
	e.Attributes().PutStr("exception.message", "bad api_key=q")

	stats := scrub.New(redact.Default()).Traces(td)

	assert.Equal(t, "login password=[REDACTED:password]", s.Name())
	assert.Equal(t, "host=db token=[REDACTED:token]", s.Status().Message())
	got := a.AsRaw()
	delete(got, attr.Redacted)
	assert.Equal(t, map[string]any{
		"gen_ai.tool.call.arguments": `{"password":"[REDACTED:password]","n":1}`,
		"pin.password":               int64(0),
		"otp":                        0.0,
		"secret":                     false,
		"cookie":                     []byte("[REDACTED:cookie]"),
		"credentials":                map[string]any{"user": "[REDACTED:credential]", "none": nil, "list": []any{int64(0)}},
		"card":                       int64(0),
		"plain":                      "stays",
	}, got)
	assert.Equal(t, []any{
		"attributes.card", "attributes.cookie", "attributes.credentials.list[0]", "attributes.credentials.user",
		"attributes.gen_ai.tool.call.arguments.password", "attributes.otp", "attributes.pin.password", "attributes.secret",
		"events[0].attributes.exception.message", "name", "status.message",
	}, redacted(a))
	assert.Equal(t, 11, stats.Values)
	assert.Equal(t, 2, stats.Types["credential"])
}

// What is remembered of a value or a name holds where nothing is said above it.
func TestWhatIsKnownToHoldNothingIsSecretUnderASecretName(t *testing.T) {
	scrubber := scrub.New(redact.Default())
	for range 2 {
		td, s := span()
		a := s.Attributes()
		a.PutStr("user", "bob")
		a.PutStr("note", "hunter2")
		a.PutEmptyMap("credentials").PutStr("user", "bob")
		a.PutStr("password", "hunter2")
		scrubber.Traces(td)
		got := a.AsRaw()
		delete(got, attr.Redacted)
		assert.Equal(t, map[string]any{
			"user": "bob", "note": "hunter2", "password": "[REDACTED:password]",
			"credentials": map[string]any{"user": "[REDACTED:credential]"},
		}, got)
	}
}

// A collector copies pdata for several consumers; what one does must not be seen
// by the others.
func TestTheBytesOfACopyStayAsTheyAre(t *testing.T) {
	td, s := span()
	s.Attributes().PutEmptyBytes("b").FromRaw([]byte("mail bob@example.com"))
	other := ptrace.NewTraces()
	td.CopyTo(other)
	before := encodeTraces(t, other)
	scrub.New(redact.Default()).Traces(td)
	assert.Equal(t, before, encodeTraces(t, other))
}

func TestPathsAreBoundedAndMerged(t *testing.T) {
	td, s := span()
	list := s.Attributes().PutEmptySlice("mail")
	for range 100 {
		list.AppendEmpty().SetStr("bob@example.com")
	}
	scrubber := scrub.New(redact.Default())
	scrubber.Traces(td)
	paths := redacted(s.Attributes())
	require.Len(t, paths, 65)
	assert.Equal(t, "…+36", paths[64])

	s.Attributes().PutStr("a.late", "amy@example.com")
	scrubber.Traces(td)
	paths = redacted(s.Attributes())
	require.Len(t, paths, 65)
	assert.Equal(t, "attributes.a.late", paths[0])
	assert.Equal(t, "…+37", paths[64])
}

func TestASecretInANameLeavesNoTraceOfIt(t *testing.T) {
	td, s := span()
	m := s.Attributes().PutEmptyMap("by_user")
	m.PutInt("bob@example.com", 1)
	m.PutInt("amy@example.com", 2)
	scrub.New(redact.Default()).Traces(td)
	assert.Equal(t, map[string]any{"[REDACTED:email]#2": int64(1), "[REDACTED:email]": int64(2)}, m.AsRaw())
	assert.NotContains(t, string(encodeTraces(t, td)), "example.com")
}

// The same content gives the same text, whether it came as JSON text or as maps
// and arrays: else its key would depend on how an instrumentation wrote it.
func TestPairsAndSchemasAsInJSON(t *testing.T) {
	td, s := span()
	raw := map[string]any{
		"headers": []any{
			map[string]any{"name": "Authorization", "value": "x"},
			map[string]any{"value": "y", "name": "Accept"},
		},
		"tools": map[string]any{"properties": map[string]any{"password": map[string]any{"type": "string", "default": "x"}}},
	}
	require.NoError(t, s.Attributes().PutEmptyMap("args").FromRaw(raw))
	scrub.New(redact.Default()).Traces(td)
	v, _ := s.Attributes().Get("args")
	assert.Equal(t, map[string]any{
		"headers": []any{
			map[string]any{"name": "Authorization", "value": "[REDACTED:authorization]"},
			map[string]any{"value": "y", "name": "Accept"},
		},
		"tools": map[string]any{"properties": map[string]any{"password": map[string]any{"type": "string", "default": "[REDACTED:password]"}}},
	}, v.Map().AsRaw())
}

func TestTheValueBehindAFlagIsSecretAsTheFlagSays(t *testing.T) {
	td, _ := span()
	args := td.ResourceSpans().At(0).Resource().Attributes().PutEmptySlice("process.command_args")
	require.NoError(t, args.FromRaw([]any{"agent", "--api-key", "0a1b", "--verbose", "--password=x", "--token", []any{"a"}, "b"}))
	scrub.New(redact.Default()).Traces(td)
	assert.Equal(t, []any{
		"agent", "--api-key", "[REDACTED:api_key]", "--verbose", "--password=[REDACTED:password]", "--token", []any{"[REDACTED:token]"}, "b",
	}, args.AsRaw())
}

func TestMetadataIsNotDamaged(t *testing.T) {
	td, s := span()
	a := s.Attributes()
	want := map[string]any{
		"gen_ai.usage.input_tokens": int64(4111111), "gen_ai.usage.output_tokens": int64(5), "llm.token_count.prompt": int64(7),
		"llm.token_count.completion_details.reasoning": int64(7), "gen_ai.request.max_tokens": int64(100), "gen_ai.token.type": "input",
		"gen_ai.tool.call.id": "4111111111111111", "gen_ai.response.id": "chatcmpl-9J8kq2mV7n1pQ9rT5sW0uYzAb",
		"message.tool_calls.0.tool_call.id": "toolu_01A09q90qw90lq917835lq9", "langgraph.tool_call_id": "4111111111111111",
		"session.id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "tape.key": "search:0123456789ab", "trace_id": "0af7651916cd43dd8448eb211c80319c",
		"some.id": int64(4111111111111111), "time_unix_nano": int64(1756555200000000000), "ratio": 0.4539578763621486,
		"gen_ai.tool.name": "get_token", "authorization.decision": "allow", "http.url": "https://a.test/x?page_token=abc",
	}
	require.NoError(t, a.FromRaw(want))
	stats := scrub.New(redact.Default()).Traces(td)
	assert.Equal(t, want, a.AsRaw())
	assert.Zero(t, stats)
}

func TestWhatIsNestedTooDeepIsBlocked(t *testing.T) {
	td, s := span()
	v := s.Attributes().PutEmpty("deep")
	for range 2 * walk.MaxDepth {
		v = v.SetEmptySlice().AppendEmpty()
	}
	v.SetStr("bob@example.com")
	scrub.New(redact.Default()).Traces(td)
	out := string(encodeTraces(t, td))
	assert.NotContains(t, out, "example.com")
	assert.Contains(t, out, "[REDACTED:error]")
}

func TestInvalidUTF8Survives(t *testing.T) {
	td, s := span()
	s.Attributes().PutStr("a", "\xff\xfe bob@example.com \xc3")
	s.Attributes().PutStr("b", "\xff\xfe")
	scrub.New(redact.Default()).Traces(td)
	a, _ := s.Attributes().Get("a")
	b, _ := s.Attributes().Get("b")
	assert.Equal(t, "\xff\xfe [REDACTED:email] \xc3", a.Str())
	assert.Equal(t, "\xff\xfe", b.Str())
}

func TestAddedCredentialsOfAnAPIToolAreMasked(t *testing.T) {
	td, s := span()
	s.Attributes().PutStr("gcp.vertex.agent.tool_call_args", `{"q":"x","_auth_prefix_vaf_X-API-Key":"0a1b2c"}`)
	s.Attributes().PutStr("metadata.previous_models", `[{'model': 'gpt', 'litellm_params': {'api_key': 'x', 'timeout': 3}}]`)
	scrub.New(redact.Default()).Traces(td)
	v, _ := s.Attributes().Get("gcp.vertex.agent.tool_call_args")
	assert.JSONEq(t, `{"q":"x","_auth_prefix_vaf_X-API-Key":"[REDACTED:api_key]"}`, v.Str())
	v, _ = s.Attributes().Get("metadata.previous_models")
	assert.Equal(t, `[{'model': 'gpt', 'litellm_params': {'api_key': '[REDACTED:api_key]', 'timeout': 3}}]`, v.Str())
}

func TestAScrubberServesManyAtOnce(t *testing.T) {
	s := scrub.New(redact.Default())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				td, planted := walktest.Traces()
				s.Traces(td)
				assert.Empty(t, walktest.Leaks(encodeTraces(t, td), planted))
			}
		})
	}
	wg.Wait()
}

// Real exports must come through with nothing replaced that is no secret: their
// values are invented or public, so each hit here is one to look at.
func TestSamplesOfInstrumentationsStayAsTheyAre(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
		require.NoError(t, err, f)
		before := encodeTraces(t, td)
		stats := scrub.New(redact.Default()).Traces(td)
		assert.Zero(t, stats, f)
		assert.True(t, string(before) == string(encodeTraces(t, td)), f)
	}
}

func BenchmarkTraces(b *testing.B) {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	size := 0
	for range 100 {
		s := ss.Spans().AppendEmpty()
		s.SetName("chat gpt")
		a := s.Attributes()
		a.PutStr("gen_ai.operation.name", "chat")
		a.PutInt("gen_ai.usage.input_tokens", 1234)
		a.PutStr("gen_ai.input.messages", `[`+strings.Repeat(`{"role":"user","parts":[{"type":"text","content":"What is the weather in Zürich, and why?"}]},`, 40)+`{}]`)
		a.PutStr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"It rains."}]}]`)
	}
	size = len(encodeTraces(b, td))
	s := scrub.New(redact.Default())
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		s.Traces(td)
	}
}
