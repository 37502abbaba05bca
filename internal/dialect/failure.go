package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// failureOf is how the call failed as far as its own span tells, its result
// aside, nil if it did not.
func failureOf(s *Span, c *Call) *Failure {
	var f *Failure
	ex := exceptionOf(s)
	switch {
	case s.Status().Code() == ptrace.StatusCodeError:
		f = &Failure{Evidence: "status"}
	case s.errorType != "" && s.Status().Code() != ptrace.StatusCodeOk:
		f = &Failure{Evidence: "attribute"}
	case ex != nil && c.Kind != KindAgent && s.Status().Code() == ptrace.StatusCodeUnset &&
		!c.Result.Present() && len(c.Output) == 0 && !controlFlow(ex.Type):
		// An exception beside a result was handled by the tool itself.
		f = &Failure{Evidence: "event"}
	}
	if f != nil {
		f = f.merge(ex)
		f.Type = firstOf(s.errorType, f.Type)
		if s.errorType == "_OTHER" && ex != nil && ex.Type != "" {
			f.Type = ex.Type
		}
		// Some write nothing but the type as status text; the result says more.
		if text := firstLine(s.Status().Message()); f.Message == "" && !onlyType(text, f.Type) {
			f.Message = text
		}
		f.Code = s.statusCode()
	}
	return f.merge(c.Fail)
}

// exceptionOf is the last exception event of a span.
func exceptionOf(s *Span) *Failure {
	for i := s.Events().Len() - 1; i >= 0; i-- {
		e := s.Events().At(i)
		if e.Name() != "exception" {
			continue
		}
		return &Failure{
			Type:     attrText(e.Attributes(), "exception.type"),
			Message:  firstLine(attrText(e.Attributes(), "exception.message")),
			Evidence: "event",
		}
	}
	return nil
}

// controlFlow names the exceptions by which frameworks pause or cancel rather
// than fail.
func controlFlow(typ string) bool {
	if i := strings.LastIndexByte(typ, '.'); i >= 0 {
		typ = typ[i+1:]
	}
	switch typ {
	case "CancelledError", "GraphInterrupt", "NodeInterrupt", "ParentCommand", "GraphBubbleUp",
		"CallDeferred", "ApprovalRequired", "AbortError", "TaskCanceledException", "OperationCanceledException":
		return true
	}
	return false
}

// onlyType reports whether a status text says no more than the type of the
// failure does.
func onlyType(text, typ string) bool {
	text = strings.TrimSuffix(text, ":")
	return text == typ || typ != "" && strings.HasSuffix(typ, "."+text)
}

// statusCode is a protocol's own code of the failure.
func (s *Span) statusCode() string {
	for _, key := range [...]string{"rpc.response.status_code", "http.response.status_code", "http.status_code", "rpc.jsonrpc.error_code"} {
		if v, ok := s.Attr(key); ok {
			return v.AsString()
		}
	}
	return ""
}

// firstLine cuts the stack trace that some instrumentations append to the text
// of an error.
func firstLine(msg string) string {
	for _, mark := range [...]string{"\n\nTraceback ", "\n\nError: ", "Traceback (most recent call last)", "\n    at "} {
		if i := strings.Index(msg, mark); i > 0 {
			msg = msg[:i]
		}
	}
	return strings.TrimSpace(msg)
}

func attrText(m pcommon.Map, key string) string {
	if v, ok := m.Get(key); ok {
		return v.AsString()
	}
	return ""
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
