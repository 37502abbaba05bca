package otlpfile

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// tempoJSON is a trace as Tempo's query API gives it: OTLP, but that the
// resource spans are called batches. Ids are base64.
type tempoJSON struct{}

// tempoMessage is the document, written as OTLP's.
var tempoMessage = msg("Tempo trace", was("batches", tracesMessage.byName["resourceSpans"]))

func (tempoJSON) claims(members []string) bool { return slices.Contains(members, "batches") }

func (tempoJSON) decode(doc []byte) (*Document, error) {
	clean, err := normalise(doc, tempoMessage)
	if err != nil {
		return nil, err
	}
	d := newDocument("Tempo JSON")
	if d.Traces, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(clean); err != nil {
		return nil, err
	}
	return d, nil
}
