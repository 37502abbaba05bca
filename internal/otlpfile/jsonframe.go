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

	// cut finds where a large object can be given in parts; part is set while what
	// was given last goes on, parts once this object was cut.
	cut         cutter
	part, parts bool
	partSize    int
	// depth is how many brackets are open in the object at hand.
	depth int
}

func newJSONFramer(br *bufio.Reader, limit, part int) *jsonFramer {
	head, _ := br.Peek(512)
	inspected := isInspected(head)
	if head, _ := br.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) {
		_, _ = br.Discard(len(utf8BOM))
	}
	return &jsonFramer{r: br, limit: limit, line: 1, inspected: inspected, partSize: part}
}

// isInspected reports whether a text begins with an object whose first member
// is named without double quotes.
func isInspected(head []byte) bool {
	_, inside, found := bytes.Cut(head, []byte{'{'})
	inside = bytes.TrimLeft(inside, " \t\r\n")
	return found && len(inside) > 0 && (inside[0] == '\'' || inside[0] == '[' || isWordByte(inside[0]))
}

func (f *jsonFramer) next() ([]byte, int, error) {
	if f.part {
		if err := f.goOn(); err != nil {
			return nil, f.line, err
		}
		line := f.line
		doc, err := f.object()
		if err != nil {
			return nil, f.line, err
		}
		return doc, line, nil
	}
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

// goesOn reports whether what next gave last is a part of an object of which more
// follows.
func (f *jsonFramer) goesOn() bool { return f.part }

// object reads on to the bracket that closes the one just read, or to where a large
// object can be cut. Whether the text between is valid JSON is checked afterwards.
func (f *jsonFramer) object() ([]byte, error) {
	if !f.part {
		f.doc = append(f.doc[:0], '{')
		f.depth, f.cut, f.parts = 1, cutter{}, false
		f.cut.opened(1, 0, '{')
	}
	f.part = false
	inString, escaped, quote, naming := false, false, byte('"'), false
	var name []byte
	for f.depth > 0 {
		if _, err := f.r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrCut
			}
			return nil, err
		}
		chunk, _ := f.r.Peek(f.r.Buffered())
		n, cut := len(chunk), false
		from, taken := len(f.doc), 0
		for i, c := range chunk {
			switch {
			case escaped:
				escaped = false
			case c == '\n':
				f.line++
			case inString:
				escaped = c == '\\'
				inString = c != quote
				if naming && inString {
					name = append(name, c)
				} else if naming {
					naming = false
					f.doc = append(f.doc, chunk[taken:i]...)
					taken = i
					f.cut.member(f.depth, string(name), f.doc, f.cut.at)
				}
			case c == '"', f.inspected && (c == '\'' || c == '`'):
				inString, quote = true, c
				if f.depth <= inScope && f.cut.named {
					naming, name, f.cut.at = true, name[:0], from+i
				}
			case c == '{' || c == '[':
				f.depth++
				f.cut.opened(f.depth, from+i, c)
			case c == '}' || c == ']':
				f.depth--
				cut = from+i >= f.partSize && !f.inspected && c == '}' && f.cut.between(f.depth)
			case c == ',' && f.depth <= inScope:
				f.cut.named = f.cut.open[f.depth] == '{'
			}
			if f.depth == 0 || f.depth > maxDepth || cut {
				n = i + 1
				break
			}
		}
		if f.depth > maxDepth {
			return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
		}
		if len(f.doc)+n-taken > f.limit {
			return nil, tooLarge(f.limit)
		}
		f.doc = append(f.doc, chunk[taken:n]...)
		_, _ = f.r.Discard(n)
		if cut {
			f.doc = append(f.doc, partEnd...)
			f.part, f.parts = true, true
			break
		}
	}
	return f.doc, nil
}

func (f *jsonFramer) decode(doc []byte) (*Document, error) {
	if !f.inspected || json.Valid(doc) {
		d, err := decodeJSON(doc)
		var place *fault
		if f.parts && errors.As(err, &place) {
			place.member = f.cut.whole(place.member)
		}
		return d, err
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
