package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// verdict is how a run ended.
type verdict struct {
	outcome tape.Outcome
	// failing is the call that made the run fail, nil where only the root did.
	failing *node
	reason  string
}

// judge decides the outcome of a run from its calls in order.
func (r *run) judge(calls []*node) verdict {
	root := r.failedRoot()
	if root != nil {
		r.blameOpen(root, calls)
	}
	last, failed := r.fatal(calls), lastFailed(calls)
	evaluation := ""
	if root == nil && last == nil {
		evaluation = r.failedEvaluation()
	}
	switch {
	case root != nil:
		v := verdict{outcome: tape.OutcomeFailed, failing: last, reason: root.fail.text()}
		// An earlier failure that the run got over is not why it failed, unless
		// the root says the same.
		if last == nil && failed != nil && failed.fail.Message != "" && strings.Contains(v.reason, failed.fail.Message) {
			v.failing = failed
		}
		if v.reason == "" && v.failing != nil {
			v.reason = v.failing.fail.text()
		}
		return v
	case last != nil:
		return verdict{tape.OutcomeFailed, last, last.fail.text()}
	case evaluation != "":
		return verdict{outcome: tape.OutcomeFailed, reason: evaluation}
	case r.unfinished(calls):
		return verdict{outcome: tape.OutcomeIncomplete, reason: "the run never ended"}
	case failed != nil:
		return verdict{tape.OutcomeRecovered, failed, failed.fail.text()}
	}
	return verdict{outcome: tape.OutcomeSucceeded}
}

func (f *Failure) text() string {
	if f == nil {
		return ""
	}
	return firstOf(f.Message, f.Type)
}

// failedRoot is a root, or an agent with no agent around it, that ended in
// error. A root whose parent was not seen counts if it holds calls.
func (r *run) failedRoot() *node {
	var found *node
	for _, n := range r.nodes {
		if n.Span == nil || n.kind == KindTool || n.kind == KindModel || n.kind == KindPart {
			continue
		}
		top := n.up == nil
		if n.kind == KindAgent && !top {
			top = n.outermostAgent()
		}
		if !top || found != nil && !n.encloses(found) {
			continue
		}
		if n.fail == nil && n.errored() {
			f := &Failure{Evidence: "root"}
			f = f.merge(exceptionOf(n.Span))
			f.Message = firstOf(f.Message, firstLine(n.Status().Message()), firstLine(n.Str("langfuse.observation.status_message")))
			n.fail = f
		}
		if n.fail == nil || n.up == nil && !n.ParentSpanID().IsEmpty() && !r.holdsCalls(n) {
			continue
		}
		found = n
	}
	return found
}

func (n *node) outermostAgent() bool {
	for up := n.near; up != nil; up = up.near {
		if up.kind == KindAgent || up.kind == KindTool {
			return false
		}
	}
	return true
}

func (r *run) holdsCalls(root *node) bool {
	for _, n := range r.nodes {
		if (n.kind == KindTool || n.kind == KindModel) && n != root && n.root == root {
			return true
		}
	}
	return false
}

// blameOpen gives the error of a failed root to the one call that was still
// open: asked for by the last model call and never answered. With more than one
// open nobody knows which it was.
func (r *run) blameOpen(root *node, calls []*node) {
	var open *node
	for _, n := range calls {
		if n.fail != nil {
			return
		}
		if !n.synth || n.asked.answer != nil {
			continue
		}
		if open != nil {
			return
		}
		open = n
	}
	if open == nil {
		return
	}
	for _, n := range calls {
		if n.kind == KindModel && n.start >= open.start {
			return
		}
	}
	f := *root.fail
	f.Evidence = "root"
	open.fail = &f
}

// fatal is a failed call that nothing followed: no call began after it, and no
// call around it ended well.
func (r *run) fatal(calls []*node) *node {
	var latest int64
	modelled := false
	for _, n := range calls {
		modelled = modelled || n.kind == KindModel
		if n.unanswered() && n.fail == nil {
			continue
		}
		latest = max(latest, n.start)
	}
next:
	for i := len(calls) - 1; i >= 0; i-- {
		n := calls[i]
		// A call of no length does not follow itself.
		followed := latest > n.end || latest == n.end && n.start < n.end
		if n.fail == nil || n.end != 0 && followed || n.asked != nil && n.asked.by != nil {
			continue
		}
		for up := n.near; up != nil; up = up.near {
			if up.kind == KindTool && up.fail == nil && up.end >= n.end {
				continue next
			}
		}
		if !modelled && n.answeredByRoot() {
			continue
		}
		return n
	}
	return nil
}

// answeredByRoot reports whether the run gave a final answer after the failed
// call: a root that ended well and has output. It is asked only where model
// calls are not recorded, which would show the answer themselves.
func (n *node) answeredByRoot() bool {
	top := n.root
	if top == nil || top == n || top.errored() || top.end < n.end {
		return false
	}
	return top.answered()
}

func (n *node) unanswered() bool { return n.synth && n.asked.answer == nil }

func lastFailed(calls []*node) *node {
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].fail != nil {
			return calls[i]
		}
	}
	return nil
}

// unfinished reports whether calls were left open-ended: a span without an end,
// or requests of the last model call that nothing ran in a run without a root.
func (r *run) unfinished(calls []*node) bool {
	rooted := false
	for _, n := range r.nodes {
		if n.Span != nil && n.up == nil && n.call == nil && n.end != 0 || n.kind == KindAgent && n.end != 0 {
			rooted = true
		}
	}
	for i, n := range calls {
		if !n.synth && n.end == 0 {
			return true
		}
		if n.unanswered() && !rooted && i == len(calls)-1 {
			return true
		}
	}
	return false
}

// rootSpan is the span that stands for the whole run: a true root, or else the
// earliest span whose parent was not seen.
func (r *run) rootSpan() *node {
	var local *node
	for _, n := range r.nodes {
		if n.Span == nil || n.up != nil {
			continue
		}
		if n.ParentSpanID().IsEmpty() {
			return n
		}
		if local == nil {
			local = n
		}
	}
	return local
}

// statusOf is the trigger and outcome an earlier pass wrote on the spans.
func (r *run) statusOf() (tape.Outcome, tape.Trigger) {
	for _, n := range r.nodes {
		if n.Span != nil && n.outcome != "" {
			return tape.Outcome(n.outcome), tape.Trigger(n.trigger)
		}
	}
	return "", ""
}
