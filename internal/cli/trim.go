package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/trim"
	"github.com/tapedeck/tapedeck/tape"
)

// trimFlags say what to trim to, and how to try what came out.
type trimFlags struct {
	session         sessionFlags
	out             string
	step, runs      int
	check, minimise bool
	timeout         time.Duration
	asJSON          bool
}

func (a *app) trimCmd() *cobra.Command {
	var flags trimFlags
	cmd := &cobra.Command{
		Use:                   "trim FILE|ID [flags] [-- CMD...]",
		DisableFlagsInUseLine: true,
		Short:                 "Cut a tape down to the records that a failure needs",
		Long: `Cut a tape down to the record that failed and what it needs: the cause that its
attribution names, the model call that asked for it and the calls in that
conversation, the records that its values come from, the calls that enclose it, clock
and random reads before it. What was kept and dropped, and why, is printed on standard
error. Positions of records stay.

--check runs a command against the whole tape and against the trimmed one, and writes
the tape only if it fails the same way: with the same exit code and the same verdicts
other than records not asked for, the failing record having been asked for. --minimise
goes on from there by leaving out more, and begins with the whole tape if the trimmed
one does not do. Exit code 1 when nothing failed, or not the same way.`,
		Example: `  tape trim failed.jsonl -o small.jsonl --check -- python agent.py`,
		Args: func(cmd *cobra.Command, argv []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 && len(argv) != 1 || dash >= 0 && (dash != 1 || len(argv) < 2) {
				return usage("call it as: tape trim FILE|ID [flags] [-- CMD...]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, argv []string) error {
			if tries := flags.check || flags.minimise; tries != (len(argv) > 1) {
				return usage("trim: --check and --minimise go with a command, as in: tape trim FILE --check -- CMD")
			}
			return a.trim(cmd, argv[0], argv[1:], &flags)
		},
	}
	outFlag(cmd, &flags.out)
	f := cmd.Flags()
	f.IntVar(&flags.step, "step", 0, "step to trim to, in place of the one that made the run fail")
	f.BoolVar(&flags.check, "check", false, "try that the command fails the same way")
	f.BoolVar(&flags.minimise, "minimise", false, "leave out more, as long as the command fails the same way")
	f.IntVar(&flags.runs, "runs", 200, "how often --minimise may run the command")
	f.DurationVar(&flags.timeout, "timeout", defaultTimeout, "how long each run of the command may take")
	flags.session.addAttempt(cmd)
	jsonFlag(cmd, &flags.asJSON)
	return cmd
}

func (a *app) trim(cmd *cobra.Command, arg string, argv []string, flags *trimFlags) error {
	if err := a.checkOutput(flags.out); err != nil {
		return usage("-o: %w", err)
	}
	whole, err := a.tapeArg(cmd, arg)
	if err != nil {
		return err
	}
	small, report, err := trim.Trim(whole, flags.step)
	switch {
	case errors.Is(err, trim.ErrNothingFailed):
		return no("%s: %w: name a step with --step", arg, err)
	case errors.Is(err, trim.ErrNoStep):
		return missing("%s: %w", arg, err)
	case err != nil:
		return err
	}
	if len(argv) > 0 {
		t := &trial{app: a, argv: argv, flags: flags, seq: report.Seq}
		if small, err = t.try(cmd.Context(), whole, small, report); err != nil {
			return err
		}
	}
	for _, p := range tape.Verify(small) {
		a.note("%s: %s", arg, p)
	}
	same := report.Check == nil || report.Check.Same
	if same {
		err = a.output(flags.out, func(w io.Writer) error {
			buffered := bufio.NewWriter(w)
			return errors.Join(tape.NewWriter(buffered).WriteTape(small), buffered.Flush())
		})
		if err != nil {
			return err
		}
	}
	text := []byte(trimText(report, len(whole.Records)))
	if flags.asJSON {
		if text, err = marshal(report); err != nil {
			return err
		}
	}
	if _, err := a.Err.Write(text); err != nil {
		return err
	}
	if !same {
		return &exitError{code: exitNo}
	}
	return nil
}

// trial runs a command against tapes to see whether it fails the same way.
type trial struct {
	*app
	argv  []string
	flags *trimFlags
	seq   int
	runs  int
}

// way is how a command failed.
type way struct {
	code     int
	timedOut bool
	// verdicts are those of the calls that were not hits, sorted.
	verdicts []string
	// reached is set when the failing record was asked for.
	reached bool
}

func (t *trial) run(ctx context.Context, deck *tape.Tape) (way, error) {
	t.runs++
	path, remove, err := temporary(func(path string) error { return tape.WriteFile(path, deck) })
	if err != nil {
		return way{}, err
	}
	defer remove()
	o := t.attempt(ctx, path, t.argv, &t.flags.session, t.flags.timeout)
	if o.Err != nil {
		return way{}, o.Err
	}
	w := way{code: o.ExitCode, timedOut: o.TimedOut, reached: true}
	for _, e := range o.Report.Events {
		w.verdicts = append(w.verdicts, string(e.Verdict)+" "+e.Key)
	}
	slices.Sort(w.verdicts)
	for _, u := range o.Report.Unconsumed {
		w.reached = w.reached && u.Seq != t.seq
	}
	return w, nil
}

// differs says in what one way is not the other, "" for nothing.
func (w way) differs(o way) string {
	switch {
	case !o.reached:
		return "the failing step is not asked for"
	case w.timedOut != o.timedOut:
		return "it takes too long on one of the tapes"
	case w.code != o.code:
		return fmt.Sprintf("exit code %d, on the whole tape %d", o.code, w.code)
	case !slices.Equal(w.verdicts, o.verdicts):
		for _, v := range o.verdicts {
			if !slices.Contains(w.verdicts, v) {
				return "a call that the whole tape answers: " + v
			}
		}
		return "other verdicts than on the whole tape"
	}
	return ""
}

// try compares the whole tape with the trimmed one and gives the smallest tape that
// was found to fail the same way.
func (t *trial) try(ctx context.Context, whole, small *tape.Tape, r *trim.Report) (*tape.Tape, error) {
	want, err := t.run(ctx, whole)
	if err != nil {
		return nil, err
	}
	if !want.reached {
		return nil, no("the command does not ask for step %d on the whole tape, so there is no failure to keep", t.seq)
	}
	got, err := t.run(ctx, small)
	if err != nil {
		return nil, err
	}
	why := want.differs(got)
	r.Check = &trim.Check{Same: why == "", Reason: why, Runs: t.runs}
	if !t.flags.minimise {
		if why != "" {
			r.Check.Reason += "; --minimise finds what the command needs"
		}
		return small, nil
	}
	begin, must := []int{}, 0
	for i := range whole.Records {
		seq := whole.Records[i].Seq
		if why != "" || slices.ContainsFunc(r.Kept, func(s trim.Step) bool { return s.Seq == seq }) {
			begin = append(begin, i)
		}
		if seq == t.seq {
			must = i
		}
	}
	set, _, done, err := trim.Minimise(whole, begin, must, t.flags.runs, func(deck *tape.Tape) (bool, error) {
		got, err := t.run(ctx, deck)
		return err == nil && want.differs(got) == "", err
	})
	switch {
	case errors.Is(err, trim.ErrNotTheSame):
		return nil, no("%w: it does not do the same twice", err)
	case err != nil:
		return nil, err
	}
	r.Check = &trim.Check{Same: true, Runs: t.runs}
	if !done {
		t.note("--runs %d was not enough: there may be less that fails the same way", t.flags.runs)
	}
	minimised(r, whole, set)
	return trim.Subset(whole, set), nil
}

// minimised rewrites a report for the set of records that trying found.
func minimised(r *trim.Report, whole *tape.Tape, set []int) {
	why := map[int]string{}
	for _, s := range r.Kept {
		why[s.Seq] = s.Why
	}
	r.Kept, r.Dropped = []trim.Step{}, []trim.Step{}
	for i := range whole.Records {
		rec := &whole.Records[i]
		step := trim.Step{Seq: rec.Seq, Kind: rec.KindOf(), Tool: rec.Tool, Why: why[rec.Seq]}
		if slices.Contains(set, i) {
			if step.Why == "" {
				step.Why = "the command asks for it"
			}
			r.Kept = append(r.Kept, step)
			continue
		}
		step.Why = "the command fails the same way without it"
		r.Dropped = append(r.Dropped, step)
	}
}

// trimText renders what was kept and dropped.
func trimText(r *trim.Report, of int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kept %d of %s for the failure at step %d\n", len(r.Kept), count(of, "step"), r.Seq)
	lines := func(sign string, steps []trim.Step) {
		for _, s := range steps {
			fmt.Fprintf(&b, "  %s %4d  %-5s  %s: %s\n", sign, s.Seq, s.Kind, clean(s.Tool), clean(s.Why))
		}
	}
	lines("+", r.Kept)
	lines("-", r.Dropped)
	switch c := r.Check; {
	case c == nil:
	case c.Same:
		fmt.Fprintf(&b, "the command fails the same way on it (%s of the command)\n", count(c.Runs, "run"))
	default:
		fmt.Fprintf(&b, "not written: the command does not fail the same way on it: %s\n", clean(c.Reason))
	}
	return b.String()
}
