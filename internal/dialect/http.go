package dialect

import (
	"net/http"
	"strconv"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// httpSignals takes the protocol's word from the HTTP requests inside a call:
// the status that a failed call ended with becomes its code, and a call of
// which nothing else is known failed if its last request was not served. A
// request that failed before another inside the same call was retried, and a
// call with a good answer has got over whatever its requests met.
func (r *run) httpSignals() {
	last := map[*node]*node{}
	for _, n := range r.nodes {
		if n.kind != KindOther || n.Span == nil || n.Kind() != ptrace.SpanKindClient || n.near == nil {
			continue
		}
		call := n.caller()
		if call == nil || n.httpStatus() == 0 {
			continue
		}
		if have := last[call]; have == nil || n.end > have.end || n.end == have.end && compareNodes(n, have) > 0 {
			last[call] = n
		}
	}
	for call, request := range last {
		status := request.httpStatus()
		switch {
		case status < 400:
		case call.fail != nil:
			if call.fail.Code == "" {
				f := *call.fail
				f.Code = strconv.Itoa(status)
				call.fail = &f
			}
		case unserved(status) && call.silent():
			call.fail = &Failure{
				Code: strconv.Itoa(status), Evidence: "child",
				Message: firstOf(firstLine(request.Status().Message()), "HTTP "+strconv.Itoa(status)),
			}
		}
	}
}

// unserved tells the answers of a server that did not do what it was asked for.
// Others below 500, such as 404 and 409, may be what the call wanted to know.
func unserved(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// caller is the tool or model call a request was made in, also by a part of it.
func (n *node) caller() *node {
	for up := n.near; up != nil; up = up.near {
		switch up.kind {
		case KindTool, KindModel:
			return up
		case KindAgent:
			return nil
		}
	}
	return nil
}

// silent reports whether nothing says how the call ended.
func (n *node) silent() bool {
	c := n.call
	if c.OK || n.Span != nil && n.Status().Code() == ptrace.StatusCodeOk || n.asked != nil && n.asked.answer != nil {
		return false
	}
	return !c.Result.Present() && len(c.Output) == 0 && c.Usage.Output == nil && c.Finish == ""
}

// httpStatus is the status of a request, 0 for none.
func (n *node) httpStatus() int {
	for _, key := range [...]string{"http.response.status_code", "http.status_code"} {
		if v, ok := n.Attr(key); ok {
			if status, err := strconv.Atoi(v.AsString()); err == nil {
				return status
			}
		}
	}
	return 0
}
