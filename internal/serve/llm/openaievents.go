package llm

import "github.com/tapedeck/tapedeck/internal/dialect/value"

// responseEvents sends the events of a response, which number themselves.
type responseEvents struct {
	emit Emit
	n    int64
}

func (e *responseEvents) send(event string, members ...value.Member) error {
	members = append([]value.Member{value.M("type", value.Str(event)), value.M("sequence_number", value.Int(e.n))}, members...)
	e.n++
	return e.emit(event, value.Obj(members...))
}

// all sends events until one fails.
func all(sends ...func() error) error {
	for _, send := range sends {
		if err := send(); err != nil {
			return err
		}
	}
	return nil
}

// Stream gives the events of an answer.
func (c OpenAIResponses) Stream(q *Request, a *Answer, emit Emit) error {
	c.prepare(a)
	a.rebuilt("borders of chunks")
	e := &responseEvents{emit: emit}
	begun := c.response(q, a, "in_progress", nil)
	items := c.items(a)
	err := all(
		func() error { return e.send("response.created", value.M("response", begun)) },
		func() error { return e.send("response.in_progress", value.M("response", begun)) },
		func() error {
			for i, item := range items {
				if err := e.item(int64(i), item); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	status := c.status(a)
	return e.send("response."+status, value.M("response", c.response(q, a, status, items)))
}

// item sends one output item.
func (e *responseEvents) item(at int64, item value.Value) error {
	index := value.M("output_index", value.Int(at))
	of := []value.Member{value.M("item_id", item.At("id")), index}
	started := item
	middle := func() error { return nil }
	switch item.At("type").Str() {
	case "message":
		started = item.With("status", value.Str("in_progress")).With("content", value.List())
		middle = func() error { return e.contents(of, item.At("content").Items()) }
	case "reasoning":
		started = item.With("summary", value.List())
		middle = func() error { return e.summaries(of, item.At("summary").Items()) }
	case "function_call":
		started = item.With("status", value.Str("in_progress")).With("arguments", value.Str(""))
		middle = func() error {
			args := item.At("arguments")
			return all(
				func() error { return e.deltas("response.function_call_arguments.delta", of, args.Str()) },
				func() error {
					return e.send("response.function_call_arguments.done", join(of, value.M("arguments", args), value.M("name", item.At("name")))...)
				})
		}
	}
	return all(
		func() error { return e.send("response.output_item.added", index, value.M("item", started)) },
		middle,
		func() error { return e.send("response.output_item.done", index, value.M("item", item)) })
}

// contents sends the parts of a message.
func (e *responseEvents) contents(of []value.Member, parts []value.Value) error {
	for i, part := range parts {
		name, event := "text", "response.output_text"
		if part.At("type").Str() == "refusal" {
			name, event = "refusal", "response.refusal"
		}
		of := join(of, value.M("content_index", value.Int(int64(i))))
		var more []value.Member
		if name == "text" {
			more = []value.Member{value.M("logprobs", value.List())}
		}
		err := all(
			func() error {
				return e.send("response.content_part.added", join(of, value.M("part", part.With(name, value.Str(""))))...)
			},
			func() error { return e.deltas(event+".delta", join(of, more...), part.At(name).Str()) },
			func() error { return e.send(event+".done", join(join(of, more...), value.M(name, part.At(name)))...) },
			func() error { return e.send("response.content_part.done", join(of, value.M("part", part))...) })
		if err != nil {
			return err
		}
	}
	return nil
}

// summaries sends the texts of a reasoning item.
func (e *responseEvents) summaries(of []value.Member, parts []value.Value) error {
	for i, part := range parts {
		of := join(of, value.M("summary_index", value.Int(int64(i))))
		err := all(
			func() error {
				return e.send("response.reasoning_summary_part.added", join(of, value.M("part", part.With("text", value.Str(""))))...)
			},
			func() error { return e.deltas("response.reasoning_summary_text.delta", of, part.At("text").Str()) },
			func() error {
				return e.send("response.reasoning_summary_text.done", join(of, value.M("text", part.At("text")))...)
			},
			func() error {
				return e.send("response.reasoning_summary_part.done", join(of, value.M("part", part))...)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *responseEvents) deltas(event string, of []value.Member, text string) error {
	return pieces(text, func(s string) error { return e.send(event, join(of, value.M("delta", value.Str(s)))...) })
}

// join is members followed by more, in memory of its own.
func join(members []value.Member, more ...value.Member) []value.Member {
	return append(members[:len(members):len(members)], more...)
}
