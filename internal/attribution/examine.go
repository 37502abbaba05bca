package attribution

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/toolschema"
	"github.com/tapedeck/tapedeck/tape"
)

// examination is what the judging of one tape remembers. Each question about the
// tape is answered from a map, however many calls failed.
type examination struct {
	*Attributor
	t *tape.Tape
	// tools are the definitions of the run, by name; goodTools those of the good
	// run.
	tools, goodTools map[string]*tape.Tool
	// well holds the tools of which a call went well, anywhere in the run.
	well    map[string]bool
	schemas map[*tape.Tool]*toolschema.Schema
	// writes are the writes before the record at hand, by key.
	writes map[string]write
}

// write is a call with side effects that may have happened.
type write struct {
	seq      int
	timedOut bool
}

func newExamination(a *Attributor, t *tape.Tape, good *Good) *examination {
	e := &examination{
		Attributor: a, t: t, tools: toolsOf(t), well: map[string]bool{}, schemas: map[*tape.Tool]*toolschema.Schema{},
		writes: map[string]write{}, goodTools: good.toolsByName(),
	}
	for i := range t.Records {
		if rec := &t.Records[i]; !rec.Failed() {
			e.well[rec.Tool] = true
		}
	}
	return e
}

func toolsOf(t *tape.Tape) map[string]*tape.Tool {
	if t.Manifest == nil {
		return nil
	}
	out := make(map[string]*tape.Tool, len(t.Manifest.Tools))
	for i := range t.Manifest.Tools {
		tool := &t.Manifest.Tools[i]
		if out[tool.Name] == nil {
			out[tool.Name] = tool
		}
	}
	return out
}

// passed notes a record before the next is judged.
func (e *examination) passed(rec *tape.Record) {
	if rec.SideEffect == nil || !*rec.SideEffect {
		return
	}
	w := write{seq: rec.Seq}
	if rec.Failed() {
		for _, f := range e.byRules(rec.Tool, rec.Error) {
			w.timedOut = w.timedOut || f.Class == ExternalTimeout
		}
		if _, known := e.writes[rec.Key]; known || !w.timedOut {
			return
		}
	}
	if before, known := e.writes[rec.Key]; !known || before.timedOut {
		e.writes[rec.Key] = w
	}
}

// record lists what fits a failed record, the earliest cause first; there is
// always at least one.
func (e *examination) record(rec *tape.Record) []Finding {
	if rec.KindOf() != tape.KindTool {
		return e.recorded(rec, rank(append(e.byRules(rec.Tool, rec.Error), policy(rec)...)))
	}
	tool := e.tools[rec.Tool]
	changed := e.changed(rec, tool)
	// Of one class what can be checked stands before what an error says in words.
	found := slices.Concat(changed, e.selection(rec), e.arguments(rec, tool, changed), e.byRules(rec.Tool, rec.Error))
	found = append(found, e.unapproved(rec)...)
	found = append(found, e.repeated(rec)...)
	found = e.recorded(rec, rank(append(found, policy(rec)...)))
	if len(changed) > 0 || rec.FailureClass == SchemaMismatch {
		changedFirst(found)
	}
	return found
}

// changedFirst puts a schema that changed since the good run before arguments that
// were wrong: the change was there before the model wrote them.
func changedFirst(found []Finding) {
	for i := 1; i < len(found); i++ {
		if found[i].Class == SchemaMismatch && found[i-1].Class == ArgsGeneration {
			found[i-1], found[i] = found[i], found[i-1]
		}
	}
}

// recorded adds the class that a recorder wrote on a record: it may have seen more
// than the tape shows, such as the last good run.
func (e *examination) recorded(rec *tape.Record, found []Finding) []Finding {
	var kept []string
	if m := e.t.Manifest; m != nil && m.Failure != nil && m.Failure.Seq == rec.Seq {
		kept = m.Failure.Evidence
	}
	return withClass(found, rec.FailureClass, kept)
}

// withClass adds a class that was found before, with the evidence that a manifest
// keeps of it.
func withClass(found []Finding, class string, kept []string) []Finding {
	if !slices.Contains(causes, class) || slices.ContainsFunc(found, func(f Finding) bool { return f.Class == class }) {
		return found
	}
	before := Finding{class, "the recorder says so"}
	for _, text := range kept {
		if evidence, ok := strings.CutPrefix(text, class+": "); ok {
			before.Evidence = evidence
		}
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.Class == Unattributed })
	return rank(append(found, before))
}

// classFirst moves a class to the front of what was found.
func classFirst(found []Finding, class string) {
	for i := range found {
		if found[i].Class == class {
			first := found[i]
			copy(found[1:], found[:i])
			found[0] = first
			return
		}
	}
}

func policy(rec *tape.Record) []Finding {
	if !denied(rec.PolicyResult) {
		return nil
	}
	return []Finding{{PolicyRegression, fmt.Sprintf("policy_result is %q", rec.PolicyResult)}}
}

// selection: the model called a tool it was not given.
func (e *examination) selection(rec *tape.Record) []Finding {
	if len(e.tools) == 0 || e.tools[rec.Tool] != nil || !e.calledByName(rec) {
		return nil
	}
	return []Finding{{ToolSelection, fmt.Sprintf("the model was not given a tool %q", rec.Tool)}}
}

// calledByName guards against names that differ between the tool list and the
// span, such as a class or a server prefix: if a call of that name went well, the
// name is not the fault.
func (e *examination) calledByName(rec *tape.Record) bool {
	if e.well[rec.Tool] {
		return false
	}
	for name := range e.tools {
		if strings.HasSuffix(rec.Tool, name) || strings.HasSuffix(name, rec.Tool) {
			return false
		}
	}
	return true
}

// unapproved: a tool that is declared to need an approval was called without.
func (e *examination) unapproved(rec *tape.Record) []Finding {
	if rec.ApprovalID != "" {
		return nil
	}
	glob := matchGlob(e.approval, rec.Tool)
	if glob == "" {
		return nil
	}
	return []Finding{{ApprovalMissing, fmt.Sprintf("tools like %q need an approval, and there is no approval_id", glob)}}
}

// repeated: a write that had been made before with the same arguments.
func (e *examination) repeated(rec *tape.Record) []Finding {
	if rec.SideEffect == nil || !*rec.SideEffect {
		return nil
	}
	before, made := e.writes[rec.Key]
	switch {
	case !made:
		return nil
	case before.timedOut:
		return []Finding{{SideEffectConflict, fmt.Sprintf("the same write timed out at step %d and may have been made", before.seq)}}
	}
	return []Finding{{SideEffectConflict, fmt.Sprintf("the same write went well at step %d", before.seq)}}
}

func denied(policy string) bool {
	var word string
	if json.Unmarshal([]byte(policy), &word) != nil {
		word = policy
	}
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "deny", "denied", "block", "blocked", "reject", "rejected", "fail", "failed":
		return true
	default:
		return false
	}
}
