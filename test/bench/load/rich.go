package load

import (
	"fmt"
	"slices"
	"strconv"
)

// richTurns is how often a rich run asks its model.
const richTurns = 80

var tools = []string{"search_docs", "read_file", "run_query", "get_order", "list_events", "fetch_page"}

// Rich is the content-rich load: all runs are open at once, until the last turn.
func Rich(runs int, seed uint64) Load {
	return Load{
		Name: "content-rich", Runs: runs, Open: runs,
		start: func(n int) run { return newRichRun(seed, n) },
	}
}

type richRun struct {
	origin
	d    *draw
	fate fate
	turn int
	// system and tools are the same for all runs of an agent; history is what was
	// said so far, as JSON messages with commas between them.
	system, tools, history []byte
	// first is what the user asked, last what the model answered, if it did.
	first string
	last  []byte
}

func newRichRun(seed uint64, n int) *richRun {
	agent := newDraw(seed, -1-n%len(agents))
	r := &richRun{d: newDraw(seed, n), fate: fateOf(n)}
	r.origin = newOrigin(r.d, n)
	r.system = append(agent.quote([]byte(`[{"type":"text","content":`), agent.text(2_500)), `}]`...)
	r.tools = append(r.tools, '[')
	for i, name := range tools {
		if i > 0 {
			r.tools = append(r.tools, ',')
		}
		r.tools = fmt.Appendf(r.tools, `{"type":"function","name":%q,"description":`, name)
		r.tools = agent.quote(r.tools, agent.text(120))
		r.tools = append(r.tools, `,"parameters":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}}`...)
	}
	r.tools = append(r.tools, ']')
	r.first = r.d.text(200 + r.d.IntN(1_500))
	r.history = append(r.d.quote([]byte(`{"role":"user","parts":[{"type":"text","content":`), r.first), `}]}`...)
	return r
}

// step appends one turn: a model call, and the tool call it asks for. In one turn of
// three the model asks the user instead. The last turn answers, and the root follows.
func (r *richRun) step(dst []byte) (_ []byte, spans int, done bool) {
	r.turn++
	dst = r.export(dst, func(dst []byte) []byte {
		switch done = r.turn == richTurns; {
		case done && r.fate != fails:
			dst = r.answer(dst, 400)
			spans = 1
		case r.turn%3 == 0:
			dst = r.answer(dst, 150)
			r.say(r.last)
			r.say(append(r.d.quote([]byte(`{"role":"user","parts":[{"type":"text","content":`), r.d.text(80)), `}]}`...))
			spans = 1
		default:
			dst = r.call(dst)
			spans = 2
		}
		if done {
			dst = r.end(dst)
			spans++
		}
		return dst
	})
	return dst, spans, done
}

// call appends a model call that asks for a tool, and the tool call.
func (r *richRun) call(dst []byte) []byte {
	d := r.d
	tool, id := tools[d.IntN(len(tools))], fmt.Sprintf("call_%016x", d.Uint64())
	args := append(d.quote([]byte(`{"query":`), d.text(20+d.IntN(60))), `,"limit":`...)
	args = append(strconv.AppendInt(args, int64(d.IntN(50)), 10), '}')
	said := append(d.quote([]byte(`{"role":"assistant","parts":[{"type":"text","content":`), d.text(40+d.IntN(200))), `},`...)
	said = fmt.Appendf(said, `{"type":"tool_call","id":%q,"name":%q,"arguments":%s}]`, id, tool, args)
	dst = r.model(dst, append(slices.Clip(said), `,"finish_reason":"tool_call"}`...), "tool_call")
	r.say(append(said, '}'))

	failed, result := "", d.text(d.resultSize())
	if r.fate == fails && r.turn == richTurns || r.fate == recovers && r.turn == richTurns/2 {
		failed, result = "TimeoutError: the upstream did not answer in 30 s", ""
	}
	dst = r.span(dst, d, false, kindInternal, "execute_tool "+tool, failed, func(dst []byte) []byte {
		dst = stringAttr(dst, spanAttributes, "gen_ai.operation.name", "execute_tool")
		dst = stringAttr(dst, spanAttributes, "gen_ai.tool.name", tool)
		dst = stringAttr(dst, spanAttributes, "gen_ai.tool.type", "function")
		dst = stringAttr(dst, spanAttributes, "gen_ai.tool.call.id", id)
		dst = stringAttr(dst, spanAttributes, "gen_ai.tool.call.arguments", args)
		if failed != "" {
			return stringAttr(dst, spanAttributes, "error.type", "TimeoutError")
		}
		return stringAttr(dst, spanAttributes, "gen_ai.tool.call.result", result)
	})
	if failed != "" {
		result = failed
	}
	reply := fmt.Appendf(nil, `{"role":"tool","parts":[{"type":"tool_call_response","id":%q,"response":`, id)
	r.say(append(d.quote(reply, result), `}]}`...))
	return dst
}

// answer appends a model call that asks for no tool.
func (r *richRun) answer(dst []byte, size int) []byte {
	said := append(r.d.quote([]byte(`{"role":"assistant","parts":[{"type":"text","content":`), r.d.text(size)), `}]`...)
	dst = r.model(dst, append(slices.Clip(said), `,"finish_reason":"stop"}`...), "stop")
	said = append(said, '}')
	r.last = said
	return dst
}

func (r *richRun) model(dst, output []byte, finish string) []byte {
	const model = "gpt-4o-2024-08-06"
	d := r.d
	return r.span(dst, d, false, kindClient, "chat gpt-4o", "", func(dst []byte) []byte {
		dst = stringAttr(dst, spanAttributes, "gen_ai.operation.name", "chat")
		dst = stringAttr(dst, spanAttributes, "gen_ai.provider.name", "openai")
		dst = stringAttr(dst, spanAttributes, "gen_ai.request.model", "gpt-4o")
		dst = stringAttr(dst, spanAttributes, "gen_ai.response.model", model)
		dst = stringAttr(dst, spanAttributes, "gen_ai.response.id", fmt.Sprintf("chatcmpl-%016x", d.Uint64()))
		dst = stringAttr(dst, spanAttributes, "gen_ai.system_instructions", r.system)
		dst = stringAttr(dst, spanAttributes, "gen_ai.tool.definitions", r.tools)
		dst = stringAttr(dst, spanAttributes, "gen_ai.input.messages", list(r.history))
		dst = stringAttr(dst, spanAttributes, "gen_ai.output.messages", list(output))
		dst = listAttr(dst, "gen_ai.response.finish_reasons", finish)
		dst = intAttr(dst, "gen_ai.usage.input_tokens", uint64(len(r.history)/4))
		return intAttr(dst, "gen_ai.usage.output_tokens", uint64(len(output)/4))
	})
}

func (r *richRun) end(dst []byte) []byte {
	failed := ""
	if r.fate == fails {
		failed = "the agent gave up"
	}
	return r.span(dst, r.d, true, kindInternal, "invoke_agent "+r.agent, failed, func(dst []byte) []byte {
		dst = stringAttr(dst, spanAttributes, "gen_ai.operation.name", "invoke_agent")
		dst = stringAttr(dst, spanAttributes, "gen_ai.agent.name", r.agent)
		dst = stringAttr(dst, spanAttributes, "gen_ai.conversation.id", fmt.Sprintf("conv_%x", r.trace[:8]))
		dst = stringAttr(dst, spanAttributes, "input.value", r.first)
		if r.last != nil {
			dst = stringAttr(dst, spanAttributes, "gen_ai.output.messages", list(r.last))
		}
		return dst
	})
}

func (r *richRun) say(message []byte) {
	r.history = append(append(r.history, ','), message...)
}

// list makes a JSON array of messages.
func list(messages []byte) []byte {
	out := make([]byte, 0, len(messages)+2)
	return append(append(append(out, '['), messages...), ']')
}
