package serve

import (
	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
	"github.com/tapedeck/tapedeck/replay"
)

// wantedCalls are the tool calls that an answer asks for, without those that the
// provider ran itself, whose results are in the answer too.
func wantedCalls(a *llm.Answer) (calls []replay.Wanted) {
	ran := map[string]bool{}
	for i := range a.Choices {
		for _, p := range a.Choices[i].Parts {
			if p.Type == message.ToolReply {
				ran[p.ID] = true
			}
		}
	}
	for i := range a.Choices {
		for _, p := range a.Choices[i].Parts {
			if p.Type == message.ToolCall && !ran[p.ID] {
				calls = append(calls, replay.Wanted{ID: p.ID, Tool: p.Name, Args: p.Args.Append(nil)})
			}
		}
	}
	return calls
}

// toldResults are the tool calls whose results a request tells the model.
func toldResults(q *llm.Request) (calls []replay.Wanted) {
	for i := range q.Messages {
		for _, p := range q.Messages[i].Parts {
			if p.Type == message.ToolReply {
				calls = append(calls, replay.Wanted{ID: p.ID, Tool: p.Name})
			}
		}
	}
	return calls
}
