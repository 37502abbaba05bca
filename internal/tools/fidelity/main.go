// Command fidelity compares the tapes of all cases in the tests with what
// happened, prints the score as Markdown and writes it into the docs. It
// fails when anything is not right and has no written reason.
//
//	fidelity [-dir internal/dialect] [-o docs/fidelity.md]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
	"github.com/tapedeck/tapedeck/tape"
)

func main() {
	dir := flag.String("dir", "internal/dialect", "directory of the recordings' package")
	out := flag.String("o", "docs/fidelity.md", "file to write")
	flag.Parse()
	if err := run(os.Stdout, *dir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		os.Exit(1)
	}
}

func translate(td ptrace.Traces, ld plog.Logs) []*tape.Tape {
	return dialect.TranslateWithLogs(td, ld, dialect.Options{})
}

func run(w io.Writer, dir, out string) error {
	r, err := fidelity.Measure(dir, translate)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := fidelity.Markdown(&page, r.Scores, r.Exceptions); err != nil {
		return err
	}
	if _, err := w.Write(page.Bytes()); err != nil {
		return err
	}
	var errs []error
	for _, m := range r.Misses {
		errs = append(errs, fmt.Errorf("%s: %s: %s, without a reason", m.Case, m.Field, m.What))
	}
	for _, e := range r.Stale {
		errs = append(errs, fmt.Errorf("%s: %s: the exception applies no more", e.Case, e.Field))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return os.WriteFile(out, page.Bytes(), 0o644)
}
