package dialect

import (
	"bytes"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// placeholderMark begins what redaction puts in place of a value.
const placeholderMark = "[REDACTED:"

// placeholders appends the paths at which redaction left its mark.
func placeholders(paths []string, path string, v value.Value) []string {
	switch v.Kind() {
	case value.String:
		if i := strings.Index(v.Str(), placeholderMark); i >= 0 && strings.IndexByte(v.Str()[i:], ']') > 0 {
			paths = append(paths, path)
		}
	case value.Array:
		for i, e := range v.Items() {
			paths = placeholders(paths, indexed(path, i), e)
		}
	case value.Object:
		for _, m := range v.Members() {
			paths = placeholders(paths, path+"."+m.Name, m.Value)
		}
	}
	return paths
}

func indexed(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// placeholdersIn is [placeholders] of JSON text.
func placeholdersIn(paths []string, path string, raw []byte) []string {
	if !bytes.Contains(raw, []byte(placeholderMark)) {
		return paths
	}
	if v, err := value.Parse(string(raw)); err == nil {
		paths = placeholders(paths, path, v)
	}
	return paths
}

// markedPaths are the paths of tape.redacted that lie in the arguments or the
// result: numbers and booleans show no placeholder.
func markedPaths(s *Span, args, result Content, have []string) []string {
	v, ok := s.Attr("tape.redacted")
	if !ok || v.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	var out []string
	for i := range v.Slice().Len() {
		path := v.Slice().At(i).AsString()
		for _, c := range [...]struct {
			of string
			Content
		}{{"args", args}, {"result", result}} {
			rest, ok := strings.CutPrefix(path, "attributes."+c.Key+".")
			if c.Key == "" || !ok {
				continue
			}
			if found := locate(c.Value, rest); found != "" && !contains(have, c.of+"."+found) && !contains(out, c.of+"."+found) {
				out = append(out, c.of+"."+found)
			}
		}
	}
	return out
}

// locate is the longest end of a path that leads somewhere in v: the front may
// lead through a wrapper that was removed.
func locate(v value.Value, path string) string {
	for path != "" {
		if resolves(v, path) {
			return path
		}
		_, rest, ok := strings.Cut(path, ".")
		if !ok {
			return ""
		}
		path = rest
	}
	return ""
}

func resolves(v value.Value, path string) bool {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		name, index, indexed := strings.Cut(name, "[")
		m, ok := v.Get(name)
		if !ok {
			return false
		}
		v = m
		for indexed {
			var digits string
			digits, index, _ = strings.Cut(index, "]")
			i, err := strconv.Atoi(digits)
			if err != nil || i < 0 || i >= len(v.Items()) {
				return false
			}
			v = v.Items()[i]
			index, indexed = strings.CutPrefix(index, "[")
		}
		path = rest
	}
	return true
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
