package fidelity

import (
	"fmt"
	"path/filepath"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// Report is the score of all recordings.
type Report struct {
	Scores     []Score
	Exceptions []Exception
	// Misses have no exception; Stale are exceptions without a miss.
	Misses []Miss
	Stale  []Exception
}

// Measure translates and scores all recordings below the directory of package
// dialect.
func Measure(dir string, translate func(ptrace.Traces, plog.Logs) []*tape.Tape) (Report, error) {
	r := Report{}
	for _, from := range []struct {
		read func(string) ([]Case, error)
		dir  string
	}{{ReadSamples, "samples"}, {ReadSamples, "described"}, {ReadCaptures, "captures"}} {
		cases, err := from.read(filepath.Join(dir, "testdata", from.dir))
		if err != nil {
			return Report{}, err
		}
		if len(cases) == 0 {
			return Report{}, fmt.Errorf("no recordings in %s", filepath.Join(dir, "testdata", from.dir))
		}
		for _, c := range cases {
			s := c.Compare(translate(c.Traces, c.Logs))
			s.Origin, s.Instrumentation = from.dir, instrumentationOf(c, from.dir)
			r.Scores = append(r.Scores, s)
		}
	}
	exceptions, err := ReadExceptions(filepath.Join(dir, "fidelity", "testdata", "exceptions.json"))
	if err != nil {
		return Report{}, err
	}
	r.Exceptions = exceptions
	r.Misses, r.Stale = Unexplained(r.Scores, exceptions)
	return r, nil
}
