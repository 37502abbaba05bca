package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// held is an attribute of a span from which a record has its arguments or its
// result: without it the record has something else.
type held struct {
	name string // of the recording
	td   ptrace.Traces
	ld   plog.Logs
	span pcommon.SpanID
	key  string
	rec  tape.Record // as it is with the attribute
}

// with is the recording with the attribute changed.
func (h held) with(change func(pcommon.Value, ptrace.Span)) tape.Record {
	td := ptrace.NewTraces()
	h.td.CopyTo(td)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				if s.SpanID() == h.span {
					v, _ := s.Attributes().Get(h.key)
					change(v, s)
				}
			}
		}
	}
	return recordOf(td, h.ld, h.rec.StepID)
}

func recordOf(td ptrace.Traces, ld plog.Logs, step string) tape.Record {
	for _, tp := range TranslateWithLogs(td, ld, Options{}) {
		for _, r := range tp.Records {
			if r.StepID == step && r.KindOf() == tape.KindTool {
				return r
			}
		}
	}
	return tape.Record{}
}

// holding finds the JSON attributes that hold the arguments, or else the results,
// of tool spans: those without which a record has others, or only those that
// messages tell.
func holding(t *testing.T, args bool) []held {
	t.Helper()
	var out []held
	for _, c := range recordings(t) {
		done := 0
		for _, tp := range TranslateWithLogs(c.Traces, c.Logs, Options{}) {
			for _, r := range tp.Records {
				if r.KindOf() != tape.KindTool || r.StepID == "" || done == 2 || args && len(r.Args) < 20 || !args && (len(r.Result) == 0 || r.Error != nil) {
					continue
				}
				if h, ok := find(c.Traces, c.Logs, r, args); ok {
					h.name = c.Name
					out = append(out, h)
					done++
				}
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

func find(td ptrace.Traces, ld plog.Logs, r tape.Record, args bool) (held, bool) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				if s.SpanID().String() != r.StepID {
					continue
				}
				for key, v := range s.Attributes().All() {
					if v.Type() != pcommon.ValueTypeStr || !json.Valid([]byte(v.Str())) || !strings.ContainsAny(v.Str(), "{[") {
						continue
					}
					h := held{td: td, ld: ld, span: s.SpanID(), key: key, rec: r}
					other := h.with(func(v pcommon.Value, _ ptrace.Span) { v.SetStr(`{"something":"else entirely"}`) })
					if other.StepID == "" {
						continue // the dialect is known by it
					}
					if args && string(other.Args) != string(r.Args) || !args && string(other.Result) != string(r.Result) {
						return h, true
					}
				}
			}
		}
	}
	return held{}, false
}

func TestArgumentsInAStringAreUnwrapped(t *testing.T) {
	t.Parallel()
	for _, h := range holding(t, true) {
		got := h.with(func(v pcommon.Value, _ ptrace.Span) {
			text, _ := json.Marshal(v.Str())
			v.SetStr(string(text))
		})
		assert.JSONEq(t, string(h.rec.Args), string(got.Args), "%s %s", h.name, h.key)
		assert.Equal(t, h.rec.Key, got.Key, "%s %s", h.name, h.key)
	}
}

func TestACutTextIsNeverTakenForWhole(t *testing.T) {
	t.Parallel()
	for _, args := range []bool{true, false} {
		for _, h := range holding(t, args) {
			got := h.with(func(v pcommon.Value, _ ptrace.Span) { v.SetStr(v.Str()[:len(v.Str())*2/3]) })
			text, whole := string(got.Args), string(h.rec.Args)
			if !args {
				text, whole = string(got.Result), string(h.rec.Result)
			}
			if got.StepID == "" || sameContent(text, whole) {
				continue // from another place
			}
			assert.Equal(t, tape.FidelityTruncated, got.Fidelity, "%s %s: %s", h.name, h.key, text)
			assert.Equal(t, h.rec.Error == nil, got.Error == nil, "%s %s", h.name, h.key)
		}
	}
}

// sameContent reports whether two JSON texts say the same, one of them maybe as
// the text of a Python literal, which is what a model was told.
func sameContent(a, b string) bool {
	x, err := value.Parse(a)
	if err != nil {
		return false
	}
	y, err := value.Parse(b)
	return err == nil && equal(literal(x), literal(y))
}

func literal(v value.Value) value.Value {
	if inner, err := value.ParsePython(v.Str()); err == nil {
		return inner
	}
	return v
}

func TestOddArgumentsAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{`[1,"two",null]`, `42`, `true`} {
		for _, h := range holding(t, true) {
			if strings.Contains(h.rec.ArgsRaw, "{") {
				continue // the attribute holds a wrapper around the arguments
			}
			got := h.with(func(v pcommon.Value, _ ptrace.Span) { v.SetStr(odd) })
			assert.JSONEq(t, odd, string(got.Args), "%s %s", h.name, h.key)
		}
	}
}

func TestAMissingResultIsAGapAndNoFailure(t *testing.T) {
	t.Parallel()
	for _, h := range holding(t, false) {
		got := h.with(func(_ pcommon.Value, s ptrace.Span) { s.Attributes().Remove(h.key) })
		assert.Nil(t, got.Error, "%s %s", h.name, h.key)
		if got.Result == nil {
			assert.Equal(t, tape.FidelityAbsent, got.Fidelity, "%s %s", h.name, h.key)
		} else {
			assert.True(t, sameContent(string(got.Result), string(h.rec.Result)), "%s %s: %s, not %s", h.name, h.key, got.Result, h.rec.Result)
		}
	}
}

func TestADroppedAttributeIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	for _, h := range holding(t, false) {
		td := ptrace.NewTraces()
		h.td.CopyTo(td)
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					if s.SpanID() == h.span {
						s.Attributes().Remove(h.key)
						s.SetDroppedAttributesCount(3)
					}
				}
			}
		}
		for _, tp := range TranslateWithLogs(td, h.ld, Options{}) {
			for _, g := range tp.Manifest.Gaps {
				if g.Seq > 0 && tp.Records[g.Seq-1].StepID == h.rec.StepID && g.What == "result" {
					assert.Equal(t, whyDropped, g.Why, "%s %s", h.name, h.key)
				}
			}
		}
	}
}

// changeIDs replaces the call ids of a recording by one, wherever a text has them,
// and returns what the tape says without the change and with it.
func changeIDs(t *testing.T, c fidelity.Case, to string) (was, is []string) {
	t.Helper()
	var ids []string
	for _, tp := range TranslateWithLogs(c.Traces, c.Logs, Options{}) {
		for _, r := range tp.Records {
			if r.ToolCallID != "" {
				ids = append(ids, r.ToolCallID, to)
			}
		}
	}
	replace := strings.NewReplacer(ids...)
	traces, err := (&ptrace.JSONMarshaler{}).MarshalTraces(c.Traces)
	require.NoError(t, err)
	logs, err := (&plog.JSONMarshaler{}).MarshalLogs(c.Logs)
	require.NoError(t, err)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(replace.Replace(string(traces))))
	require.NoError(t, err)
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs([]byte(replace.Replace(string(logs))))
	require.NoError(t, err)
	was = said(c.Traces, c.Logs)
	for i := range was {
		was[i] = replace.Replace(was[i])
	}
	return was, said(td, ld)
}

// said is what a tape says of its tool calls, without their ids.
func said(td ptrace.Traces, ld plog.Logs) []string {
	var out []string
	for _, tp := range TranslateWithLogs(td, ld, Options{}) {
		for _, r := range tp.Records {
			if r.KindOf() == tape.KindTool {
				failed := "ok"
				if r.Error != nil {
					failed = "failed"
				}
				out = append(out, r.Tool+" "+string(r.Args)+" "+string(r.Result)+" "+failed)
			}
		}
	}
	return out
}

func TestOneIDForAllCallsKeepsThemApart(t *testing.T) {
	t.Parallel()
	for _, c := range recordings(t) {
		was, is := changeIDs(t, c, "call_0")
		assert.Equal(t, was, is, c.Name)
	}
}

func TestCallsWithoutIDsKeepTheirContent(t *testing.T) {
	t.Parallel()
	for _, c := range recordings(t) {
		if strings.HasPrefix(c.Name, "plain_oi_openai_responses") {
			continue // each request holds replies alone, which nothing but ids tells apart
		}
		was, is := changeIDs(t, c, "")
		assert.Equal(t, was, is, c.Name)
	}
}

func TestAnExceptionAloneIsAFailure(t *testing.T) {
	t.Parallel()
	found := 0
	for _, c := range recordings(t) {
		for _, tp := range TranslateWithLogs(c.Traces, c.Logs, Options{}) {
			for _, r := range tp.Records {
				if r.KindOf() != tape.KindTool || r.StepID == "" || r.Error == nil || len(r.Result) > 0 {
					continue
				}
				td, raised := withoutStatus(c.Traces, r.StepID)
				if !raised {
					continue
				}
				found++
				got := recordOf(td, c.Logs, r.StepID)
				if assert.NotNil(t, got.Error, c.Name) {
					assert.NotEmpty(t, got.Error.Message, c.Name)
				}
			}
		}
	}
	assert.Greater(t, found, 5)
}

// withoutStatus takes the status and error.type from a span, and says whether it
// has an exception left.
func withoutStatus(from ptrace.Traces, step string) (ptrace.Traces, bool) {
	td, raised := ptrace.NewTraces(), false
	from.CopyTo(td)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				if s.SpanID().String() != step {
					continue
				}
				s.Status().SetCode(ptrace.StatusCodeUnset)
				s.Status().SetMessage("")
				s.Attributes().Remove("error.type")
				for _, e := range s.Events().All() {
					raised = raised || e.Name() == "exception"
				}
			}
		}
	}
	return td, raised
}
