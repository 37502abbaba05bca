package dialect

import (
	"bytes"
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/logfold"
	"github.com/tapedeck/tapedeck/tape"
)

// Options tell a translation what the spans do not. The zero Options are fine.
type Options struct {
	// Trigger is written into the manifests; without it, what an earlier pass
	// wrote on the spans.
	Trigger tape.Trigger
	// Config is what the user says; nil is [DefaultConfig].
	Config *Config
	// References are the digests of bodies that were moved out of the spans and are
	// not back. A text that looks like a reference to any other is a text.
	References map[string]bool
	// Attribution finds the causes of failures; nil is the built-in table.
	Attribution *attribution.Attributor
	// Lean leaves the requests and answers of model calls out of the records, in
	// which every call repeats the conversation before it, and which values of a
	// request were replaced. All else is as without it, keys and gaps too;
	// [Run.Each] writes them one at a time.
	Lean bool
}

func (o *Options) config() *Config {
	if o.Config == nil {
		return defaultConfig
	}
	return o.Config
}

// Translate makes one tape of each trace, ordered by start. It never changes
// td and keeps no part of it. The order of spans, repeated deliveries and the
// mixture of services do not matter. A trace without tool or model calls gives
// a tape without records.
func Translate(td ptrace.Traces, opts Options) []*tape.Tape {
	return TranslateWithLogs(td, plog.NewLogs(), opts)
}

// TranslateWithLogs is [Translate] with the log records that instrumentations
// write beside their spans or in place of them. They are joined by trace and
// span id, else by session or conversation id to the run of that session. What
// finds no run is one of its own, see [LogTraceID].
func TranslateWithLogs(td ptrace.Traces, ld plog.Logs, opts Options) []*tape.Tape {
	runs := Runs(td, ld, opts)
	out := make([]*tape.Tape, 0, len(runs))
	for _, r := range runs {
		out = append(out, r.Tape)
	}
	return out
}

// Runs is [TranslateWithLogs] with the facts for summary rows.
//
// Log records that travel inside the trace (package logfold) are read like those
// in ld.
func Runs(td ptrace.Traces, ld plog.Logs, opts Options) []Run {
	td, folded := logfold.Unfold(td)
	if folded.LogRecordCount() > 0 {
		for _, rl := range ld.ResourceLogs().All() {
			rl.CopyTo(folded.ResourceLogs().AppendEmpty())
		}
		ld = folded
	}
	// Spans that are at hand need not be restored, so there is no error.
	runs, _ := translate(collect(td), ld, &opts)
	return runs
}

// translate makes the runs of groups of spans and log records.
func translate(groups []*group, ld plog.Logs, opts *Options) ([]Run, error) {
	groups, sessions := attachLogs(groups, ld)
	runs := make([]*run, 0, len(groups))
	for i, g := range groups {
		r, err := newRun(g, opts)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
		groups[i] = nil
	}
	type started struct {
		Run
		start int64
		id    [16]byte
	}
	all := make([]started, 0, len(runs))
	for _, r := range joinSessions(runs, sessions, opts) {
		out := r.translate()
		if len(r.byID) == 0 && len(out.Tape.Records) == 0 && len(r.nodes) == 0 {
			// Log records that tell of no call are no run.
			continue
		}
		first, _ := r.span()
		all = append(all, started{out, first, r.id})
	}
	slices.SortStableFunc(all, func(a, b started) int {
		return cmp.Or(cmp.Compare(a.start, b.start), bytes.Compare(a.id[:], b.id[:]))
	})
	out := make([]Run, 0, len(all))
	for _, s := range all {
		out = append(out, s.Run)
	}
	return out, nil
}

// translate runs the passes over one trace.
func (r *run) translate() Run {
	r.mergeTwins()
	r.addLogCalls()
	r.linkMessages()
	r.judgeResults()
	r.httpSignals()
	r.addDraws()
	calls := r.order(r.calls(KindTool, KindModel, kindDraw))
	verdict := r.judge(slices.DeleteFunc(slices.Clone(calls), func(n *node) bool { return n.kind == kindDraw }))
	done := completion(calls)
	t := &tape.Tape{Records: make([]tape.Record, 0, len(calls))}
	var facts Facts
	for i, n := range calls {
		t.Records = append(t.Records, r.record(n, i+1, done[n]))
		if n.kind == KindModel {
			facts.InputTokens += deref(n.call.Usage.Input)
			facts.OutputTokens += deref(n.call.Usage.Output)
			facts.Cost = addCost(facts.Cost, n.call.Cost)
		}
	}
	t.Manifest = r.manifest(calls, verdict, t.Records)
	t.Manifest.Complete = doctor.Complete(t)
	evidence := r.recall(calls, t)
	r.opts.Attribution.Tape(t)
	if evidence != nil {
		// Without the good run beside it, something else may seem to fit.
		t.Manifest.Failure.Evidence = evidence
	}
	for _, n := range r.nodes {
		if n.Span != nil {
			facts.Spans++
		}
	}
	first, last := r.span()
	facts.DurationMS = float64(max(0, last-first)) / 1e6
	if root := r.rootSpan(); root != nil {
		facts.Tenant = r.opts.Tenant(root.Resource)
	}
	out := Run{Tape: t, Facts: facts}
	if r.opts.Lean {
		out.calls = calls
		r.forget()
	}
	return out
}

// forget lets go of what was remembered to read one span after the other. What
// writes records again reads none.
func (r *run) forget() {
	r.history = nil
	for _, n := range r.nodes {
		if n.Span != nil {
			n.history = nil
		}
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
