package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// Unanswered is why a gap is there where a model asked for a call of which
// nothing else was ever seen: no span, no answer. Such a call may never have
// run. The gap is that of its result, so that a replay meets it as one.
const Unanswered = "requested by the model, never answered in this trace"

// Switches of every OpenTelemetry SDK that cut or drop content.
const (
	countFix  = "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT of the instrumented program"
	lengthFix = "raise OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT of the instrumented program"
)

// rootFix is what brings a root that was not seen.
const rootFix = "send the spans of every service of the run here, and end the root span also when the program fails"

// aloneFix is what brings the answer to a call that a model asked for in a trace
// that holds nothing but this one request: the answer went into the next trace.
const aloneFix = "start a span around the whole run, so that all its calls are in one trace"

// Reasons that name an SDK's limits.
const (
	whyDropped = "attributes were dropped at a limit of the instrumented program"
	whyCut     = "cut by an attribute limit of the instrumented program"
	whyInside  = "the text ends inside a value"
)

// captured are the kinds of content that an instrumentation shows to record in
// this run: where it does, its switch is on, and turning it on mends nothing.
type captured map[capture]bool

type capture struct {
	dialect string
	kind    Kind
	result  bool
}

// contentOn finds what the instrumentations of a run record.
func contentOn(calls []*node) captured {
	out := captured{}
	for _, n := range calls {
		if n.synth {
			continue
		}
		for _, c := range [...]struct {
			Content
			result bool
		}{{n.written.args, false}, {n.written.result, true}} {
			if c.Present() && !c.FromMessages {
				out[capture{n.call.Dialect, n.kind, c.result}] = true
			}
		}
	}
	return out
}

// gaps are what a record lacks, and what would mend it.
func (k captured) gaps(n *node, seq int) []tape.Gap {
	args, result := n.written.args, n.written.result
	var out []tape.Gap
	add := func(what string, c Content) {
		g := tape.Gap{Seq: seq, What: what, Why: firstOf(c.Why, n.call.Never, "not captured")}
		switch {
		case n.unanswered() && what == "result":
			g.Why = Unanswered
			if model := n.asked.model; model.Span != nil && model.ParentSpanID().IsEmpty() {
				g.Fix = aloneFix
			}
		case c.Why == whyDropped:
			g.Fix = countFix
		case c.Why == whyCut, c.Why == whyInside:
			g.Fix = lengthFix
		case c.Grade == Truncated, c.Why == whySummary, c.Why == whyUnserialisable:
		case !k[capture{n.call.Dialect, n.kind, what == "result"}]:
			g.Fix = n.call.Fix
		}
		out = append(out, g)
	}
	if !args.Present() || args.Grade == Truncated {
		add("args", args)
	}
	if !result.Present() && n.fail == nil || result.Grade == Truncated {
		add("result", result)
	}
	return out
}

// Advice where spans are missing inside a tree. Which of the causes it was, the
// spans that came do not tell.
const (
	whyHoles = "spans name parents that never came: sampling or a lost batch upstream is a likely cause, and calls may be missing"
	holesFix = "send all spans of a trace: no head or tail sampler in front"
)

// spanGap is the gap of a run of which spans are missing: its root, or parents
// further down, or both. A root's own parent that was not seen is no hole, and
// neither is one that several spans without a root have in common.
func (r *run) spanGap(root *node) []tape.Gap {
	if root == nil {
		return []tape.Gap{{What: "root", Why: "there are log records and no spans, which do not tell whether the run ended"}}
	}
	rooted, holes := root.ParentSpanID().IsEmpty(), false
	for _, n := range r.nodes {
		if n.Span == nil {
			continue
		}
		p := n.ParentSpanID()
		if !p.IsEmpty() && r.byID[p] == nil && p != root.ParentSpanID() {
			holes = true
			break
		}
	}
	var out []tape.Gap
	if !rooted {
		out = append(out, tape.Gap{What: "root", Why: "no root span was seen", Fix: rootFix})
	}
	if holes {
		out = append(out, tape.Gap{What: "span", Why: whyHoles, Fix: holesFix})
	}
	return out
}

// crewFix is what brings the tool calls of CrewAI, which OpenLLMetry does not
// record.
const crewFix = "add an instrumentation of CrewAI that records tools, such as OpenInference's"

// crewGap is the gap of a run of which the instrumentation writes no tool calls
// at all: they are text inside the messages of the models, in a form that the
// prompt decides, and nothing tells what was really run.
func (r *run) crewGap(calls []*node) []tape.Gap {
	for _, n := range calls {
		if n.kind == KindTool {
			return nil
		}
	}
	for _, n := range r.nodes {
		if n.Span != nil && strings.HasPrefix(n.Scope.Name(), "opentelemetry.instrumentation.crewai") {
			return []tape.Gap{{What: "tools", Why: "OpenLLMetry writes no tool calls of CrewAI; they are text in the messages of the models", Fix: crewFix}}
		}
	}
	return nil
}
