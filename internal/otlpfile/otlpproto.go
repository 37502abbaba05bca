package otlpfile

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// decodeProto reads one message. A request of traces and one of logs begin
// alike, so the fields inside decide which it is.
func decodeProto(doc []byte) (*Document, error) {
	d := &Document{Format: "OTLP protobuf", Traces: ptrace.NewTraces(), Logs: plog.NewLogs()}
	asTraces := checkProto(doc, tracesMessage)
	if asTraces == nil {
		var err error
		d.Traces, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(doc)
		return d, err
	}
	asLogs := checkProto(doc, logsMessage)
	if asLogs == nil {
		var err error
		d.Logs, err = (&plog.ProtoUnmarshaler{}).UnmarshalLogs(doc)
		return d, err
	}
	// The reading that got further is the one that was meant.
	best, as := asTraces, "traces"
	if asLogs.offset > asTraces.offset {
		best, as = asLogs, "logs"
	}
	return nil, &fault{offset: best.offset, member: best.member,
		err: fmt.Errorf("%w: read as protobuf %s, byte %d: %w", ErrFormat, as, best.offset, best.err)}
}
