package dialect

import (
	"crypto/sha256"
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/tape"
)

// Recorder is written into the manifest of every tape.
const Recorder = "tapedeck"

// manifest describes the run.
func (r *run) manifest(calls []*node, v verdict, records []tape.Record) *tape.Manifest {
	first, last := r.span()
	m := &tape.Manifest{
		Tape: tape.Version, TraceID: hex.EncodeToString(r.id[:]), Recorder: Recorder,
		Started: stamp(first), Ended: stamp(last), Outcome: v.outcome, Trigger: r.opts.Trigger,
		ConversationID: r.conversation(),
	}
	seenOutcome, seenTrigger := r.statusOf()
	if m.Trigger == "" {
		m.Trigger = seenTrigger
	}
	root := r.rootSpan()
	if root != nil {
		if seenOutcome == tape.OutcomeIncomplete && v.outcome == tape.OutcomeSucceeded && !root.ParentSpanID().IsEmpty() {
			m.Outcome = tape.OutcomeIncomplete
		}
	}
	if res, ok := r.resource(root); ok {
		m.Service = serviceOf(res)
		m.CodeVersion = attrFirst(res, "service.version", "vcs.ref.head.revision", "vcs.repository.ref.revision", "git.commit.sha", "langfuse.release")
		m.Environment = attrFirst(res, "deployment.environment.name", "deployment.environment")
		if raw := attrsValue(res.Attributes()); len(raw.Members()) > 0 {
			m.Resource = []byte(raw.JSON())
		}
	}
	m.Agent, m.AgentVersion = r.agent()
	if m.Outcome == tape.OutcomeFailed || m.Outcome == tape.OutcomeRecovered {
		f := &tape.Failure{Reason: v.reason}
		for i, n := range calls {
			if n == v.failing {
				f.Seq = records[i].Seq
				f.Evidence = append(f.Evidence, n.fail.Evidence)
			}
		}
		m.Failure = f
	}
	known := contentOn(calls)
	for i := range records {
		m.Fidelity = worse(m.Fidelity, replayed(records[i]))
		m.Gaps = append(m.Gaps, known.gaps(calls[i], records[i].Seq)...)
	}
	if m.Fidelity == "" && len(records) > 0 {
		m.Fidelity = tape.FidelityAbsent
	}
	m.Gaps = append(m.Gaps, r.crewGap(calls)...)
	m.Gaps = append(m.Gaps, r.spanGap(root)...)
	m.Tools = toolTable(calls, records)
	return m
}

// resource is that of the root, or else that of the earliest log record.
func (r *run) resource(root *node) (pcommon.Resource, bool) {
	if root != nil {
		return root.Resource, true
	}
	for i := range r.logs {
		return r.logs[i].Resource, true
	}
	return pcommon.Resource{}, false
}

// replayed is the grade that matters for a replay. Model calls without content
// do not keep tools from replaying, so they do not count unless nothing else
// does.
func replayed(rec tape.Record) tape.Fidelity {
	if rec.KindOf() == tape.KindModel && rec.Fidelity == tape.FidelityAbsent {
		return ""
	}
	return rec.Fidelity
}

// toolTable lists the tools that models were offered, as last defined, and
// writes into each record the version that was in force when it was asked for.
func toolTable(calls []*node, records []tape.Record) []tape.Tool {
	var out []tape.Tool
	at := map[string]int{}
	put := func(t tape.Tool) {
		if t.SchemaVersion == "" && len(t.Schema) > 0 {
			t.SchemaVersion = schemaVersion(t.Schema)
		}
		i, ok := at[t.Name]
		if !ok {
			at[t.Name] = len(out)
			out = append(out, t)
			return
		}
		if len(t.Schema) > 0 || len(out[i].Schema) == 0 {
			pick(&t.Description, out[i].Description)
			out[i] = t
		}
	}
	effects := map[string]*bool{}
	for i, n := range calls {
		if n.kind == KindModel {
			for _, t := range n.call.Tools {
				put(t.Tool)
				effects[t.Name] = t.sideEffect
			}
			continue
		}
		if n.kind != KindTool {
			continue
		}
		for _, t := range n.call.Tools {
			put(t.Tool)
		}
		if records[i].SideEffect == nil {
			records[i].SideEffect = effects[n.call.Tool]
		}
		records[i].SchemaVersion = inForce(out, at, n.call.Tool)
	}
	for i, n := range calls {
		if n.kind != KindTool {
			continue
		}
		if records[i].SchemaVersion == "" {
			records[i].SchemaVersion = inForce(out, at, n.call.Tool)
		}
		if j, ok := at[n.call.Tool]; ok {
			pick(&out[j].Description, n.call.Description)
		} else if n.call.Description != "" {
			put(tape.Tool{Name: n.call.Tool, Description: n.call.Description})
		}
	}
	return out
}

func inForce(tools []tape.Tool, at map[string]int, name string) string {
	if i, ok := at[name]; ok {
		return tools[i].SchemaVersion
	}
	return ""
}

// schemaVersion identifies a schema without a version by its canonical hash.
func schemaVersion(schema []byte) string {
	canonical, err := tape.Canonical(schema)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// conversation is the id the surest attribute of the earliest span names.
func (r *run) conversation() string {
	best, rank := "", 0
	for _, n := range r.nodes {
		if n.Span != nil && n.convRank > 0 && (rank == 0 || n.convRank < rank) {
			best, rank = n.conv, n.convRank
		}
	}
	if best != "" {
		return best
	}
	for _, n := range r.nodes {
		if n.call != nil && n.call.Conversation != "" {
			return n.call.Conversation
		}
	}
	return ""
}

// agent is the outermost agent that has a name.
func (r *run) agent() (name, version string) {
	for _, n := range r.nodes {
		if n.kind == KindAgent && n.call.Agent != "" {
			return n.call.Agent, n.call.AgentVersion
		}
	}
	for _, n := range r.nodes {
		if n.Span != nil && n.agentName != "" {
			return n.agentName, ""
		}
	}
	return "", ""
}

// span is the time between the first start and the last end: that of the spans,
// or without any that of the calls in log records.
func (r *run) span() (first, last int64) {
	extend := func(start, end int64) {
		if start > 0 && (first == 0 || start < first) {
			first = start
		}
		last = max(last, end, start)
	}
	for _, n := range r.nodes {
		if n.Span != nil {
			extend(int64(n.StartTimestamp()), int64(n.EndTimestamp()))
		}
	}
	if last != 0 {
		return first, last
	}
	for _, n := range r.nodes {
		if n.log != nil {
			extend(n.start, n.end)
		}
	}
	return first, last
}

func serviceOf(res pcommon.Resource) string { return attrFirst(res, "service.name") }

func attrFirst(res pcommon.Resource, keys ...string) string {
	for _, key := range keys {
		if v, ok := res.Attributes().Get(key); ok && v.AsString() != "" {
			return v.AsString()
		}
	}
	return ""
}
