// Package llm speaks the protocols of model providers: it reads their requests
// into the neutral form that the records of a tape hold, and writes what a record
// holds of an answer as the provider would have, whole or as a stream of events.
//
// A protocol is a file and a [Protocol]. None knows tapes, sessions or sockets;
// a request in, a body or events out. What a record cannot tell (ids of
// responses, the borders of chunks, log probabilities, signatures) is rebuilt the
// same way every time or left out, and named in [Answer.Notes]: nothing is made
// up silently.
//
// [Form] is the shape in which requests are compared: see there for what counts
// as the same.
//
// Reading a request costs one pass over it and shares its memory. An answer is
// written piece by piece, so that a long one takes no second copy of itself.
package llm

import (
	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Request is the request of a live model call.
type Request struct {
	// System and Messages are the conversation.
	System, Messages []message.Message
	// Tools are the tools the model was offered: name, description and schema, as
	// records hold them.
	Tools []value.Value
	// Params are the parameters that have a neutral name.
	Params []value.Member
	Model  string
	// Stream asks for events; Usage for the token counts at their end, where the
	// protocol leaves that to the client.
	Stream, Usage bool
	// Choices is how many answers were asked for, at least 1.
	Choices int
	// Previous is the id of the response that the conversation goes on from.
	Previous string
	// Body is the request itself, for what an answer repeats of it.
	Body value.Value
}

// Args is the request as the arguments of a record.
func (q *Request) Args() []byte {
	var members []value.Member
	if len(q.System) > 0 {
		members = append(members, value.M("system", messages(q.System)))
	}
	members = append(members, value.M("messages", messages(q.Messages)))
	if len(q.Tools) > 0 {
		members = append(members, value.M("tools", value.List(q.Tools...)))
	}
	if len(q.Params) > 0 {
		members = append(members, value.M("params", value.Obj(q.Params...)))
	}
	return value.Obj(members...).Append(nil)
}

// Protocol is the API of a provider.
type Protocol interface {
	// Name is for reports: "OpenAI chat completions".
	Name() string
	// Read reads the body of a request. The error says what is wrong with it, for
	// the client.
	Read(body value.Value) (*Request, error)
	// Write writes an answer as one body.
	Write(q *Request, a *Answer) value.Value
	// Stream gives the events of an answer to emit, which stops it by an error.
	Stream(q *Request, a *Answer, emit Emit) error
	// Refuse is the body of an error.
	Refuse(f *Failure) value.Value
	// Parts says how the record's parts and the protocol's differ, for the answer's
	// notes: what the protocol cannot say is left out there.
	Loses(p *message.Part) string
}

// Emit sends one event of a stream: its name, "" where the protocol has none, and
// its data.
type Emit func(event string, data value.Value) error

// Failure is an error to tell a client.
type Failure struct {
	// Status is the HTTP status.
	Status int
	// Code names the error for programs, Type is the provider's class of it.
	Code, Type string
	Message    string
	// URL leads to the whole verdict, "" for none.
	URL string
	// Body is the recorded body, null if it was not recorded.
	Body value.Value
}

// messages is the neutral form of messages as a value.
func messages(ms []message.Message) value.Value {
	items := make([]value.Value, len(ms))
	for i := range ms {
		items[i] = Message(&ms[i])
	}
	return value.List(items...)
}

// Message is the neutral form of a message as a value. It shares the texts of
// the message.
func Message(m *message.Message) value.Value {
	parts := make([]value.Value, len(m.Parts))
	for i := range m.Parts {
		parts[i] = partValue(&m.Parts[i])
	}
	members := []value.Member{value.M("role", value.Str(m.Role))}
	if m.Name != "" {
		members = append(members, value.M("name", value.Str(m.Name)))
	}
	return value.Obj(append(members, value.M("parts", value.List(parts...)))...)
}

func partValue(p *message.Part) value.Value {
	members := []value.Member{value.M("type", value.Str(string(p.Type)))}
	text := func(name, s string) {
		if s != "" {
			members = append(members, value.M(name, value.Str(s)))
		}
	}
	switch p.Type {
	case message.Text, message.Reasoning:
		members = append(members, value.M("content", value.Str(p.Text)))
		if sig := signature(p); sig != "" {
			text("signature", sig)
		}
	case message.ToolCall:
		text("id", p.ID)
		text("name", p.Name)
		members = append(members, value.M("arguments", p.Args))
	case message.ToolReply:
		text("id", p.ID)
		text("name", p.Name)
		members = append(members, value.M("result", p.Result))
		if p.Failed {
			members = append(members, value.M("failed", value.Boolean(true)))
		}
	default:
		members = append(members, value.M("value", p.Raw))
	}
	return value.Obj(members...)
}

// signature is what a provider signed a reasoning part with, "" for none.
func signature(p *message.Part) string {
	return p.Raw.First("signature", "encrypted_content", "data").Str()
}

// redactedThinking reports reasoning that the provider gave encrypted only.
func redactedThinking(p *message.Part) bool { return p.Text == "" && signature(p) != "" }
