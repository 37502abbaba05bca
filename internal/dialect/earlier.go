package dialect

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/tape"
)

// recall takes over why calls failed from the marks of an earlier pass, which the
// recorder writes and takes away from what senders send. It may have compared with
// the last good run, and a row with its verdict has gone out: a tape that is made
// again says the same. What it returns is the evidence of the run's failure, nil
// where no mark has any.
func (r *run) recall(calls []*node, t *tape.Tape) (evidence []string) {
	for i, n := range calls {
		if rec := &t.Records[i]; rec.Failed() && n.Span != nil {
			rec.FailureClass = failureClass(n.Str("tape.failure_class"))
		}
	}
	f := t.Manifest.Failure
	if f == nil {
		return nil
	}
	if f.Seq > 0 {
		if n := calls[f.Seq-1]; n.Span != nil {
			return n.texts("tape.failure_evidence")
		}
	}
	// Only the root told of the failure, or the call has no span: the row is all
	// that keeps its class.
	for _, n := range r.nodes {
		if n.Span == nil {
			continue
		}
		if class := failureClass(n.Str("tape.run.failure_class")); class != "" {
			f.Class = class
			if f.Seq > 0 {
				t.Records[f.Seq-1].FailureClass = class
			}
			return n.texts("tape.failure_evidence")
		}
	}
	return nil
}

// failureClass is a word that is a class, "" for any other.
func failureClass(word string) string {
	if slices.Contains(tape.FailureClasses, word) {
		return word
	}
	return ""
}

// texts are the elements of a list of texts.
func (s *Span) texts(key string) []string {
	v, ok := s.Attr(key)
	if !ok || v.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	var out []string
	for _, e := range v.Slice().All() {
		if e.Type() == pcommon.ValueTypeStr {
			out = append(out, e.Str())
		}
	}
	return out
}
