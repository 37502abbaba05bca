package otlpfile

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// partSize is the length from which a document of OTLP JSON is given in parts,
// so that one request with all spans of a long run is not held as a whole.
const partSize = 4 << 20

// The depths at which the members of a request lie that parts are cut by.
const (
	inRequest  = 1
	inResource = 3
	inScope    = 5
	inSpans    = 6
	inSpan     = 7
)

// cutter watches a JSON object go by and knows where it can be cut between two
// spans. A part is an object of its own: what is open is closed behind it, and
// opened again before the next with the resource and the scope.
//
//	{"resourceSpans":[{"resource":…,"scopeSpans":[{"scope":…,"spans":[ … ]}]}]}
//	                   before[1]                   before[2]         ▲ cut
//
// Where a resource or a scope is missing it may come behind the spans, so there is
// no cut.
type cutter struct {
	// open holds the kinds of brackets down to the depth of a span.
	open [inSpan + 1]byte
	// name is the member at hand in the object of a depth.
	name [inSpan + 1]string
	// before is the text in front of the member that leads on to the spans: of a
	// resource and of a scope.
	before [inSpan + 1]string
	// start is where the object of a depth begins in the document, -1 if that was
	// before this part.
	start [inSpan + 1]int
	// named is set where a name comes next, and at where it begins.
	named bool
	at    int
	// known is set for depths whose object has had its resource or scope.
	known [inSpan + 1]bool
	// index counts the elements of the arrays, of the whole document.
	index [inSpan + 1]int
	// base is where this part begins: resource, scope, span.
	base [inSpan + 1]int
}

// leads reports whether a member leads on to the spans.
func leads(depth int, name string) bool {
	switch depth {
	case inRequest:
		return name == "resourceSpans" || name == "resource_spans"
	case inResource:
		return name == "scopeSpans" || name == "scope_spans" || name == "instrumentationLibrarySpans"
	case inScope:
		return name == "spans"
	}
	return false
}

// opened notes the bracket that made a depth, at a place of the document.
func (c *cutter) opened(depth, at int, bracket byte) {
	if depth > inSpan {
		return
	}
	c.open[depth], c.name[depth], c.known[depth], c.start[depth] = bracket, "", false, at
	c.named = bracket == '{'
	if bracket == '[' && depth < inSpan {
		c.index[depth] = -1
	}
	if bracket == '{' && depth > 1 && c.open[depth-1] == '[' {
		c.index[depth-1]++
	}
}

// member notes a name that begins at a place of doc.
func (c *cutter) member(depth int, name string, doc []byte, at int) {
	c.named = false
	if depth > inSpan {
		return
	}
	c.name[depth] = name
	switch {
	case depth == inResource && name == "resource", depth == inScope && (name == "scope" || name == "instrumentationLibrary" || name == "instrumentation_library"):
		c.known[depth] = true
	case depth != inRequest && leads(depth, name) && c.start[depth] >= 0:
		c.before[depth] = string(blank(doc[c.start[depth]+1 : at]))
	}
}

// blank takes the line breaks out of text that is written again.
func blank(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, ch := range b {
		if ch == '\n' || ch == '\r' {
			ch = ' '
		}
		out = append(out, ch)
	}
	return out
}

// between reports whether what was read so far ends with a span that others may
// follow.
func (c *cutter) between(depth int) bool {
	return depth == inSpans && c.known[inResource] && c.known[inScope] &&
		leads(inRequest, c.name[inRequest]) && leads(inResource, c.name[inResource]) && leads(inScope, c.name[inScope]) &&
		string(c.open[1:inSpan]) == "{[{[{["
}

// end closes what is open between two spans.
const partEnd = "]}]}]}"

// begin is the beginning of the next part.
func (c *cutter) begin(dst []byte) []byte {
	dst = append(dst, '{')
	dst = append(strconv.AppendQuote(dst, c.name[inRequest]), ":[{"...)
	dst = append(dst, c.before[inResource]...)
	dst = append(strconv.AppendQuote(dst, c.name[inResource]), ":[{"...)
	dst = append(dst, c.before[inScope]...)
	dst = append(strconv.AppendQuote(dst, c.name[inScope]), ":["...)
	for d := range c.start {
		c.start[d] = -1
	}
	c.base = c.index
	c.base[inSpans]++
	return dst
}

// goOn begins the part behind a cut.
func (f *jsonFramer) goOn() error {
	f.doc = f.cut.begin(f.doc[:0])
	comma := false
	for {
		ch, err := f.r.ReadByte()
		if errors.Is(err, io.EOF) {
			return ErrCut
		}
		if err != nil {
			return err
		}
		switch {
		case ch == '\n':
			f.line++
		case ch == ' ' || ch == '\t' || ch == '\r':
		case ch == ',' && !comma:
			comma = true
		default:
			if comma && ch != '{' || !comma && ch != ']' {
				return fmt.Errorf("%w: want a comma and a span or the end of the array here, found %q", ErrFormat, ch)
			}
			return f.r.UnreadByte()
		}
	}
}

var partPath = regexp.MustCompile(`^(\w+)\[(\d+)\](?:\.(\w+)\[(\d+)\](?:\.(\w+)\[(\d+)\])?)?`)

// whole is the path in the whole document of a path in this part.
func (c *cutter) whole(path string) string {
	m := partPath.FindStringSubmatch(path)
	if m == nil || !leads(inRequest, m[1]) {
		return path
	}
	out, first := "", true
	for i, depth := range []int{inRequest + 1, inResource + 1, inScope + 1} {
		name, number := m[1+2*i], m[2+2*i]
		if name == "" {
			break
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			return path
		}
		at := n
		if first {
			at += c.base[depth]
		}
		first = first && n == 0
		if i > 0 {
			out += "."
		}
		out += name + "[" + strconv.Itoa(at) + "]"
	}
	return out + path[len(m[0]):]
}
