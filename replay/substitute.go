package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/yamlfile"
)

// Substitution puts the accounts and tenants of a sandbox in place of those that
// a program asks for. What is matched, recorded and shown are the arguments as the
// program has them; a call runs with the others.
type Substitution struct {
	// Values says what replaces what: a text as a whole, a number, and a word within
	// a longer text such as a URL. Words are bordered by anything but letters, digits,
	// "_" and "-".
	Values map[string]string `yaml:"values"`
	// Members are names of arguments, at any depth, that must have a substitute: a
	// call with another value in one of them does not run.
	Members []string `yaml:"members"`
}

// ReadSubstitution reads a substitution from a YAML or JSON file. An error names
// the file, the line and the field.
func ReadSubstitution(name string) (Substitution, error) {
	var s Substitution
	err := yamlfile.Read(name, &s, s.check)
	return s, err
}

func (s *Substitution) check() error {
	var faults []error
	for from, to := range s.Values {
		if from == "" || to == "" {
			faults = append(faults, &yamlfile.FieldError{Path: "values", Err: fmt.Errorf("%q -> %q: both sides must be there", from, to)})
		}
	}
	for i, name := range s.Members {
		if name == "" {
			faults = append(faults, &yamlfile.FieldError{Path: fmt.Sprintf("members[%d]", i), Err: errors.New("empty")})
		}
	}
	return errors.Join(faults...)
}

func (s *Substitution) empty() bool { return len(s.Values)+len(s.Members) == 0 }

// apply returns arguments with all substitutes in place and the paths where one
// is, or a sentence that says why a value has none.
func (s *Substitution) apply(args json.RawMessage) (out json.RawMessage, paths []string, refused string) {
	if s.empty() {
		return args, nil, ""
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return args, nil, "its arguments cannot be read: " + err.Error()
	}
	run := substituting{s: s}
	v = run.walk(v, "", "")
	if run.refused != "" || len(run.paths) == 0 {
		return args, nil, run.refused
	}
	out, err := encode(v)
	if err != nil {
		return args, nil, "its arguments cannot be written: " + err.Error()
	}
	slices.Sort(run.paths)
	return out, run.paths, ""
}

type substituting struct {
	s       *Substitution
	paths   []string
	refused string
}

// walk replaces in v, which stands at a path in a member.
func (r *substituting) walk(v any, path, member string) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = r.walk(v[name], redact.JoinPath(path, name), name)
		}
	case []any:
		for i := range v {
			v[i] = r.walk(v[i], path+"["+strconv.Itoa(i)+"]", member)
		}
	case string:
		out, all := r.s.text(v)
		r.judge(v, path, member, out != v, all)
		return out
	case json.Number:
		to, ok := r.s.Values[v.String()]
		r.judge(v.String(), path, member, ok, ok)
		switch {
		case !ok:
		case json.Valid([]byte(to)):
			return json.RawMessage(to)
		default:
			return to
		}
	}
	return v
}

// judge notes a substitute, or that one is wanted.
func (r *substituting) judge(value, path, member string, replaced, whole bool) {
	if replaced {
		r.paths = append(r.paths, path)
	}
	if whole || !slices.Contains(r.s.Members, member) || r.refused != "" {
		return
	}
	for _, to := range r.s.Values {
		if value == to {
			return // It is one of the sandbox's already.
		}
	}
	r.refused = fmt.Sprintf("the value of %s has no substitute: add it to the file of --substitute (Substitution.Values)", path)
}

// text replaces in a text; whole is set when it was one value.
func (s *Substitution) text(text string) (out string, whole bool) {
	if to, ok := s.Values[text]; ok {
		return to, true
	}
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		if to, ok := s.Values[word]; ok {
			word = to
		}
		b.WriteString(word)
		if text = text[end:]; text != "" {
			_, size := utf8.DecodeRuneInString(text)
			b.WriteString(text[:size])
			text = text[size:]
		}
	}
	return b.String(), false
}

func inWord(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }
