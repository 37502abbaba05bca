package redact

import (
	"strings"
	"sync"
)

// Hit is one replaced value.
type Hit struct {
	// Path names the place inside the value given, such as
	// "headers.authorization" or "items[2].card"; "" is the value itself.
	Path string
	// Type is the rule type, as the placeholder shows it.
	Type string
}

// Hits collects what was replaced. Its zero value is empty and ready; using one
// for many values saves allocations.
type Hits struct {
	List []Hit
	// found is scratch space for one pass over one text.
	found findings
}

var collectors = sync.Pool{New: func() any { return new(Hits) }}

func (h *Hits) add(path, typ string) { h.List = append(h.List, Hit{path, typ}) }

// done gives h back to the pool and returns what it collected, nil if nothing.
func (h *Hits) done() []Hit {
	list := h.List
	h.List = nil
	collectors.Put(h)
	return list
}

// TypeError stands in the placeholder of a value that a rule could not judge.
const TypeError = "error"

const (
	placeholderHead = "[REDACTED:"
	maxTypeLen      = 48
)

// Placeholder is what replaces a value of the given rule type.
func Placeholder(typ string) string { return placeholderHead + typ + "]" }

// IsPlaceholder reports whether s is one placeholder and nothing else.
func IsPlaceholder(s string) bool {
	return len(s) > len(placeholderHead) && placeholderLen(s) == len(s)
}

// placeholderLen is the length of the placeholder s begins with, 0 if none.
func placeholderLen(s string) int {
	if !strings.HasPrefix(s, placeholderHead) {
		return 0
	}
	for i := len(placeholderHead); i < len(s) && i <= len(placeholderHead)+maxTypeLen; i++ {
		switch c := s[i]; {
		case c == ']':
			if i == len(placeholderHead) {
				return 0
			}
			return i + 1
		case isTypeByte(c):
		default:
			return 0
		}
	}
	return 0
}

func isTypeByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}

func validType(s string) bool {
	if s == "" || len(s) > maxTypeLen {
		return false
	}
	for i := range len(s) {
		if !isTypeByte(s[i]) {
			return false
		}
	}
	return true
}
