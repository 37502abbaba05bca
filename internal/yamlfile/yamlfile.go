// Package yamlfile reads the small files that people write for a replay, such as
// a policy or a list of overrides: YAML, and so JSON too.
//
// It promises that a field that does not exist is an error, as it is most often a
// misspelt one, and that an error is one line that names the line of the file and
// the field. A file is decoded once, and a second time only to find lines.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// ErrEmpty is a file with nothing in it.
var ErrEmpty = errors.New("there is nothing in it")

// FieldError says which field of a file is wrong.
type FieldError struct {
	// Path is that of the field, such as "rules[2].when".
	Path string
	Err  error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// Read decodes the file into v and asks check what is wrong with it, which may be
// several [*FieldError] joined.
func Read(name string, v any, check func() error) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := Decode(text, v, check); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Decode is [Read] for a text.
func Decode(text []byte, v any, check func() error) error {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(v); errors.Is(err, io.EOF) {
		return ErrEmpty
	} else if err != nil {
		return plain(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("more than one YAML document")
	}
	err := check()
	if err == nil {
		return nil
	}
	var root yaml.Node
	// It has been decoded once.
	_ = yaml.Unmarshal(text, &root)
	return placed(err, &root)
}

var goType = regexp.MustCompile(` (?:in|into) (?:type )?[a-z]*\.?\S*$`)

// plain is the first error of the decoder, without the names of Go types.
func plain(err error) error {
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) && len(wrong.Errors) > 0 {
		return errors.New(goType.ReplaceAllString(wrong.Errors[0], ""))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
}

// lineError is a fault with its line.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// faults is several errors in one line.
type faults []error

func (f faults) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (f faults) Unwrap() []error { return f }

// placed adds the line to each fault.
func placed(err error, root *yaml.Node) error {
	all := []error{err}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		all = list.Unwrap()
	}
	var out faults
	for _, fault := range all {
		var f *FieldError
		if errors.As(fault, &f) {
			fault = &lineError{lineOf(root, f.Path), fault}
		}
		out = append(out, fault)
	}
	return out
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
	if i, err := strconv.Atoi(step); err == nil && node.Kind == yaml.SequenceNode && i < len(node.Content) {
		return node.Content[i]
	}
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == step {
			return node.Content[i+1]
		}
	}
	return nil
}
