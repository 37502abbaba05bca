package tapereceiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tapedeck/tapedeck/internal/ingest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// maxRecords bounds a tape that is taken in: a record takes some hundred times the
// memory of the shortest line that is one.
const maxRecords = 100_000

// Results of taking in a tape.
const (
	accepted  = "accepted"
	failed    = "failed"
	invalid   = "invalid"
	refused   = "refused"
	tooLarge  = "too_large"
	unknown   = "unknown_suffix"
	fromHTTP  = "http"
	fromWatch = "watch"
)

var (
	errTooLarge = errors.New("the tape is too large")
	errNoTape   = errors.New("not a tape")
)

// parse reads a tape and makes the traces of its runs; where the tape has no times,
// it is asked for the one at which its last call ended. The error says what is wrong
// with which line.
func (r *tapeReceiver) parse(in io.Reader, ended func() time.Time) ([]ingest.Run, error) {
	t, err := tape.ReadAll(in, tape.MaxRecords(maxRecords))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, fmt.Errorf("%w: over %d bytes", errTooLarge, over.Limit)
	case errors.Is(err, tape.ErrTooMany):
		return nil, fmt.Errorf("%w: %w", errTooLarge, err)
	case err != nil:
		return nil, err
	case len(t.Records) == 0:
		return nil, fmt.Errorf("there is no record on the tape: %w", tape.ErrEmpty)
	}
	for i, record := range t.Records {
		if record.Tool == "" {
			return nil, fmt.Errorf("record %d of the tape: tool: missing: %w", i+1, errNoTape)
		}
	}
	return ingest.Traces(t, ingest.Options{Now: ended(), Service: r.cfg.DefaultService}), nil
}

func (r *tapeReceiver) countTape(source, result string) {
	r.telemetry.TapeReceiverTapes.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String("source", source), attribute.String("result", result)))
}
