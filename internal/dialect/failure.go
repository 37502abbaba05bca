package dialect

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// failureOf is how the call failed as far as its own span tells, nil if it did
// not.
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
	f = f.merge(c.Fail)
	if c.Kind == KindTool {
		f = f.merge(inBand(c.Result))
		if f != nil && f.Message == "" {
			f.Message = textOf(c.Result)
		}
	}
	return f
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

// errorTexts begin the results by which tools and frameworks report a failure
// in words alone.
var errorTexts = []string{
	"Error: ", "Error:\n", "Error - ", "Error executing tool", "Error calling tool", "Error invoking tool", "Error running tool",
	"An error occurred while running the tool", "Failed to invoke Tool", "Failed to invoke tool",
	"An internal error occurred", "Tool execution failed", "Exception while invoking",
}

// inBand is the failure a result tells by itself: a truthy error member of a
// JSON answer, its own word that it failed, or one of the texts above.
func inBand(c Content) *Failure {
	switch c.Value.Kind() {
	case value.String:
		if text := strings.TrimSpace(c.Value.Str()); failingText(text) {
			return &Failure{Message: text, Evidence: "result"}
		}
	case value.Object:
		if f := errorMember(c.Value); f != nil {
			return f
		}
		if c.Value.First("isError", "is_error").Truthy() {
			return &Failure{Message: c.Value.JSON(), Evidence: "result"}
		}
		if saysFailed(c.Value) {
			return &Failure{Message: firstOf(messageBeside(c.Value), c.Value.JSON()), Evidence: "result"}
		}
	}
	return nil
}

// saysFailed reports a result that calls itself failed in one of the two usual
// ways. Nothing but false and the one word counts: other values of members of
// these names are answers, such as the status of an order.
func saysFailed(v value.Value) bool {
	success := v.At("success")
	return success.Kind() == value.Bool && !success.Truthy() || v.At("status").Str() == "error"
}

func failingText(text string) bool {
	for _, prefix := range errorTexts {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// errorMember is the failure that the member "error" of a result tells of.
func errorMember(v value.Value) *Failure {
	e := v.At("error")
	if !e.Truthy() {
		return nil
	}
	f := &Failure{Evidence: "result"}
	switch e.Kind() {
	case value.String:
		f.Message = e.Str()
	case value.Object:
		f.Code, f.Message, f.Type = e.At("code").Text(), e.At("message").Str(), e.First("type", "name").Str()
		if f.Message == "" {
			f.Message = e.JSON()
		}
	case value.Number:
		f.Message = messageBeside(v)
		if !errorNumber(e, f.Message != "") {
			return nil
		}
		f.Code = e.Text()
		f.Message = firstOf(f.Message, v.JSON())
	default:
		f.Message = firstOf(messageBeside(v), v.At("result").Str(), v.JSON())
	}
	return f
}

func messageBeside(v value.Value) string {
	return v.First("message", "error_message", "error_description", "detail", "msg").Str()
}

// errorNumber tells a number that is an error's code from one that is the
// answer, such as the error of a measurement or a fit: a fraction never is a
// code. A whole number is one if a text beside it says what went wrong, or if
// it lies where HTTP and JSON-RPC have theirs.
func errorNumber(e value.Value, explained bool) bool {
	n, err := strconv.ParseInt(e.Text(), 10, 64)
	if err != nil {
		return false
	}
	return explained || n >= 400 && n <= 599 || n <= -32000 && n >= -32768
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
