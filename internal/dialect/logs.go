package dialect

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

func newLog(res pcommon.Resource, scope string, r plog.LogRecord) Log {
	l := Log{
		Name: r.EventName(), Attrs: r.Attributes(), Body: parsed(fromAttr(r.Body())), Nanos: int64(r.Timestamp()),
		Observed: int64(r.ObservedTimestamp()),
		Resource: res, Scope: scope, Trace: r.TraceID(), Span: r.SpanID(),
	}
	if l.Nanos == 0 {
		// Some agents leave the time of the record to an attribute.
		if t, err := time.Parse(time.RFC3339Nano, attrText(r.Attributes(), "event.timestamp")); err == nil {
			l.Nanos = t.UnixNano()
		}
	}
	if l.Nanos == 0 {
		l.Nanos = int64(r.ObservedTimestamp())
	}
	if v, ok := r.Attributes().Get("event.name"); ok && v.Str() != "" {
		l.Name = v.Str()
	}
	return l
}

// session is the session or conversation a log record says it belongs to.
func (l *Log) session() string {
	for _, key := range [...]string{"conversation.id", "gen_ai.conversation.id", "session.id"} {
		if id := attrText(l.Attrs, key); id != "" {
			return id
		}
	}
	return ""
}

// compareLogs orders the records of one span. Those of one instant keep the
// order of a conversation: what went in before what came out, then the order in
// which they were seen. What is the same in all of this keeps its arrival, which
// is the order it was written in: an order by content would be the same for every
// delivery, and that of no conversation.
func compareLogs(a, b Log) int {
	return cmp.Or(
		cmp.Compare(a.Nanos, b.Nanos),
		cmp.Compare(logRank(a.Name), logRank(b.Name)),
		cmp.Compare(a.Observed, b.Observed),
	)
}

func logRank(name string) int {
	switch name {
	case "gen_ai.system.message":
		return 0
	case "gen_ai.choice":
		return 2
	}
	return 1
}

// logKey is what a log record names: a span, or else a session.
type logKey struct {
	trace   pcommon.TraceID
	span    pcommon.SpanID
	session string
}

// attachLogs gives log records to the spans they name and to the traces they
// name, makes groups of the traces that have log records alone, and returns all
// groups and the records that name no trace, by session.
func attachLogs(groups []*group, ld plog.Logs) ([]*group, map[string][]Log) {
	if ld.LogRecordCount() == 0 {
		return groups, nil
	}
	byKey := keyedLogs(ld)
	byTrace := make(map[pcommon.TraceID]*group, len(groups))
	for _, g := range groups {
		byTrace[g.id] = g
		for i := range g.spans {
			g.spans[i].Logs = byKey[logKey{trace: g.id, span: g.spans[i].SpanID()}]
		}
	}
	sessions := map[string][]Log{}
	for key, logs := range byKey {
		if key.trace.IsEmpty() {
			if key.session != "" {
				sessions[key.session] = append(sessions[key.session], logs...)
			}
			continue
		}
		g := byTrace[key.trace]
		if g == nil {
			g = &group{id: key.trace}
			byTrace[key.trace] = g
			groups = append(groups, g)
		}
		g.logs = append(g.logs, logs...)
	}
	attachByCall(groups, sessions)
	return groups, sessions
}

// keyedLogs sorts log records by what they name, each once however often it was
// delivered.
func keyedLogs(ld plog.Logs) map[logKey][]Log {
	byKey := map[logKey][]Log{}
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			chunk := map[logKey][]Log{}
			for _, r := range sl.LogRecords().All() {
				l := newLog(rl.Resource(), sl.Scope().Name(), r)
				id := logKey{trace: l.Trace, span: l.Span}
				if id.trace.IsEmpty() {
					id.session = l.session()
				}
				chunk[id] = append(chunk[id], l)
			}
			for id, logs := range chunk {
				// A repeated delivery repeats the records of a span as a whole;
				// equal records within one delivery are different messages.
				if !holdsLogs(byKey[id], logs) {
					byKey[id] = append(byKey[id], logs...)
				}
			}
		}
	}
	for _, logs := range byKey {
		slices.SortStableFunc(logs, compareLogs)
	}
	return byKey
}

// attachByCall gives log records without a trace to the spans whose call they
// name.
func attachByCall(groups []*group, sessions map[string][]Log) {
	byCall := map[string][]Log{}
	for _, logs := range sessions {
		for _, l := range logs {
			if id := attrText(l.Attrs, "call_id"); id != "" {
				byCall[id] = append(byCall[id], l)
			}
		}
	}
	if len(byCall) == 0 {
		return
	}
	for _, logs := range byCall {
		slices.SortStableFunc(logs, compareLogs)
	}
	bySpan := map[string][]*Span{}
	for _, g := range groups {
		for i := range g.spans {
			if s := &g.spans[i]; s.toolCall {
				bySpan[s.Str("call_id")] = append(bySpan[s.Str("call_id")], s)
			}
		}
	}
	for id, spans := range bySpan {
		for _, l := range byCall[id] {
			s := nearest(spans, &l)
			s.Logs = append(s.Logs, l)
		}
	}
}

// nearest is the span of several with one call id that a log record is about: of
// those of its tool the one that ended nearest to it.
func nearest(spans []*Span, l *Log) *Span {
	name := attrText(l.Attrs, "tool_name")
	distance := func(s *Span) (otherTool bool, nanos int64) {
		nanos = int64(s.EndTimestamp()) - l.Nanos
		return name != "" && s.Str("tool_name") != name, max(nanos, -nanos)
	}
	best := spans[0]
	for _, s := range spans[1:] {
		other, nanos := distance(s)
		bestOther, bestNanos := distance(best)
		if bestOther && !other || bestOther == other && nanos < bestNanos {
			best = s
		}
	}
	return best
}

// holdsLogs reports whether have contains logs in a row.
func holdsLogs(have, logs []Log) bool {
	for i := 0; i+len(logs) <= len(have); i++ {
		if slices.EqualFunc(have[i:i+len(logs)], logs, sameLog) {
			return true
		}
	}
	return false
}

func sameLog(a, b Log) bool {
	return a.Nanos == b.Nanos && a.Name == b.Name && a.Attrs.Equal(b.Attrs) && a.Body.JSON() == b.Body.JSON()
}
