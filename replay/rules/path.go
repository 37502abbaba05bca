package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSegments bounds the length of a path.
const maxSegments = 64

// Path is a parsed path with wildcards.
type Path []segment

// segment is one step of a path.
type segment struct {
	name string
	// index is that of an element, -1 for a name.
	index int
	// any is a name or index, whatever it is; deep is any number of them.
	any, deep bool
}

// ParsePath reads a path in the language of differences: names joined by dots,
// [2] for an element, ["a.b"] for a name with other than letters, digits, _ and
// -. Beside that * and [*] stand for any name or index, and ** for any number of
// them, none included. The empty path is the whole value.
func ParsePath(text string) (Path, error) {
	var p Path
	for i := 0; i < len(text); {
		if len(p) == maxSegments {
			return nil, fmt.Errorf("more than %d steps", maxSegments)
		}
		s, n, err := parseSegment(text[i:], i == 0)
		if err != nil {
			return nil, fmt.Errorf("at %d: %w", i+1, err)
		}
		// Two ** are one.
		if !s.deep || len(p) == 0 || !p[len(p)-1].deep {
			p = append(p, s)
		}
		i += n
	}
	return p, nil
}

func parseSegment(text string, first bool) (s segment, n int, err error) {
	switch {
	case strings.HasPrefix(text, "["):
		return parseBracket(text)
	case first:
	case text[0] == '.':
		text, n = text[1:], 1
	default:
		return s, 0, errors.New("want a dot or a bracket between steps")
	}
	s.index = -1
	switch {
	case strings.HasPrefix(text, "**"):
		s.deep = true
		return s, n + 2, nil
	case strings.HasPrefix(text, "*"):
		s.any = true
		return s, n + 1, nil
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !plainRune(r) })
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return s, 0, errors.New(`want a name, *, ** or a bracket; other names are written ["…"]`)
	}
	s.name = text[:end]
	return s, n + end, nil
}

func parseBracket(text string) (s segment, n int, err error) {
	s.index = -1
	if strings.HasPrefix(text, "[*]") {
		s.any = true
		return s, len("[*]"), nil
	}
	if strings.HasPrefix(text, `["`) {
		decoder := json.NewDecoder(strings.NewReader(text[1:]))
		if err := decoder.Decode(&s.name); err != nil {
			return s, 0, fmt.Errorf("the name in brackets is no JSON string: %w", err)
		}
		n = 1 + int(decoder.InputOffset())
		if n == len(text) || text[n] != ']' {
			return s, 0, errors.New("want ] behind the name")
		}
		return s, n + 1, nil
	}
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return s, 0, errors.New("the bracket is not closed")
	}
	s.index, err = strconv.Atoi(text[1:end])
	if err != nil || s.index < 0 || text[1] == '+' {
		return s, 0, fmt.Errorf(`%q is no index; want [2], [*] or ["name"]`, text[1:end])
	}
	return s, end + 1, nil
}

func plainRune(r rune) bool {
	return r == '_' || r == '-' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// AppendName appends a member's name to a path.
func AppendName(path []byte, name string) []byte {
	if name == "" || strings.IndexFunc(name, func(r rune) bool { return !plainRune(r) }) >= 0 {
		path = append(path, '[')
		path = append(path, quoted(name)...)
		return append(path, ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

// quoted is a string as JSON, with nothing escaped that need not be.
func quoted(name string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// A string can always be encoded.
	_ = encoder.Encode(name)
	return strings.TrimSuffix(b.String(), "\n")
}

// String writes the path so that [ParsePath] reads it back.
func (p Path) String() string {
	var b []byte
	for _, s := range p {
		switch {
		case s.any:
			b = append(b, "[*]"...)
		case s.deep && len(b) == 0:
			b = append(b, "**"...)
		case s.deep:
			b = append(b, ".**"...)
		case s.index >= 0:
			b = strconv.AppendInt(append(b, '['), int64(s.index), 10)
			b = append(b, ']')
		default:
			b = AppendName(b, s.name)
		}
	}
	return string(b)
}

func (s *segment) takesName(name string) bool { return s.any || s.index < 0 && s.name == name }
func (s *segment) takesIndex(i int) bool      { return s.any || s.index == i }
