package walk_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/walk"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

// recorder notes everything it is shown and replaces what replace says.
type recorder struct {
	nodes   []walk.NodeKind
	seen    map[string]string
	replace func(string) string
}

func (r *recorder) Enter(n walk.Node) { r.nodes = append(r.nodes, n.Kind) }
func (r *recorder) Leave(walk.Node)   {}

func (r *recorder) note(at *walk.Path, s string) string {
	if r.seen != nil {
		r.seen[at.String()] += s + "\n"
	}
	if r.replace != nil {
		return r.replace(s)
	}
	return s
}

func (r *recorder) Text(at *walk.Path, s string) string { return r.note(at, s) }
func (r *recorder) Key(at *walk.Path, s string) string  { return r.note(at, s) }
func (r *recorder) Renamed(_, _ []string)               {}

func (r *recorder) Value(at *walk.Path, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		if s := r.note(at, v.Str()); s != v.Str() {
			v.SetStr(s)
		}
	case pcommon.ValueTypeBytes:
		b := string(v.Bytes().AsRaw())
		if s := r.note(at, b); s != b {
			v.Bytes().FromRaw([]byte(s))
		}
	}
	return true
}

func TestTheWalkReachesEveryField(t *testing.T) {
	td, inTraces := walktest.Traces()
	r := &recorder{seen: map[string]string{}}
	walk.Traces(td, r)
	assertSaw(t, r, inTraces)
	assert.Equal(t, []walk.NodeKind{walk.Resource, walk.Scope, walk.Span}, r.nodes)

	ld, inLogs := walktest.Logs()
	r = &recorder{seen: map[string]string{}}
	walk.Logs(ld, r)
	assertSaw(t, r, inLogs)
	assert.Equal(t, []walk.NodeKind{walk.Resource, walk.Scope, walk.LogRecord}, r.nodes)
}

func assertSaw(t *testing.T, r *recorder, planted []walktest.Canary) {
	var all strings.Builder
	for _, s := range r.seen {
		all.WriteString(s)
	}
	for _, c := range planted {
		assert.Contains(t, all.String(), c.Text, "%s was not visited", c.Place)
	}
}

func TestEveryFieldCanBeReplaced(t *testing.T) {
	clear := func(s string) string {
		if strings.Contains(s, walktest.Mark) {
			return "replaced"
		}
		return s
	}
	td, planted := walktest.Traces()
	walk.Traces(td, &recorder{replace: clear})
	out, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	assert.NoError(t, err)
	assert.Empty(t, walktest.Leaks(out, planted))

	ld, planted := walktest.Logs()
	walk.Logs(ld, &recorder{replace: clear})
	out, err = (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	assert.NoError(t, err)
	assert.Empty(t, walktest.Leaks(out, planted))
}

func TestPathsNameFieldAndPlace(t *testing.T) {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	s := ss.Spans().AppendEmpty()
	s.SetName("op")
	s.Status().SetMessage("bad")
	s.TraceState().FromRaw("a=b")
	s.Attributes().PutEmptySlice("list").AppendEmpty().SetEmptyMap().PutStr("k", "deep")
	s.Events().AppendEmpty().SetName("first")
	s.Events().AppendEmpty().Attributes().PutStr("exception.message", "boom")
	s.Links().AppendEmpty().Attributes().PutStr("l", "linked")
	r := &recorder{seen: map[string]string{}}
	walk.Traces(td, r)
	for path, want := range map[string]string{
		"name": "op\n", "status.message": "bad\n", "trace_state": "a=b\n",
		"attributes": "list\n", "attributes.list[0]": "k\n", "attributes.list[0].k": "deep\n",
		"events[0].name": "first\n", "events[1].attributes.exception.message": "boom\n", "links[0].attributes.l": "linked\n",
	} {
		assert.Equal(t, want, r.seen[path], path)
	}
}

func TestRenamingKeepsOrderValuesAndDuplicates(t *testing.T) {
	td := ptrace.NewTraces()
	m := td.ResourceSpans().AppendEmpty().Resource().Attributes()
	m.PutStr("a", "1")
	m.PutStr("b", "2")
	m.PutInt("c", 3)
	walk.Traces(td, &recorder{replace: func(s string) string {
		if s == "a" || s == "c" {
			return "z"
		}
		return s
	}})
	var got []string
	for k, v := range m.All() {
		got = append(got, k+"="+v.AsString())
	}
	assert.Equal(t, []string{"z=1", "b=2", "z=3"}, got)
}

func TestNestingIsFollowedToABoundAndNoFurther(t *testing.T) {
	td := ptrace.NewTraces()
	v := td.ResourceSpans().AppendEmpty().Resource().Attributes().PutEmpty("deep")
	for range 10 * walk.MaxDepth {
		v = v.SetEmptySlice().AppendEmpty()
	}
	v.SetStr("bottom")
	r := &recorder{seen: map[string]string{}}
	walk.Traces(td, r)
	assert.Len(t, r.seen, 1, "the name alone")
}

func TestEmptyTracesAndLogs(*testing.T) {
	td := ptrace.NewTraces()
	walk.Traces(td, &recorder{})
	td.ResourceSpans().AppendEmpty()
	walk.Traces(td, &recorder{})
	td.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
	walk.Traces(td, &recorder{})
	walk.Logs(plog.NewLogs(), &recorder{})
}

func TestTheWalkAllocatesOncePerTraceNotPerSpan(t *testing.T) {
	td := spans(100)
	v := &recorder{nodes: make([]walk.NodeKind, 0, 1<<16)}
	n := testing.AllocsPerRun(20, func() {
		v.nodes = v.nodes[:0]
		walk.Traces(td, v)
	})
	assert.LessOrEqual(t, n, 5.0)
}

func spans(n int) ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	for range n {
		s := ss.Spans().AppendEmpty()
		s.SetName("chat gpt")
		a := s.Attributes()
		for _, k := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			a.PutStr("gen_ai."+k, "some value")
		}
		s.Events().AppendEmpty().Attributes().PutStr("k", "v")
	}
	return td
}

func BenchmarkTraces(b *testing.B) {
	td := spans(1000)
	b.ReportAllocs()
	for b.Loop() {
		walk.Traces(td, &recorder{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/span")
}
