package otlpfile

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// otlpJSON is a request, or a TracesData or LogsData, in OTLP's JSON. One object
// may hold traces and logs together.
type otlpJSON struct{}

func (otlpJSON) claims(members []string) bool {
	return hasTraces(members) || hasLogs(members)
}

func hasTraces(members []string) bool {
	return slices.Contains(members, "resourceSpans") || slices.Contains(members, "resource_spans")
}

func hasLogs(members []string) bool {
	return slices.Contains(members, "resourceLogs") || slices.Contains(members, "resource_logs")
}

func (otlpJSON) decode(doc []byte) (*Document, error) {
	d := &Document{Format: "OTLP JSON", Traces: ptrace.NewTraces(), Logs: plog.NewLogs()}
	members := memberNames(doc)
	if hasTraces(members) {
		clean, err := normalise(doc, tracesMessage)
		if err != nil {
			return nil, err
		}
		if d.Traces, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(clean); err != nil {
			return nil, err
		}
	}
	if hasLogs(members) {
		clean, err := normalise(doc, logsMessage)
		if err != nil {
			return nil, err
		}
		if d.Logs, err = (&plog.JSONUnmarshaler{}).UnmarshalLogs(clean); err != nil {
			return nil, err
		}
	}
	return d, nil
}
