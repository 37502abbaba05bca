package cut_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/cut"
)

var sizer ptrace.ProtoMarshaler

// trace has resources and scopes with texts of the given lengths, and spans below
// each scope.
func trace(resources, scopes, spans, resourceText, scopeText, spanText int) ptrace.Traces {
	td := ptrace.NewTraces()
	for r := range resources {
		rs := td.ResourceSpans().AppendEmpty()
		rs.SetSchemaUrl("schema of resource")
		rs.Resource().Attributes().PutStr("resource", fmt.Sprint(r, strings.Repeat("r", resourceText)))
		for s := range scopes {
			ss := rs.ScopeSpans().AppendEmpty()
			ss.SetSchemaUrl("schema of scope")
			ss.Scope().SetName(fmt.Sprint(s, strings.Repeat("s", scopeText)))
			for i := range spans {
				span := ss.Spans().AppendEmpty()
				span.SetTraceID(pcommon.TraceID{0: 1, 15: byte(i)})
				span.SetName(fmt.Sprint(r, s, i, strings.Repeat("n", spanText)))
			}
		}
	}
	return td
}

// inPlace lists each span with what stands above it.
func inPlace(parts ...ptrace.Traces) (out []string) {
	for _, td := range parts {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					name, _ := rs.Resource().Attributes().Get("resource")
					out = append(out, strings.Join([]string{
						rs.SchemaUrl(), name.Str(), ss.SchemaUrl(), ss.Scope().Name(), span.Name(),
					}, "|"))
				}
			}
		}
	}
	return out
}

func TestRequests(t *testing.T) {
	for name, test := range map[string]struct {
		td    ptrace.Traces
		limit int
		// most parts, most bytes in a part
		parts, bytes int
	}{
		"fits":                {trace(2, 2, 5, 10, 10, 10), 1 << 20, 1, 1 << 20},
		"no limit":            {trace(2, 2, 5, 10, 10, 10), 0, 1, 1 << 20},
		"many spans":          {trace(1, 1, 200, 10, 10, 50), 2000, 12, 2000},
		"many resources":      {trace(50, 1, 3, 100, 10, 50), 2000, 30, 2000},
		"many scopes":         {trace(1, 50, 3, 100, 100, 50), 2000, 20, 2000},
		"a span over it":      {trace(1, 1, 3, 10, 10, 5000), 2000, 3, 5200},
		"resource over it":    {trace(1, 1, 1000, 100_000, 10, 20), 2000, 2, 200_300},
		"and many scopes":     {trace(1, 1000, 1, 100_000, 10, 20), 2000, 2, 200_300},
		"scope over it":       {trace(1, 1, 1000, 10, 100_000, 20), 2000, 2, 200_300},
		"resource half of it": {trace(1, 1, 1000, 1100, 10, 20), 2000, 60, 2400},
	} {
		t.Run(name, func(t *testing.T) {
			want, before := inPlace(test.td), sizer.TracesSize(test.td)
			parts := cut.Requests(test.td, test.limit, nil)
			assert.Equal(t, want, inPlace(parts...), "every span, in order, where it stood")
			assert.LessOrEqual(t, len(parts), test.parts)
			total := 0
			for _, part := range parts {
				n := sizer.TracesSize(part)
				assert.LessOrEqual(t, n, test.bytes)
				total += n
			}
			assert.LessOrEqual(t, total, 3*before+test.bytes, "cutting does not make much out of little")
		})
	}
}

func TestTheLastSpanComesLast(t *testing.T) {
	td := trace(3, 3, 20, 50, 50, 50)
	n, chosen := 0, ""
	parts := cut.Requests(td, 1500, func(s ptrace.Span) bool {
		if n++; n == 5 || n == 70 {
			if chosen == "" {
				chosen = s.Name()
			}
			return true
		}
		return false
	})
	all := inPlace(parts...)
	require.Len(t, all, 180)
	assert.True(t, strings.HasSuffix(all[179], "|"+chosen))
}

func TestNothingToCut(t *testing.T) {
	td := ptrace.NewTraces()
	assert.Empty(t, cut.Requests(td, 10, nil))
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	assert.Empty(t, cut.Requests(td, 1, nil))
	assert.Zero(t, cut.ByTraceSize(ptrace.NewTraces()))
}

func TestByTraceSize(t *testing.T) {
	td := trace(2, 3, 100, 10_000, 50, 20)
	size := cut.ByTraceSize(td)
	assert.Greater(t, size, int64(2*100*10_000), "a resource for each trace below it")
	assert.Less(t, size, int64(2*100*11_000), "but one for all scopes")
}
