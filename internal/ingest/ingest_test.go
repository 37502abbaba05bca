package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/ingest"
	"github.com/tapedeck/tapedeck/tape"
)

func bytesOf(t testing.TB, td ptrace.Traces) []byte {
	t.Helper()
	out, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return out
}

func ids(td ptrace.Traces) (out []string) {
	for _, s := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		out = append(out, s.TraceID().String()+"/"+s.SpanID().String())
	}
	return out
}

func rootOf(t testing.TB, td ptrace.Traces) ptrace.Span {
	t.Helper()
	for _, s := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		if s.ParentSpanID().IsEmpty() {
			return s
		}
	}
	require.Fail(t, "no root")
	return ptrace.NewSpan()
}

const plainLine = `{"seq":%d,"tool":"t","args":{"n":%d},"result":1,"ms":2,"side_effect":null,"clock":null%s}`

func TestTheSameTapeGivesTheSameIDs(t *testing.T) {
	lines := []string{fmt.Sprintf(plainLine, 1, 1, ""), fmt.Sprintf(plainLine, 2, 1, ""), fmt.Sprintf(plainLine, 3, 2, "")}
	first := ingest.Traces(read(t, lines...), ingest.Options{Now: now})
	later := ingest.Traces(read(t, lines...), ingest.Options{Now: now.Add(time.Hour)})
	assert.Equal(t, ids(first[0].Traces), ids(later[0].Traces))
	assert.Len(t, ids(first[0].Traces), 4)
	assert.NotContains(t, ids(first[0].Traces), strings.Repeat("0", 32)+"/"+strings.Repeat("0", 16))
	other := ingest.Traces(read(t, lines[:2]...), ingest.Options{Now: now})
	assert.NotEqual(t, first[0].TraceID, other[0].TraceID, "another tape is another run")
	again := ingest.Traces(read(t, lines...), ingest.Options{Now: now})
	assert.Equal(t, bytesOf(t, first[0].Traces), bytesOf(t, again[0].Traces))
}

func TestRunIDs(t *testing.T) {
	const hexID = "0AF7651916CD43DD8448EB211C80319C"
	for name, test := range map[string]struct {
		lines []string
		want  int
		first string
	}{
		"an id of OpenTelemetry in any case":         {[]string{fmt.Sprintf(plainLine, 1, 1, `,"run_id":"`+hexID+`"`)}, 1, strings.ToLower(hexID)},
		"any text":                                   {[]string{fmt.Sprintf(plainLine, 1, 1, `,"run_id":"monday"`)}, 1, "acc8965bb1c32ea4f24c5658e863ab83"},
		"that of the manifest":                       {[]string{`{"tape":"1","trace_id":"` + hexID + `"}`, fmt.Sprintf(plainLine, 1, 1, "")}, 1, strings.ToLower(hexID)},
		"records without one belong to the only one": {[]string{fmt.Sprintf(plainLine, 1, 1, `,"run_id":"`+hexID+`"`), fmt.Sprintf(plainLine, 2, 1, "")}, 1, strings.ToLower(hexID)},
		"several runs in one file":                   {[]string{fmt.Sprintf(plainLine, 1, 1, `,"run_id":"`+hexID+`"`), fmt.Sprintf(plainLine, 2, 1, `,"run_id":"b"`), fmt.Sprintf(plainLine, 3, 1, `,"run_id":"`+hexID+`"`)}, 2, strings.ToLower(hexID)},
		"no run":                                     {[]string{`{"tape":"1","trace_id":"` + hexID + `"}`}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			runs := ingest.Traces(read(t, test.lines...), ingest.Options{Now: now})
			require.Len(t, runs, test.want)
			if test.want > 0 {
				assert.Equal(t, test.first, runs[0].TraceID)
			}
			if name == "any text" {
				again := ingest.Traces(read(t, test.lines...), ingest.Options{Now: now})
				assert.Equal(t, runs[0].TraceID, again[0].TraceID)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	spans := func(lines ...string) []ptrace.Span {
		runs := ingest.Traces(read(t, lines...), ingest.Options{Now: now})
		var out []ptrace.Span
		for _, s := range runs[0].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
			out = append(out, s)
		}
		return out
	}
	start := "2026-01-02T03:04:05Z"
	at, err := time.Parse(time.RFC3339, start)
	require.NoError(t, err)

	got := spans(fmt.Sprintf(plainLine, 1, 1, ""), fmt.Sprintf(plainLine, 2, 1, `,"start":"`+start+`"`), fmt.Sprintf(plainLine, 3, 1, ""))
	assert.Equal(t, at.Add(-2*time.Millisecond), got[0].StartTimestamp().AsTime(), "what comes before the first known start ends there")
	assert.Equal(t, at, got[1].StartTimestamp().AsTime())
	assert.Equal(t, at.Add(2*time.Millisecond), got[2].StartTimestamp().AsTime(), "what comes after follows")

	got = spans(`{"tape":"1","started":"`+start+`"}`, fmt.Sprintf(plainLine, 1, 1, ""))
	assert.Equal(t, at, got[0].StartTimestamp().AsTime())

	for _, bad := range []string{"yesterday", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z"} {
		got = spans(fmt.Sprintf(plainLine, 1, 1, `,"start":"`+bad+`"`))
		assert.Equal(t, now, got[0].EndTimestamp().AsTime(), bad)
	}
	got = spans(`{"seq":1,"tool":"t","args":1,"result":1,"ms":-5}`, `{"seq":2,"tool":"t","args":1,"result":1,"ms":1e300}`)
	for _, s := range got {
		assert.LessOrEqual(t, s.StartTimestamp(), s.EndTimestamp())
	}
}

// A parent that is on no tape is made, so that no tracing backend shows orphans.
func TestTheTreeIsWhole(t *testing.T) {
	td := ingest.Traces(read(t,
		fmt.Sprintf(plainLine, 1, 1, `,"step_id":"0000000000000005","parent_id":"0000000000000003"`),
		fmt.Sprintf(plainLine, 2, 1, `,"step_id":"0000000000000006","parent_id":"0000000000000005"`),
		fmt.Sprintf(plainLine, 3, 1, `,"step_id":"0000000000000007","parent_id":"0000000000000004"`),
		fmt.Sprintf(plainLine, 4, 1, `,"step_id":"0000000000000007","parent_id":"not hex"`),
	), ingest.Options{Now: now})[0].Traces
	byID := map[pcommon.SpanID]ptrace.Span{}
	for _, s := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		assert.NotContains(t, byID, s.SpanID(), "ids are unique")
		byID[s.SpanID()] = s
	}
	require.Len(t, byID, 7, "four records, two parents and the root")
	root := rootOf(t, td)
	for id, s := range byID {
		if id == root.SpanID() {
			continue
		}
		parent, ok := byID[s.ParentSpanID()]
		if assert.True(t, ok, "parent of %s", id) && s.Name() == "execute_tool t" {
			assert.True(t, parent.StartTimestamp() <= s.StartTimestamp() && parent.EndTimestamp() >= s.EndTimestamp() || parent.Name() == "execute_tool t")
		}
	}

	one := ingest.Traces(read(t, fmt.Sprintf(plainLine, 1, 1, `,"parent_id":"0000000000000003"`)), ingest.Options{Now: now})[0].Traces
	assert.Equal(t, "0000000000000003", rootOf(t, one).SpanID().String(), "the one parent that all have in common is the root")
}

func TestARunThatNeverEndedHasNoRoot(t *testing.T) {
	td := ingest.Traces(read(t, `{"tape":"1","outcome":"incomplete"}`,
		fmt.Sprintf(plainLine, 1, 1, ""),
		`{"seq":2,"tool":"now","args":null,"result":"2026-01-02T03:04:06Z","ms":0,"kind":"clock"}`,
		`{"seq":3,"tool":"bytes","args":null,"result":"AA==","ms":0,"kind":"random"}`,
	), ingest.Options{Now: now})[0].Traces
	events := 0
	for _, s := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		assert.False(t, s.ParentSpanID().IsEmpty())
		events += s.Events().Len()
	}
	assert.Equal(t, 2, events)
	out := dialect.Translate(td, dialect.Options{})
	require.Len(t, out, 1)
	assert.Len(t, out[0].Records, 3)
}

func TestWhatIsHeldByReferenceIsAGap(t *testing.T) {
	runs := ingest.Traces(read(t,
		`{"seq":1,"tool":"t","args":{},"body":{"sha256":"`+strings.Repeat("ab", 32)+`","bytes":7},"ms":1}`), ingest.Options{Now: now})
	assert.Equal(t, 1, runs[0].ByReference)
	out := dialect.Translate(runs[0].Traces, dialect.Options{})
	require.Len(t, out[0].Manifest.Gaps, 1)
	assert.Equal(t, "result", out[0].Manifest.Gaps[0].What)
	assert.False(t, out[0].Manifest.Complete)
}

// Providers' own forms come back in the neutral one.
func TestModelCallsInTheFormOfAProvider(t *testing.T) {
	out, _ := again(t, read(t,
		`{"seq":1,"kind":"model","tool":"","model":"m","args":{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5},"result":{"model":"m-2","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"yo"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}},"ms":1}`,
		`{"seq":2,"kind":"model","tool":"embeddings","args":{"input":["a"]},"result":{"output":[[0.5]]},"ms":1}`,
		`{"seq":3,"kind":"model","tool":"rerank","args":"plain","result":["x"],"ms":1}`,
		`{"seq":4,"kind":"model","tool":"chat","args":[{"role":"user","content":"hi"}],"result":{"role":"assistant","content":"yo","stop_reason":"end"},"ms":1}`,
		`{"seq":5,"kind":"model","tool":"chat","args":{"messages":[]},"result":null,"ms":1,"error":"overloaded"}`,
	))
	require.Len(t, out.Records, 5)
	for i, want := range []string{
		`{"messages":[{"role":"user","parts":[{"type":"text","content":"hi"}]}],"params":{"temperature":0.5}} {"message":{"role":"assistant","parts":[{"type":"text","content":"yo"}]},"finish_reason":"stop","model":"m-2","usage":{"input_tokens":1,"output_tokens":2}}`,
		`{"input":["a"]} {"output":[[0.5]]}`,
		`{"input":"plain"} {"output":["x"]}`,
		`{"messages":[{"role":"user","parts":[{"type":"text","content":"hi"}]}]} {"message":{"role":"assistant","parts":[{"type":"text","content":"yo"}],"finish_reason":"end"},"finish_reason":"end"}`,
		`null `,
	} {
		r := out.Records[i]
		assert.Equal(t, want, string(r.Args)+" "+string(r.Result), "record %d", i)
		assert.Equal(t, tape.KindModel, r.Kind)
	}
	assert.Equal(t, "rerank", out.Records[2].Tool)
	require.NotNil(t, out.Records[4].Error)
	assert.Equal(t, "overloaded", out.Records[4].Error.Message)
}

// In a hostile tape each level of a value is taken apart once.
func TestDeepValuesCostWhatTheyAre(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 400) + `"` + strings.Repeat("x", 100<<10) + `"` + strings.Repeat("}", 400)
	runs := ingest.Traces(read(t, `{"seq":1,"kind":"model","tool":"chat","args":{"params":{"p":`+deep+`}},"result":1,"ms":1}`), ingest.Options{Now: now})
	assert.Less(t, (&ptrace.ProtoMarshaler{}).TracesSize(runs[0].Traces), 200<<10)
}

func FuzzTraces(f *testing.F) {
	f.Add(`{"tape":"1","outcome":"failed","failure":{"reason":"x"}}` + "\n" + fmt.Sprintf(plainLine, 1, 1, `,"error":{"message":"a\nb"}`))
	f.Add(`{"seq":1,"kind":"model","args":{"messages":[{}],"params":{"a":[1,{"b":null}]}},"result":{"choices":[{"message":1}]}}`)
	f.Add(`{"seq":1,"kind":"clock","result":"x","parent_id":"0000000000000001","step_id":"0000000000000001"}` + "\n" + `{"kind":"random","result":{"a":1e999}}`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := tape.ReadAll(strings.NewReader(text), tape.MaxRecords(1000))
		if err != nil {
			return
		}
		total := 0
		for _, run := range ingest.Traces(in, ingest.Options{Now: now}) {
			total += run.Records
			seen := map[pcommon.SpanID]bool{}
			for _, s := range run.Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
				if s.SpanID().IsEmpty() || s.TraceID().IsEmpty() || seen[s.SpanID()] || s.EndTimestamp() < s.StartTimestamp() {
					t.Fatalf("span %s of %s from %v to %v", s.SpanID(), s.TraceID(), s.StartTimestamp(), s.EndTimestamp())
				}
				seen[s.SpanID()] = true
			}
			dialect.Translate(run.Traces, dialect.Options{})
		}
		if total != len(in.Records) {
			t.Fatalf("%d records of %d", total, len(in.Records))
		}
	})
}
