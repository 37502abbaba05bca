package regress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/replay/rules"
)

// Rules are what a replay may take for the same, in the language of a rules file.
type Rules []rules.Rule

// UnmarshalYAML reads the list. Members that do not exist are errors, here as
// elsewhere.
func (r *Rules) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.SequenceNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: rules: not a list", node.Line)}}
	}
	for _, item := range node.Content {
		var value any
		if err := item.Decode(&value); err != nil {
			return err
		}
		text, err := json.Marshal(value)
		if err != nil {
			return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: rules: %v", item.Line, err)}}
		}
		var rule rules.Rule
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		err = dec.Decode(&rule)
		if err == nil {
			_, err = rules.Compile(&rules.Policy{Rules: []rules.Rule{rule}})
		}
		var of *rules.RuleError
		if errors.As(err, &of) {
			err = fmt.Errorf("member %q: %w", of.Member, of.Err)
		}
		if err != nil {
			return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: rules: %v", item.Line, err)}}
		}
		*r = append(*r, rule)
	}
	return nil
}
