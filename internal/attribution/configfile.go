package attribution

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// ParseConfig reads a [Config] from YAML. An error is one line that names the line
// and the field; fields that do not exist are errors too.
func ParseConfig(text []byte) (Config, error) {
	var c Config
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	switch err := dec.Decode(&c); {
	case errors.Is(err, io.EOF):
		return c, nil
	case err != nil:
		return Config{}, yamlError(err)
	}
	if err := dec.Decode(new(Config)); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("more than one YAML document")
	}
	err := c.Validate()
	if err == nil {
		return c, nil
	}
	var root yaml.Node
	// It has been decoded once.
	_ = yaml.Unmarshal(text, &root)
	return Config{}, placed(err, &root)
}

var ofType = regexp.MustCompile(` (?:in|into) (?:type )?[a-z]*\.?\S*$`)

// yamlError is the first error of a decoder, without the names of Go types.
func yamlError(err error) error {
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) && len(wrong.Errors) > 0 {
		return errors.New(ofType.ReplaceAllString(wrong.Errors[0], ""))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
}

// placed adds the line to each fault of a file.
func placed(err error, root *yaml.Node) error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var texts []string
	for _, fault := range list.Unwrap() {
		text := fault.Error()
		var f *FieldError
		if errors.As(fault, &f) {
			text = fmt.Sprintf("line %d: %s", lineOf(root, f.Path), text)
		}
		texts = append(texts, text)
	}
	return errors.New(strings.Join(texts, "; "))
}

// lineOf finds the line of a path, or of what of it there is.
func lineOf(node *yaml.Node, path string) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := childOf(node, step)
		if next == nil {
			break
		}
		node = next
	}
	return node.Line
}

func childOf(node *yaml.Node, step string) *yaml.Node {
	if i, err := strconv.Atoi(step); err == nil {
		if node.Kind == yaml.SequenceNode && i < len(node.Content) {
			return node.Content[i]
		}
		return nil
	}
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == step {
			return node.Content[i+1]
		}
	}
	return nil
}
