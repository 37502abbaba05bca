package dialect

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

func newLog(r plog.LogRecord) Log {
	l := Log{Name: r.EventName(), Attrs: r.Attributes(), Body: parsed(fromAttr(r.Body())), Nanos: int64(r.Timestamp())}
	if l.Nanos == 0 {
		l.Nanos = int64(r.ObservedTimestamp())
	}
	if v, ok := r.Attributes().Get("event.name"); ok && v.Str() != "" {
		l.Name = v.Str()
	}
	return l
}

// compareLogs orders the records of one span. Those of one instant keep the
// order of a conversation: what went in before what came out, and each request
// before its answer, which their arrival does not tell.
func compareLogs(a, b Log) int {
	return cmp.Or(
		cmp.Compare(a.Nanos, b.Nanos),
		cmp.Compare(logRank(a.Name), logRank(b.Name)),
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

// attachLogs gives log records to the spans they name.
func attachLogs(groups []*group, ld plog.Logs) {
	type key struct {
		trace   pcommon.TraceID
		span    pcommon.SpanID
		session string
	}
	if ld.LogRecordCount() == 0 {
		return
	}
	byKey := map[key][]Log{}
	for i := range ld.ResourceLogs().Len() {
		rl := ld.ResourceLogs().At(i)
		for j := range rl.ScopeLogs().Len() {
			records := rl.ScopeLogs().At(j).LogRecords()
			chunk := map[key][]Log{}
			for k := range records.Len() {
				r := records.At(k)
				id := key{trace: r.TraceID(), span: r.SpanID()}
				if id.trace.IsEmpty() {
					id.session = attrText(r.Attributes(), "conversation.id")
				}
				chunk[id] = append(chunk[id], newLog(r))
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
	for _, g := range groups {
		for i := range g.spans {
			g.spans[i].Logs = byKey[key{trace: g.id, span: g.spans[i].SpanID()}]
		}
	}
	var loose []Log
	for id, logs := range byKey {
		if id.trace.IsEmpty() && id.session != "" {
			loose = append(loose, logs...)
		}
	}
	slices.SortStableFunc(loose, compareLogs)
	attachLoose(groups, loose)
}

// attachLoose gives log records without a trace to the calls they name, and to
// the runs that may belong to the same conversation.
func attachLoose(groups []*group, loose []Log) {
	if len(loose) == 0 {
		return
	}
	byCall := map[string][]Log{}
	for _, l := range loose {
		if id := attrText(l.Attrs, "call_id"); id != "" {
			byCall[id] = append(byCall[id], l)
		}
	}
	for _, g := range groups {
		g.loose = loose
		for i := range g.spans {
			if s := &g.spans[i]; s.toolCall {
				s.Logs = append(s.Logs, byCall[s.Str("call_id")]...)
			}
		}
	}
}

// addLoose makes calls of the log records that stand for calls without spans:
// those of the run's own conversation within its time.
func (r *run) addLoose(loose []Log) {
	if len(loose) == 0 {
		return
	}
	conversation := r.conversation()
	first, last := r.span()
	for _, l := range loose {
		c, ok := codexModel(l)
		if !ok || c.Conversation != conversation || l.Nanos < first || l.Nanos > last {
			continue
		}
		r.nodes = append(r.nodes, &node{kind: KindModel, call: &c, start: l.Nanos, end: l.Nanos})
	}
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
