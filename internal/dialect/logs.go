package dialect

import (
	"cmp"

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
