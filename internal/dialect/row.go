package dialect

import (
	"iter"
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// Facts are what a summary row tells beyond the tape itself.
type Facts struct {
	// Spans counts the spans the run was read from, each once.
	Spans int
	// DurationMS is first start to last end, never negative.
	DurationMS float64
	// InputTokens and OutputTokens sum up the real model calls: a wrapper or a
	// twin counts nothing.
	InputTokens  int64
	OutputTokens int64
	// Cost is the sum in US dollars of those that say theirs, nil when none does.
	Cost   *float64
	Tenant string
}

// Run is a tape with the facts its row needs.
type Run struct {
	Tape  *tape.Tape
	Facts Facts

	// calls are those of the records of a lean translation.
	calls []*node
}

// Each are the records of the run with their content, also of a lean
// translation, which holds the content of one at a time: a consumer that writes
// each and lets it go needs no more memory for a tape of any length than for
// its longest record. Such a Run keeps the traces alive that [Runs] was given.
func (r Run) Each() iter.Seq[tape.Record] {
	return func(yield func(tape.Record) bool) {
		for i := range r.Tape.Records {
			rec := r.Tape.Records[i]
			if r.calls != nil && r.calls[i].kind == KindModel {
				r.calls[i].rewrite(&rec)
			}
			if !yield(rec) {
				return
			}
		}
	}
}

// rewrite writes the content of a model call again.
func (n *node) rewrite(rec *tape.Record) {
	q := n.call.request(nil)
	args, result := q.content(n.call.Request, true), n.call.response()
	rec.Bodies, rec.Redacted = nil, nil
	q.set(rec, &args)
	setContent(rec, &result, "result")
	if n.Span != nil {
		rec.Redacted = append(rec.Redacted, markedPaths(n.Span, args, result, rec.Redacted)...)
	}
}

// Row is the summary row of the run.
func (r Run) Row() tape.Row { return Row(r.Tape, r.Facts) }

// Row is the summary row of a run. Members that only the decision knows (kept,
// class, bytes, decided) stay zero.
func Row(t *tape.Tape, f Facts) tape.Row {
	m := t.Manifest
	row := tape.Row{
		TraceID: m.TraceID, ConversationID: m.ConversationID, Service: m.Service, Agent: m.Agent,
		Environment: m.Environment, AgentVersion: m.AgentVersion, CodeVersion: m.CodeVersion, Tenant: f.Tenant, Outcome: m.Outcome, Trigger: m.Trigger,
		Steps: len(t.Records), Spans: f.Spans, InputTokens: f.InputTokens, OutputTokens: f.OutputTokens, Cost: f.Cost,
		Start: m.Started, DurationMS: max(0, f.DurationMS), Fidelity: m.Fidelity, Complete: new(m.Complete),
	}
	if m.Failure != nil {
		row.FailureClass, row.FailureReason = m.Failure.Class, m.Failure.Reason
	}
	for i := range t.Records {
		rec := &t.Records[i]
		if rec.Failed() {
			row.FailedCalls++
		}
		if m.Failure != nil && m.Failure.Seq == rec.Seq {
			row.FailingTool = rec.Tool
		}
		switch rec.KindOf() {
		case tape.KindTool:
			row.ToolCalls++
			row.Tools = append(row.Tools, rec.Tool)
		case tape.KindModel:
			row.ModelCalls++
			if rec.Model != "" {
				row.Models = append(row.Models, rec.Model)
			}
		}
	}
	row.Tools, row.Models = distinct(row.Tools), distinct(row.Models)
	return row
}

// distinct sorts and drops repeats.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
