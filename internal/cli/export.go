package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/bundle"
	"github.com/tapedeck/tapedeck/internal/ingest"
	"github.com/tapedeck/tapedeck/tape"
)

func (a *app) exportCmd() *cobra.Command {
	var out string
	var asBundle bool
	cmd := &cobra.Command{
		Use:   "export FILE|ID",
		Short: "Turn a tape into a trace, or into a bundle that runs elsewhere",
		Long: `Turn a tape into a trace, as an OTLP JSON document that any tracing backend takes. Of a
trace id it is the stored trace; of a file it is made of the records.

With --bundle it is the tape with what it takes to run it, with no more than Python or
Node: a tar.gz, or a directory where -o ends in a slash.`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if !asBundle {
				text, err := a.traceOf(cmd.Context(), argv[0])
				if err != nil {
					return err
				}
				return a.output(out, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
			}
			t, err := a.tapeArg(cmd, argv[0])
			if err != nil {
				return err
			}
			fetch, err := a.fetchBodies(cmd.Context(), argv[0], "")
			if err != nil {
				return err
			}
			made, err := bundle.New(bundle.Content{
				Manifest: t.Manifest, Records: slices.Values(t.Records),
				// A bundle is packed again with the bodies that lie in it.
				Body: func(hash string) ([]byte, error) { return fetch(tape.Body{SHA256: hash}) },
			})
			if err != nil {
				return fmt.Errorf("%s: %w", argv[0], err)
			}
			if strings.HasSuffix(out, "/") || strings.HasSuffix(out, string(filepath.Separator)) {
				err = made.WriteDir(out)
			} else {
				err = a.output(out, made.WriteTar)
			}
			if err != nil {
				return err
			}
			a.noteGaps(argv[0], t.Manifest)
			return nil
		},
	}
	outFlag(cmd, &out)
	cmd.Flags().BoolVar(&asBundle, "bundle", false, "write a bundle: the tape with what it takes to run it")
	return cmd
}

// traceOf is the trace of a tape, as OTLP JSON.
func (a *app) traceOf(ctx context.Context, arg string) ([]byte, error) {
	t, err := a.readTape(arg)
	if errors.Is(err, os.ErrNotExist) {
		id, idErr := traceID(arg)
		if idErr != nil {
			return nil, usage("%q is neither a file nor a trace id, which has 32 hex digits", arg)
		}
		return a.storedTrace(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return madeTrace(arg, t)
}

func (a *app) storedTrace(ctx context.Context, id string) ([]byte, error) {
	c, done, err := a.client()
	if err != nil {
		return nil, err
	}
	defer done()
	// Without an Accept header the answer is JSON.
	resp, err := c.do(ctx, http.MethodGet, "/v1/tapes/"+id+"/trace", nil)
	if err != nil {
		return nil, explain(id, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, missing("%s: the trace came in part only: %w", c.where, err)
	}
	return text, nil
}

// madeTrace makes one document of all runs of a tape.
func madeTrace(name string, t *tape.Tape) ([]byte, error) {
	all := ptrace.NewTraces()
	for _, run := range ingest.Traces(t, ingest.Options{Now: time.Now()}) {
		run.Traces.ResourceSpans().MoveAndAppendTo(all.ResourceSpans())
	}
	if all.SpanCount() == 0 {
		return nil, no("%s: there is no call on the tape to make a trace of", name)
	}
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}
