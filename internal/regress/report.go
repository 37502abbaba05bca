package regress

import (
	"time"

	"github.com/tapedeck/tapedeck/replay"
)

// Status is what became of a case.
type Status string

// The ends of a case.
const (
	Passed Status = "passed"
	// Failed: something was not as expected.
	Failed Status = "failed"
	// Broken: there was nothing to judge, such as a tape that cannot be read.
	Broken Status = "error"
)

// Report is the run of a set.
type Report struct {
	// Passed is set when every case did.
	Passed  bool     `json:"passed"`
	Counts  Counts   `json:"counts"`
	Seconds float64  `json:"seconds"`
	Results []Result `json:"results"`
}

// Counts sums up a run.
type Counts struct {
	Cases  int `json:"cases"`
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	Errors int `json:"errors"`
}

// Result is the run of one case.
type Result struct {
	Name     string    `json:"name"`
	Tape     string    `json:"tape"`
	Expect   string    `json:"expect"`
	Status   Status    `json:"status"`
	Failures []Failure `json:"failures,omitempty"`
	ExitCode int       `json:"exit_code"`
	// Answer and Errors are what the command wrote, as in [Outcome].
	Answer  string  `json:"answer"`
	Errors  string  `json:"stderr,omitempty"`
	Seconds float64 `json:"seconds"`
	// Report is that of the replay: experiment, policy, verdicts, statistics.
	Report *replay.Report `json:"replay,omitempty"`

	expectation Expectation
	answerCut   bool
}

func newReport(results []Result, took time.Duration) *Report {
	r := &Report{Results: results, Seconds: took.Seconds(), Counts: Counts{Cases: len(results)}}
	for i := range results {
		switch results[i].Status {
		case Passed:
			r.Counts.Passed++
		case Failed:
			r.Counts.Failed++
		case Broken:
			r.Counts.Errors++
		}
	}
	r.Passed = r.Counts.Passed == len(results)
	return r
}
