package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/tape"
)

// MaxSize bounds a policy file, in bytes.
const MaxSize = 1 << 20

// FileError says where a policy file is wrong.
type FileError struct {
	File string
	// Line counts from 1; 0 is the file as a whole.
	Line int
	// Rule names the rule, "" where it is about none.
	Rule string
	Err  error
}

func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Rule != "" {
		b.WriteString(": " + e.Rule)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap gives what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// ReadFile reads a policy from a YAML or JSON file. What is wrong with its
// content is a [*FileError].
func ReadFile(path string) (*Policy, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Parse reads a policy from YAML or JSON text; name is what errors call it.
func Parse(name string, text []byte) (*Policy, error) {
	p := &parser{file: name, policy: &Policy{}}
	if len(text) > MaxSize {
		return nil, &FileError{File: name, Err: fmt.Errorf("longer than %d bytes", MaxSize)}
	}
	var doc yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, &FileError{File: name, Err: fmt.Errorf("no YAML: %w", err)}
	}
	if len(doc.Content) == 0 {
		return nil, &FileError{File: name, Err: errors.New("there is no policy in it")}
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, &FileError{File: name, Err: errors.New("more than one document")}
	}
	if err := p.top(doc.Content[0]); err != nil {
		return nil, err
	}
	_, err := Compile(p.policy)
	var wrong *RuleError
	switch {
	case errors.As(err, &wrong):
		return nil, p.wrong(wrong)
	case err != nil:
		return nil, &FileError{File: name, Err: err}
	}
	return p.policy, nil
}

// parser goes over the nodes of a file, so that each error has its line.
type parser struct {
	file   string
	policy *Policy
	// lines are those of the rules and, by member, of what is in them.
	lines []map[string]int
	// rule names the rule being read.
	rule string
}

func (p *parser) fail(n *yaml.Node, format string, args ...any) error {
	return &FileError{File: p.file, Line: n.Line, Rule: p.rule, Err: fmt.Errorf(format, args...)}
}

// wrong says where a rule is that could not be compiled.
func (p *parser) wrong(e *RuleError) error {
	lines := p.lines[e.Index]
	line, ok := lines[e.Member]
	if !ok {
		line = lines[""]
	}
	return &FileError{File: p.file, Line: line, Rule: fmt.Sprintf("rule %d (%s)", e.Index+1, e.Title), Err: fmt.Errorf("member %q: %w", e.Member, e.Err)}
}

// members calls f for each member of a mapping.
func (p *parser) members(n *yaml.Node, what string, f func(name string, key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.fail(n, "%s is no mapping", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if seen[key.Value] {
			return p.fail(key, "member %q is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := f(key.Value, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) top(n *yaml.Node) error {
	return p.members(n, "the policy", func(name string, key, value *yaml.Node) (err error) {
		switch name {
		case "rules":
			return p.rules(value)
		case "presets":
			p.policy.Presets, err = p.texts(value, name)
			return err
		case "model":
			return p.members(value, "model", func(name string, key, value *yaml.Node) (err error) {
				if name != "params" {
					return p.fail(key, "model has no member %q, only params", name)
				}
				p.policy.Model.Params, err = p.texts(value, name)
				return err
			})
		}
		return p.fail(key, "there is no member %q; want rules, presets or model", name)
	})
}

func (p *parser) texts(n *yaml.Node, what string) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, p.fail(n, "%s is no list", what)
	}
	list := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		text, err := p.text(item, what)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

func (p *parser) text(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", p.fail(n, "%s is no text", what)
	}
	return n.Value, nil
}

func (p *parser) rules(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return p.fail(n, "rules is no list")
	}
	for i, item := range n.Content {
		p.rule = fmt.Sprintf("rule %d", i+1)
		r := Rule{}
		lines := map[string]int{"": item.Line}
		err := p.members(item, "it", func(name string, key, value *yaml.Node) error {
			lines[name] = value.Line
			return p.member(&r, name, key, value)
		})
		if err != nil {
			return err
		}
		for _, name := range []string{"path", "match"} {
			if _, ok := lines[name]; !ok {
				return p.fail(item, "member %q is missing", name)
			}
		}
		p.policy.Rules = append(p.policy.Rules, r)
		p.lines = append(p.lines, lines)
	}
	p.rule = ""
	return nil
}

// member reads one member of a rule.
func (p *parser) member(r *Rule, name string, key, value *yaml.Node) error {
	text, err := p.text(value, name)
	if err != nil {
		return err
	}
	switch name {
	case "name":
		r.Name = text
	case "kind":
		r.Kind = tape.Kind(text)
	case "tool":
		r.Tool = text
	case "path":
		r.Path = text
	case "match":
		r.Match = Match(text)
	case "in":
		r.In = text
	case "pattern":
		r.Pattern = text
	case "namespace":
		r.Namespace = text
	case "why":
		r.Why = text
	case "within":
		if err := r.Within.UnmarshalText([]byte(text)); err != nil {
			return p.fail(value, "within: want a duration like 90s or 5m: %w", err)
		}
	case "abs":
		r.Abs, err = strconv.ParseFloat(text, 64)
	case "rel":
		r.Rel, err = strconv.ParseFloat(text, 64)
	default:
		return p.fail(key, "there is no member %q; want name, kind, tool, path, match, in, within, abs, rel, pattern, namespace or why", name)
	}
	if err != nil || math.IsNaN(r.Abs) || math.IsNaN(r.Rel) {
		return p.fail(value, "%s: %q is no number", name, text)
	}
	return nil
}
