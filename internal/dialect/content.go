package dialect

import (
	"errors"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// maxEncodings bounds how often JSON text inside JSON text is unwrapped.
const maxEncodings = 3

// Grade is how a piece of content was found, best first; the zero Grade is
// absent.
type Grade uint8

// The grades of content.
const (
	Absent Grade = iota
	Exact
	Rebuilt
	Redacted
	Truncated
)

// Content is the arguments or the result of a call.
type Content struct {
	Value value.Value
	Grade Grade
	// Raw is the verbatim text, where the value is not simply what it says.
	Raw string
	// Key is the attribute it was read from.
	Key string
	// Body is set in place of Value where the content was moved out.
	Body *tape.Body
	// Why says what is wrong with absent, redacted or truncated content.
	Why string
	// FromMessages is set where it was found in the messages of a model call.
	FromMessages bool

	// source is the text the value was parsed from, as it came.
	source string
	// text is the JSON text, where it was written without a value in between.
	text []byte
	// partial marks absent content of which the surroundings are known, such as
	// the parameters of a request without its messages.
	partial bool
}

// Present reports whether there is content, whole or in part.
func (c Content) Present() bool {
	return c.Body != nil || c.Grade == Exact || c.Grade == Rebuilt || c.Grade == Truncated
}

func (c *Content) fill(o Content) {
	if !c.Present() && o.Present() || c.Grade == Absent && o.Grade == Redacted || c.Grade == Truncated && (o.Grade == Exact || o.Grade == Rebuilt) {
		*c = o
	}
}

// encoding says which texts besides JSON stand for a structured value.
type encoding uint8

const (
	// jsonText: JSON, or else plain text.
	jsonText encoding = iota
	// pythonText: JSON, or a Python literal, or else plain text.
	pythonText
	// plainText: text is never JSON.
	plainText
)

// content reads the first present attribute.
func (s *Span) content(enc encoding, keys ...string) Content {
	for _, key := range keys {
		if v, ok := s.Attributes().Get(key); ok {
			var c Content
			if m := s.attrMemo(); m != nil && v.Type() == pcommon.ValueTypeSlice {
				c = Content{Value: m.list(v.Slice()), Grade: Rebuilt}
			} else {
				c = contentBy(v, enc, s.memo())
			}
			c.Key = key
			if c.Grade == Truncated && s.DroppedAttributesCount() > 0 {
				c.Why = whyCut
			}
			return c
		}
	}
	if s.DroppedAttributesCount() > 0 {
		return Content{Why: whyDropped}
	}
	return Content{}
}

func contentOf(v pcommon.Value, enc encoding) Content { return contentBy(v, enc, nil) }

func contentBy(v pcommon.Value, enc encoding, memo *value.Memo) Content {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return textBy(v.Str(), enc, memo)
	case pcommon.ValueTypeBytes:
		if t := fromAttr(v); t.Kind() == value.String {
			return textBy(t.Str(), enc, memo)
		}
	case pcommon.ValueTypeEmpty:
		return Content{}
	}
	return Content{Value: fromAttr(v), Grade: Rebuilt}
}

// contentText reads content that came as text.
func contentText(text string, enc encoding) Content { return textBy(text, enc, nil) }

// textBy reads content that came as text with what is remembered of earlier texts.
func textBy(text string, enc encoding, memo *value.Memo) Content {
	if body, ok := parseBody(text); ok {
		return Content{Body: body, Value: value.Str(text), Grade: Exact}
	}
	if why, redacted, ok := placeholder(text); ok {
		c := Content{Why: why}
		if redacted {
			c.Grade = Redacted
		}
		return c
	}
	trimmed := strings.TrimSpace(text)
	if enc == plainText || trimmed == "" {
		if mark := writtenMark(text); mark != "" {
			return cutBy(text, mark)
		}
		return Content{Value: value.Str(text), Grade: Exact, Raw: text}
	}
	v, err := memo.Parse(trimmed)
	if err == nil {
		return Content{Value: v, Grade: Exact, source: text}
	}
	if structured(trimmed) || enc == pythonText && trimmed[0] == '(' {
		v, pyErr := value.ParsePython(trimmed)
		switch {
		case pyErr == nil && enc == pythonText:
			return Content{Value: v, Grade: Rebuilt, Raw: text}
		case errors.Is(pyErr, value.ErrTruncated):
			err = pyErr
		}
	}
	if mark := cutMark(text); mark != "" {
		return cutBy(text, mark)
	}
	if structured(trimmed) && errors.Is(err, value.ErrTruncated) {
		return Content{Value: value.Str(text), Grade: Truncated, Raw: text, Why: whyInside}
	}
	// Raw tells words from a JSON text of the same words.
	return Content{Value: value.Str(text), Grade: Exact, Raw: text}
}

// structured reports whether text begins like an object or array: only then
// does an early end mean a cut, because prose may begin with any digit or n.
func structured(s string) bool {
	return s != "" && (s[0] == '{' || s[0] == '[')
}

// placeholder recognises the texts instrumentations write in place of a value
// they do not have or must not tell.
func placeholder(s string) (why string, redacted, ok bool) {
	if len(s) > 64 {
		return "", false, false
	}
	switch s {
	case "__REDACTED__", "<REDACTED>", "[REDACTED]", "REDACTED", "<redacted>", "[redacted]":
		return "hidden by the instrumentation", true, true
	case "<not serializable>":
		return whyUnserialisable, false, true
	case "<not specified>", "N/A", "<replaced>":
		return "the instrumentation wrote " + s, false, true
	}
	return "", false, false
}

// cutBy is a text that was cut, and says so by its mark.
func cutBy(text, mark string) Content {
	return Content{Value: value.Str(text), Grade: Truncated, Raw: text, Why: "cut by the instrumentation (" + mark + ")"}
}

// cutMark is the mark an instrumentation leaves where it cut a text.
func cutMark(s string) string {
	if mark := writtenMark(s); mark != "" {
		return mark
	}
	// Dots alone are a mark only behind the beginning of a structure: words in
	// brackets may end so too.
	for _, dots := range [...]string{"…", "..."} {
		head, cut := strings.CutSuffix(s, dots)
		if !cut || !structured(s) {
			continue
		}
		_, err := value.Parse(head)
		if _, pyErr := value.ParsePython(head); errors.Is(err, value.ErrTruncated) || errors.Is(pyErr, value.ErrTruncated) {
			return "…"
		}
	}
	return ""
}

// writtenMark is the mark of a cut that is words, and so tells of one in plain
// text too.
func writtenMark(s string) string {
	tail := s
	if len(tail) > 80 {
		tail = tail[len(tail)-80:]
	}
	for _, mark := range [...]string{"...[TRUNCATED", "...[truncated", "[truncated]", "... (truncated)", "…[truncated", "<truncated>"} {
		if strings.Contains(tail, mark) {
			return mark
		}
	}
	return ""
}

const bodyPrefix = "tape-blob:sha256:"

// parseBody reads the reference that stands for content moved out of a span.
func parseBody(s string) (*tape.Body, bool) {
	rest, ok := strings.CutPrefix(s, bodyPrefix)
	if !ok {
		return nil, false
	}
	sum, rest, ok := strings.Cut(rest, ":")
	if !ok || len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
		return nil, false
	}
	size, media, ok := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(size, 10, 64)
	if !ok || err != nil || n < 0 || strings.ContainsAny(media, " \n\t") {
		return nil, false
	}
	return &tape.Body{SHA256: sum, Bytes: n, MediaType: media}, true
}

// json is the content as JSON text.
func (c *Content) json() []byte {
	if c.text == nil {
		return c.Value.Append(nil)
	}
	return c.text
}

// changed replaces the value by what it wraps and keeps the verbatim text.
func (c Content) changed(v value.Value) Content {
	c.Raw = c.verbatim()
	c.Value = v
	if c.Grade == Exact {
		c.Grade = Rebuilt
	}
	return c
}

// verbatim is the text the content came as; what came structured has none, and
// is its JSON.
func (c *Content) verbatim() string {
	switch {
	case c.Raw != "":
		return c.Raw
	case c.source != "":
		return c.source
	case c.Value.Kind() == value.String:
		return c.Value.Str()
	}
	return c.Value.JSON()
}
