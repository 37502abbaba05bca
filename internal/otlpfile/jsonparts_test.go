package otlpfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// flat are the spans of documents, each marshalled with its resource and scope.
func flat(t testing.TB, docs []*Document) (out []string) {
	for _, d := range docs {
		for _, rs := range d.Traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					td := ptrace.NewTraces()
					one := td.ResourceSpans().AppendEmpty()
					rs.Resource().CopyTo(one.Resource())
					scoped := one.ScopeSpans().AppendEmpty()
					ss.Scope().CopyTo(scoped.Scope())
					span.CopyTo(scoped.Spans().AppendEmpty())
					b, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
					require.NoError(t, err)
					out = append(out, string(b))
				}
			}
		}
	}
	return out
}

// request is a document of resources, scopes and spans, so many of each in the
// one before.
func request(resources, scopes, spans int) string {
	var b strings.Builder
	n := 0
	list := func(count int, one func(i int)) {
		b.WriteByte('[')
		for i := range count {
			if i > 0 {
				b.WriteString(", ")
			}
			one(i)
		}
		b.WriteByte(']')
	}
	b.WriteString(`{"x":{"spans":[{"a":1}]},"resourceSpans":`)
	list(resources, func(i int) {
		fmt.Fprintf(&b, `{"resource":{"attributes":[{"key":"r","value":{"stringValue":"%d \"}]"}}]},%s"scopeSpans":`, i, "\n ")
		list(scopes, func(j int) {
			fmt.Fprintf(&b, `{"scope":{"name":"s%d"},"spans":`, j)
			list(spans, func(int) {
				n++
				fmt.Fprintf(&b, "\n"+`{"traceId":"%s","spanId":"%016x","name":"{[","events":[{"name":"e"}]}`, traceHex, n)
			})
			b.WriteString(`,"schemaUrl":"u"}`)
		})
		b.WriteByte('}')
	})
	b.WriteString(`}`)
	return b.String()
}

func TestALargeDocumentIsGivenInParts(t *testing.T) {
	real, err := os.ReadFile("testdata/any-agent/otlp.jsonl")
	require.NoError(t, err)
	for name, doc := range map[string]string{
		"one list": request(1, 1, 5), "many lists": request(3, 2, 2), "empty lists": request(2, 2, 0),
		"two documents": request(2, 1, 2) + "\n" + request(1, 1, 1), "in an array": "[" + request(1, 1, 3) + "," + request(1, 1, 2) + "]",
		"with logs": strings.TrimSuffix(logDoc, "}") + "," + strings.TrimPrefix(request(1, 2, 2), "{"),
		"real":      string(real),
	} {
		t.Run(name, func(t *testing.T) {
			pretty := bytes.Buffer{}
			for _, text := range []string{doc, ""} {
				if text == "" && json.Indent(&pretty, []byte(doc), "", "  ") == nil {
					text = pretty.String()
				}
				whole, err := readAllDocs(t, []byte(text), WithPartSize(1<<30))
				parts, partsErr := readAllDocs(t, []byte(text), WithPartSize(1))
				assert.Equal(t, err == nil, partsErr == nil)
				assert.Equal(t, flat(t, whole), flat(t, parts))
				documents, logs := 0, 0
				for _, d := range parts {
					assert.LessOrEqual(t, d.Traces.SpanCount(), 1)
					logs += d.Logs.LogRecordCount()
					if !d.Part {
						documents++
					}
				}
				assert.Equal(t, len(whole), documents)
				for _, d := range whole {
					logs -= d.Logs.LogRecordCount()
				}
				assert.Zero(t, logs)
			}
		})
	}
}

// What may still come behind the spans is waited for.
func TestADocumentIsNotCutBeforeItsResource(t *testing.T) {
	for _, doc := range []string{
		`{"resourceSpans":[{"scopeSpans":[{"scope":{},"spans":[` + one1 + `,` + one1 + `]}],"resource":{"attributes":[{"key":"r","value":{"intValue":1}}]}}]}`,
		`{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[` + one1 + `,` + one1 + `],"scope":{"name":"s"}}]}]}`,
	} {
		docs, err := readAllDocs(t, []byte(doc), WithPartSize(1))
		require.NoError(t, err)
		require.Len(t, docs, 1)
		assert.Equal(t, 2, docs[0].Traces.SpanCount())
	}
}

const one1 = `{"traceId":"` + traceHex + `","spanId":"` + spanHex + `"}`

// A fault has the same place whether a document is given in parts or not.
func TestAFaultInAPartHasItsPlaceInTheWhole(t *testing.T) {
	good := request(3, 2, 3)
	ids := make([]string, 0, 18)
	for i := range 18 {
		ids = append(ids, fmt.Sprintf("%016x", i+1))
	}
	for _, id := range ids {
		bad := strings.Replace(good, id, "xyz", 1)
		_, want := readAllDocs(t, []byte(bad), WithPartSize(1<<30))
		_, got := readAllDocs(t, []byte(bad), WithPartSize(1))
		require.Error(t, want)
		assert.EqualError(t, got, want.Error())
	}
	for _, bad := range []string{
		strings.Replace(good, "}, \n", "}, , \n", 1), strings.Replace(good, "}, \n", "} \n", 1), strings.Replace(good, `],"schemaUrl"`, `,],"schemaUrl"`, 1),
		good[:len(good)/2], good[:len(good)-1], good[:strings.LastIndex(good, "}],")], good + "}",
	} {
		_, err := readAllDocs(t, []byte(bad), WithPartSize(1))
		assert.Error(t, err, bad)
	}
}

// One line of any length is read in the memory that a part needs.
func TestMemoryIsBoundedByThePart(t *testing.T) {
	const spans = 600
	filler := strings.Repeat("x", 100<<10)
	src, out := io.Pipe()
	total := 0
	go func() {
		write := func(s string) {
			n, _ := io.WriteString(out, s)
			total += n
		}
		write(`{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[`)
		for i := range spans {
			if i > 0 {
				write(",")
			}
			write(fmt.Sprintf(`{"traceId":"%s","spanId":"%016x","attributes":[{"key":"k","value":{"stringValue":"%s"}}]}`, traceHex, i+1, filler))
		}
		write("]}]}]}")
		_ = out.Close()
	}()
	r := NewReader("in", src)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak, seen := uint64(0), 0
	for {
		d, err := r.Next()
		if err != nil {
			break
		}
		seen += d.Traces.SpanCount()
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc)
	}
	assert.Equal(t, spans, seen)
	grown := peak - min(peak, before.HeapAlloc)
	assert.Less(t, grown, uint64(total)*3/4, "of %d bytes", total)
	t.Logf("%d MB of text in at most %d MB", total>>20, grown>>20)
}

// FuzzParts: an input given in parts holds the spans that it holds as a whole.
func FuzzParts(f *testing.F) {
	f.Add([]byte(request(2, 2, 2)))
	f.Add([]byte(span("") + logDoc))
	f.Add([]byte(`{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[` + one1 + `,` + one1 + `]}]}],"resourceLogs":[]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAllDocs(t, in, WithPartSize(1<<30))
		parts, partsErr := readAllDocs(t, in, WithPartSize(1))
		if err != nil || partsErr != nil {
			// The spans before a fault may be there; it must not be passed over.
			require.Equal(t, err == nil, partsErr == nil, "%v, %v", err, partsErr)
			return
		}
		require.Equal(t, flat(t, whole), flat(t, parts))
	})
}
