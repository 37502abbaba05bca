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
	case c.Kind == KindTool && pauses(raised(s, ex)):
		// The call waits for an answer from outside, whatever status that is given.
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

// raised is the type of the exception that a span tells of, "" for none.
func raised(s *Span, ex *Failure) string {
	if ex != nil && ex.Type != "" {
		return ex.Type
	}
	return s.errorType
}

// controlFlow names the exceptions by which frameworks pause or cancel rather
// than fail. A cancellation is one only where the span took no harm from it: a
// call that ended in error because it was cancelled has failed.
func controlFlow(typ string) bool {
	switch className(typ) {
	case "CancelledError", "AbortError", "TaskCanceledException", "OperationCanceledException":
		return true
	}
	return pauses(typ)
}

// pauses names the exceptions by which a tool hands the run back to wait for a
// person or for an answer from outside, or sends it elsewhere.
func pauses(typ string) bool {
	switch className(typ) {
	case "GraphInterrupt", "NodeInterrupt", "ParentCommand", "GraphBubbleUp", "CallDeferred", "ApprovalRequired":
		return true
	}
	return false
}

// className is the last part of a qualified name.
func className(typ string) string { return typ[strings.LastIndexByte(typ, '.')+1:] }

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
