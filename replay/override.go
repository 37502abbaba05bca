package replay

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/tapedeck/tapedeck/tape"
)

// Substitute is an answer to give in place of a recorded one.
type Substitute struct {
	result json.RawMessage
	err    *tape.Error
	fault  error
}

// AnswerResult answers with a value, marshalled to JSON, as success.
func AnswerResult(result any) Substitute {
	text, err := encode(result)
	if err == nil {
		_, err = tape.Canonical(text)
	}
	return Substitute{result: text, fault: err}
}

// AnswerError answers with a failure, such as code "500".
func AnswerError(code, message string) Substitute {
	return Substitute{err: &tape.Error{Code: code, Message: message, Type: "override"}}
}

// overrides holds the substitutes; the narrower one wins.
type overrides struct {
	bySeq  map[int]*Substitute
	byKey  map[string]*Substitute
	byTool map[string]*Substitute
}

func (o *overrides) find(st *step) *Substitute {
	if s := o.bySeq[st.seq]; s != nil {
		return s
	}
	if s := o.byKey[st.key]; s != nil {
		return s
	}
	return o.byTool[st.record.Tool]
}

// OverrideStep replaces the answer of the record at a position. The call must
// still match the record: an override changes what came back, not what was
// asked.
func OverrideStep(seq int, answer Substitute) Option {
	return func(c *config) error {
		return setOverride(&c.overrides.bySeq, seq, answer)
	}
}

// OverrideKey replaces the answers of all records with a key.
func OverrideKey(key string, answer Substitute) Option {
	return func(c *config) error {
		return setOverride(&c.overrides.byKey, key, answer)
	}
}

// OverrideTool replaces the answers of all records of a tool.
func OverrideTool(tool string, answer Substitute) Option {
	return func(c *config) error {
		return setOverride(&c.overrides.byTool, tool, answer)
	}
}

func setOverride[K comparable](m *map[K]*Substitute, at K, answer Substitute) error {
	if answer.fault != nil {
		return fmt.Errorf("override of %v: %w", at, answer.fault)
	}
	if *m == nil {
		*m = map[K]*Substitute{}
	}
	(*m)[at] = &answer
	return nil
}

// check refuses overrides of what is not on the tape: they would change
// nothing, and the replay would look as if they had.
func (o *overrides) check(d *deck) error {
	seqs, keys, tools := maps.Clone(o.bySeq), maps.Clone(o.byKey), maps.Clone(o.byTool)
	for i := range d.steps {
		st := &d.steps[i]
		delete(seqs, st.seq)
		delete(keys, st.key)
		delete(tools, st.record.Tool)
	}
	for seq := range seqs {
		return fmt.Errorf("override of step %d: there is no such step", seq)
	}
	for key := range keys {
		return fmt.Errorf("override of %s: no record has this key", key)
	}
	for tool := range tools {
		return fmt.Errorf("override of %s: no record is of this tool", tool)
	}
	return nil
}
