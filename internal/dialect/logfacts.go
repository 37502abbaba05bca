package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// LogSession is the session or conversation that a log record names, "" for none.
func LogSession(rec plog.LogRecord) string {
	l := Log{Attrs: rec.Attributes()}
	return l.session()
}

// LogKind is what a log record stands for by itself, and whether it tells of a
// call that failed.
func LogKind(res pcommon.Resource, scope pcommon.InstrumentationScope, rec plog.LogRecord) (kind Kind, failed bool) {
	c, ok := readLog(newLog(res, scope.Name(), rec))
	if !ok {
		return KindOther, false
	}
	fail := c.Fail
	if c.Kind == KindTool {
		fail = fail.merge(inBand(c.Result))
	}
	return c.Kind, fail != nil
}

// callIDKey is the attribute by which log records without a trace name the span
// of their call.
const callIDKey = "call_id"

// LogCallID is the call that a log record without a trace names, "" for none.
func LogCallID(rec plog.LogRecord) string { return attrText(rec.Attributes(), callIDKey) }

// CallIDs lists the calls that spans name in the way of [LogCallID].
func CallIDs(td ptrace.Traces) (out []string) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				if id := attrText(s.Attributes(), callIDKey); id != "" {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

// Sessions lists the sessions and conversations that spans name, each once, in
// order of first appearance.
func Sessions(td ptrace.Traces) (out []string) {
	seen := map[string]bool{}
	add := func(m pcommon.Map) {
		for k, v := range m.All() {
			if conversationRank(k) == 0 || v.Type() != pcommon.ValueTypeStr || v.Str() == "" || seen[v.Str()] {
				continue
			}
			seen[v.Str()] = true
			out = append(out, v.Str())
		}
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				add(s.Attributes())
			}
		}
	}
	return out
}
