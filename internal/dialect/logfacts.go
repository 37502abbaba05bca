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
func (c *Config) LogKind(res pcommon.Resource, scope pcommon.InstrumentationScope, rec plog.LogRecord) (kind Kind, failed bool) {
	call, ok := readLog(newLog(res, scope.Name(), rec))
	if !ok {
		return KindOther, false
	}
	fail := call.Fail
	if call.Kind == KindTool {
		fail = c.judge(fail, &call)
	}
	return call.Kind, fail != nil
}

// callIDKey is the attribute by which log records without a trace name the span
// of their call.
const callIDKey = "call_id"

// LogCallID is the call that a log record without a trace names, "" for none.
func LogCallID(rec plog.LogRecord) string { return attrText(rec.Attributes(), callIDKey) }

// SpanNames is the session and the call by which log records without a trace may
// name a span, each "" for none.
func SpanNames(span ptrace.Span) (session, call string) {
	rank := 0
	for k, v := range span.Attributes().All() {
		if v.Type() != pcommon.ValueTypeStr {
			continue
		}
		if k == callIDKey {
			call = v.Str()
			continue
		}
		if r := conversationRank(k); r > 0 && (rank == 0 || r < rank) && v.Str() != "" {
			session, rank = v.Str(), r
		}
	}
	return session, call
}
