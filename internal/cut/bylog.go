package cut

import "go.opentelemetry.io/collector/pdata/plog"

var logSizer plog.ProtoMarshaler

// LogsByRunSize is about how many bytes log records come to when they are cut by
// run and put into the traces of their runs, where the records of each scope bring
// their resource along. What belongs to no run counts nothing.
func LogsByRunSize(ld plog.Logs, run func(plog.LogRecord) (id [16]byte, ok bool)) int64 {
	var total int64
	for _, rl := range ld.ResourceLogs().All() {
		resource := logResourceSize(rl)
		for _, sl := range rl.ScopeLogs().All() {
			here := map[[16]byte]struct{}{}
			for _, rec := range sl.LogRecords().All() {
				if id, ok := run(rec); ok {
					total += int64(logSizer.LogRecordSize(rec) + around)
					here[id] = struct{}{}
				}
			}
			total += int64(len(here)) * int64(logScopeSize(sl)+resource)
		}
	}
	return total
}

func logResourceSize(rl plog.ResourceLogs) int {
	ld := plog.NewLogs()
	to := ld.ResourceLogs().AppendEmpty()
	rl.Resource().CopyTo(to.Resource())
	to.SetSchemaUrl(rl.SchemaUrl())
	return logSizer.LogsSize(ld) + around
}

func logScopeSize(sl plog.ScopeLogs) int {
	ld := plog.NewLogs()
	to := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	sl.Scope().CopyTo(to.Scope())
	to.SetSchemaUrl(sl.SchemaUrl())
	return logSizer.LogsSize(ld) + around
}
