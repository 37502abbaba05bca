package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// The signs by which a result tells by itself that its call failed, by the names
// that [Config.InBandSigns] lists. Each looks at the top of a result alone.
const (
	// SignErrorMember is a member "error" that is truthy and, if it is a number,
	// a code.
	SignErrorMember = "error_member"
	// SignIsError is "isError": true or "is_error": true, as MCP and Anthropic
	// have it.
	SignIsError = "is_error"
	// SignErrorText is a text that begins as frameworks write failures, such as
	// "Error: ".
	SignErrorText = "error_text"
	// SignSuccessFalse is "success": false.
	SignSuccessFalse = "success_false"
	// SignStatusError is "status": "error".
	SignStatusError = "status_error"
)

// InBandSigns are all signs, in the order they are looked for.
var InBandSigns = []string{SignErrorMember, SignIsError, SignErrorText, SignSuccessFalse, SignStatusError}

// bySign is the failure that a result shows by one of the signs, nil for none.
func bySign(signs []string, c Content) *Failure {
	for _, sign := range InBandSigns {
		if !slices.Contains(signs, sign) {
			continue
		}
		if f := shows(sign, c); f != nil {
			return f
		}
	}
	return nil
}

// shows is the failure by one sign. For the last two nothing but false and the
// one word counts: other values of members of these names are answers, such as
// the status of an order.
func shows(sign string, c Content) *Failure {
	v := c.Value
	failed := false
	switch sign {
	case SignErrorMember:
		return errorMember(v)
	case SignErrorText:
		if text := strings.TrimSpace(v.Str()); v.Kind() == value.String && failingText(text) {
			return &Failure{Message: text, Evidence: "result"}
		}
	case SignIsError:
		if affirmed(v.First("isError", "is_error")) {
			return &Failure{Message: v.JSON(), Evidence: "result"}
		}
	case SignSuccessFalse:
		success := v.At("success")
		failed = success.Kind() == value.Bool && !success.Truthy()
	case SignStatusError:
		failed = v.At("status").Str() == "error"
	}
	if !failed {
		return nil
	}
	return &Failure{Message: firstOf(messageBeside(v), v.JSON()), Evidence: "result"}
}

// errorTexts begin the results by which tools and frameworks report a failure
// in words alone.
var errorTexts = []string{
	"Error: ", "Error:\n", "Error - ", "Error executing tool", "Error calling tool", "Error invoking tool", "Error running tool",
	"An error occurred while running the tool", "Failed to invoke Tool", "Failed to invoke tool",
	"An internal error occurred", "Tool execution failed", "Exception while invoking",
}

func failingText(text string) bool {
	for _, prefix := range errorTexts {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// affirmed reports a value that is truthy and no text for nothing, such as a
// program writes that turns every value into text.
func affirmed(v value.Value) bool {
	if v.Kind() == value.String {
		switch strings.ToLower(strings.TrimSpace(v.Str())) {
		case "null", "none", "nil", "undefined", "false", "":
			return false
		}
	}
	return v.Truthy()
}

// errorMember is the failure that the member "error" of a result tells of.
func errorMember(v value.Value) *Failure {
	e := v.At("error")
	if !affirmed(e) {
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
