// Package rawjson takes JSON text apart without copying it: a body of 50 MB that is a
// string in a result is written to a client piece by piece.
//
// The text must have been parsed before. Text that is none is not refused, and does
// no harm: no function reads beyond its end.
package rawjson

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Members gives the members of an object in order; ok is false for other text. Names
// with escapes in them come as they are written. Values share memory with the text.
func Members(text json.RawMessage, each func(name string, value json.RawMessage)) (ok bool) {
	i := space(text, 0)
	if i >= len(text) || text[i] != '{' {
		return false
	}
	for i = space(text, i+1); i < len(text) && text[i] == '"'; {
		end := value(text, i)
		name := text[i+1 : max(i+1, end-1)]
		if i = space(text, end); i < len(text) && text[i] == ':' {
			i = space(text, i+1)
		}
		end = value(text, i)
		if end == i {
			return true
		}
		each(string(name), text[i:end])
		if i = space(text, end); i < len(text) && text[i] == ',' {
			i = space(text, i+1)
		}
	}
	return true
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// value is the end of the value that begins at i.
func value(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch c := text[i]; c {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(text) && !bytes.ContainsRune([]byte(`"{}[],: `+"\t\n\r"), rune(text[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// stringEnd is the end of the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// pieceBytes is about how much text is handed on at a time.
const pieceBytes = 32 << 10

// WriteString writes the characters of a string, which is given with its quotes.
// Half of a surrogate pair becomes U+FFFD.
func WriteString(w io.Writer, text json.RawMessage) error {
	text = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`"`)), []byte(`"`))
	piece := make([]byte, 0, min(len(text), pieceBytes)+utf8.UTFMax)
	flush := func() error {
		_, err := w.Write(piece)
		piece = piece[:0]
		return err
	}
	for len(text) > 0 {
		plain := text[:min(len(text), pieceBytes-len(piece))]
		if i := bytes.IndexByte(plain, '\\'); i >= 0 {
			plain = plain[:i]
		}
		piece = append(piece, plain...)
		text = text[len(plain):]
		if len(text) > 0 && text[0] == '\\' {
			r, n := escape(text)
			piece = utf8.AppendRune(piece, r)
			text = text[n:]
		}
		if len(piece) >= pieceBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// escape is the character of the escape at the beginning of text, and its length.
func escape(text []byte) (r rune, n int) {
	if len(text) < 2 {
		return utf8.RuneError, len(text)
	}
	switch c := text[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		first, ok := unit(text)
		if !ok {
			return utf8.RuneError, len(text)
		}
		if !utf16.IsSurrogate(first) {
			return first, 6
		}
		if second, ok := unit(text[6:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 12
			}
		}
		return utf8.RuneError, 6
	default:
		return rune(c), 2
	}
}

// unit is the code unit of an escape such as \u00e9.
func unit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}
