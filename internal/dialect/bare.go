package dialect

import "github.com/tapedeck/tapedeck/internal/dialect/message"

// With content off some instrumentations still write each message, without what
// it says: roles, and the names and ids of calls. That is no request to compare
// with and no answer to give, but it tells of the calls.

// withoutBare takes messages without content for the content that they are not.
// An instrumentation writes all of a conversation so, or none: the ends tell.
func (c *Call) withoutBare() {
	if n := len(c.Input); n > 0 && (bare(&c.Input[0]) || bare(&c.Input[n-1])) {
		c.Request, c.bareRequest = Content{Why: c.Request.Why}, true
	}
	for i := range c.System {
		if len(c.System[i].Parts) == 0 {
			c.System = nil
			break
		}
	}
	if n := len(c.Output); n > 0 && bare(&c.Output[n-1]) {
		c.Response, c.bareAnswer = Content{Why: c.Response.Why}, true
	}
}

// bare reports whether a message says nothing, or calls tools without saying
// with what.
func bare(m *message.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type != message.ToolCall || !p.Args.IsNull() {
			return false
		}
	}
	return true
}
