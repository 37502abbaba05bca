package regress

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// Runner runs the command under test against the tape of a case. It returns when the
// command and what that started have ended, soon after ctx has.
type Runner func(ctx context.Context, c *Case) Outcome

// Run runs the cases, jobs at a time, and judges them. When ctx ends, those that did
// not begin are errors.
func Run(ctx context.Context, cases []Case, jobs int, run Runner) *Report {
	began := time.Now()
	results := make([]Result, len(cases))
	next := make(chan int)
	var workers sync.WaitGroup
	for range max(1, min(jobs, len(cases))) {
		workers.Go(func() {
			for i := range next {
				var o Outcome
				if err := ctx.Err(); err != nil {
					o.Err = fmt.Errorf("not run: %w", context.Cause(ctx))
				} else {
					o = run(ctx, &cases[i])
				}
				results[i] = judge(&cases[i], &o)
			}
		})
	}
	for i := range cases {
		next <- i
	}
	close(next)
	workers.Wait()
	return newReport(results, time.Since(began))
}

func judge(c *Case, o *Outcome) Result {
	r := Result{
		Name: c.Name, Tape: c.Tape, Expect: c.Expect, Status: Passed, Failures: c.Expectation.Judge(o),
		ExitCode: o.ExitCode, Answer: o.Answer, Errors: o.Errors, Seconds: o.Duration.Seconds(),
		Report: o.Report, expectation: c.Expectation, answerCut: o.AnswerCut,
	}
	switch {
	case o.Err != nil:
		r.Status = Broken
	case len(r.Failures) > 0:
		r.Status = Failed
		r.lines()
	}
	return r
}

// lines finds the lines of the records that failures are about. A tape that cannot
// be read again leaves them out.
func (r *Result) lines() {
	t, err := tape.ReadFile(r.Tape)
	if err != nil {
		return
	}
	first := 1
	if t.Manifest != nil {
		first = 2
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		for n := range t.Records {
			if f.Seq > 0 && t.Records[n].Seq == f.Seq {
				f.Line = first + n
				break
			}
		}
	}
}
