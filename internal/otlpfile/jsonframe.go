package otlpfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds how deep a document nests, so that neither the check nor
// pdata, which both recurse, can exhaust the stack.
const maxDepth = 10000

// jsonFramer cuts text into JSON objects: one a line, spread over lines, one
// right after another, or as the elements of arrays at the top.
type jsonFramer struct {
	r     *bufio.Reader
	limit int
	line  int
	// inArray is set between the brackets of an array at the top. afterValue
	// is set when the next byte there must be a comma or the end.
	inArray, afterValue bool
	// inspected is set when the objects are not JSON but as Node.js prints them.
	inspected bool
	doc       []byte
}

func newJSONFramer(br *bufio.Reader, limit int) *jsonFramer {
	head, _ := br.Peek(512)
	inspected := isInspected(head)
	if head, _ := br.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) {
		_, _ = br.Discard(len(utf8BOM))
	}
	return &jsonFramer{r: br, limit: limit, line: 1, inspected: inspected}
}

// isInspected reports whether a text begins with an object whose first member
// is named without double quotes.
func isInspected(head []byte) bool {
	_, inside, found := bytes.Cut(head, []byte{'{'})
	inside = bytes.TrimLeft(inside, " \t\r\n")
	return found && len(inside) > 0 && (inside[0] == '\'' || inside[0] == '[' || isWordByte(inside[0]))
}

func (f *jsonFramer) next() ([]byte, int, error) {
	for {
		c, err := f.r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && f.inArray {
				err = fmt.Errorf("%w: the array around it is not closed", ErrCut)
			}
			return nil, f.line, err
		}
		switch {
		case c == '\n':
			f.line++
		case c == ' ' || c == '\t' || c == '\r':
		case c == '[' && !f.inArray:
			f.inArray, f.afterValue = true, false
		case c == ']' && f.inArray:
			f.inArray, f.afterValue = false, false
		case c == ',' && f.inArray && f.afterValue:
			f.afterValue = false
		case c == '{' && !f.afterValue:
			line := f.line
			f.afterValue = f.inArray
			doc, err := f.object()
			if err != nil {
				return nil, f.line, err
			}
			return doc, line, nil
		default:
			rest, _ := f.r.Peek(24)
			return nil, f.line, fmt.Errorf("%w: want a JSON object here, found %q",
				ErrFormat, string(c)+string(bytes.ToValidUTF8(rest, nil)))
		}
	}
}

// object reads on to the bracket that closes the one just read. Whether the
// text between is valid JSON is checked afterwards.
func (f *jsonFramer) object() ([]byte, error) {
	f.doc = append(f.doc[:0], '{')
	depth, inString, escaped, quote := 1, false, false, byte('"')
	for depth > 0 {
		if _, err := f.r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrCut
			}
			return nil, err
		}
		chunk, _ := f.r.Peek(f.r.Buffered())
		n := len(chunk)
		for i, c := range chunk {
			switch {
			case escaped:
				escaped = false
			case c == '\n':
				f.line++
			case inString:
				escaped = c == '\\'
				inString = c != quote
			case c == '"', f.inspected && (c == '\'' || c == '`'):
				inString, quote = true, c
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			}
			if depth == 0 || depth > maxDepth {
				n = i + 1
				break
			}
		}
		if depth > maxDepth {
			return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
		}
		if len(f.doc)+n > f.limit {
			return nil, tooLarge(f.limit)
		}
		f.doc = append(f.doc, chunk[:n]...)
		_, _ = f.r.Discard(n)
	}
	return f.doc, nil
}

func (f *jsonFramer) decode(doc []byte) (*Document, error) {
	if !f.inspected || json.Valid(doc) {
		return decodeJSON(doc)
	}
	converted, err := fromInspected(doc)
	if err != nil {
		return nil, err
	}
	d, err := decodeJSON(converted)
	var place *fault
	if errors.As(err, &place) {
		// What it counts from is not in the file.
		place.offset = -1
	}
	return d, err
}
