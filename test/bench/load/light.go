package load

import (
	"fmt"
)

const (
	// lightSpans is the number of spans of a light run, its root included.
	lightSpans = 100
	// lightSize is the size of a light span in OTLP protobuf.
	lightSize = 535
	// lightOpen is how many light runs are open at once.
	lightOpen = 1_000
)

// Light is the load of runs without content: many, short, small.
func Light(runs int, seed uint64) Load {
	return Load{
		Name: "light", Runs: runs, Open: min(runs, lightOpen),
		start: func(n int) run { return newLightRun(seed, n) },
	}
}

type lightRun struct {
	origin
	d       *draw
	fate    fate
	written int
	scratch []byte
}

func newLightRun(seed uint64, n int) *lightRun {
	r := &lightRun{d: newDraw(seed, n), fate: fateOf(n)}
	r.origin = newOrigin(r.d, n)
	return r
}

// step appends some spans, as many as an exporter finds when its timer fires.
func (r *lightRun) step(dst []byte) (_ []byte, spans int, done bool) {
	spans = min(5+r.d.IntN(11), lightSpans-r.written)
	dst = r.export(dst, func(dst []byte) []byte {
		for range spans {
			r.written++
			dst = r.next(dst)
		}
		return dst
	})
	return dst, spans, r.written == lightSpans
}

// next appends a span of the size that light spans have.
func (r *lightRun) next(dst []byte) []byte {
	name, kind, failed, attrs, filler := r.kind()
	root := r.written == lightSpans
	r.scratch = r.spanBody(r.scratch[:0], r.d, root, kind, name, failed, attrs)
	if short := lightSize - len(r.scratch); short > 0 {
		r.scratch = stringAttr(r.scratch, spanAttributes, filler, r.d.text(fillerSize(filler, short)))
	}
	return bytesField(dst, scopeSpansSpans, r.scratch)
}

// fillerSize is how long a value must be for its attribute to have the given size.
func fillerSize(key string, size int) int {
	n := max(0, size-sizeOf(keyValueSize(key, 0)))
	for n > 0 && sizeOf(keyValueSize(key, n)) > size {
		n--
	}
	return n
}

// kind chooses what the next span is, and the attribute that fills it up.
func (r *lightRun) kind() (name string, kind uint64, failed string, attrs func([]byte) []byte, filler string) {
	d := r.d
	switch {
	case r.written == lightSpans:
		if r.fate == fails {
			failed = "the agent gave up"
		}
		return "invoke_agent " + r.agent, kindInternal, failed, func(dst []byte) []byte {
			dst = stringAttr(dst, spanAttributes, "gen_ai.operation.name", "invoke_agent")
			dst = stringAttr(dst, spanAttributes, "gen_ai.agent.name", r.agent)
			return stringAttr(dst, spanAttributes, "gen_ai.conversation.id", fmt.Sprintf("conv_%x", r.trace[:8]))
		}, "gen_ai.agent.description"
	case r.written%3 == 0:
		tool := tools[d.IntN(len(tools))]
		if r.fate == fails && r.written == lightSpans-1 || r.fate == recovers && r.written == lightSpans/2+1 {
			failed = "TimeoutError: the upstream did not answer in 30 s"
		}
		return "execute_tool " + tool, kindInternal, failed, func(dst []byte) []byte {
			dst = stringAttr(dst, spanAttributes, "gen_ai.operation.name", "execute_tool")
			dst = stringAttr(dst, spanAttributes, "gen_ai.tool.name", tool)
			dst = stringAttr(dst, spanAttributes, "gen_ai.tool.type", "function")
			return stringAttr(dst, spanAttributes, "gen_ai.tool.call.id", fmt.Sprintf("call_%016x", d.Uint64()))
		}, "gen_ai.tool.description"
	case r.written%3 == 1:
		return "chat gpt-4o", kindClient, "", func(dst []byte) []byte {
			dst = stringAttr(dst, spanAttributes, "gen_ai.operation.name", "chat")
			dst = stringAttr(dst, spanAttributes, "gen_ai.provider.name", "openai")
			dst = stringAttr(dst, spanAttributes, "gen_ai.request.model", "gpt-4o")
			dst = stringAttr(dst, spanAttributes, "gen_ai.response.id", fmt.Sprintf("chatcmpl-%016x", d.Uint64()))
			dst = intAttr(dst, "gen_ai.usage.input_tokens", uint64(d.IntN(20_000)))
			return intAttr(dst, "gen_ai.usage.output_tokens", uint64(d.IntN(2_000)))
		}, "gen_ai.agent.description"
	default:
		return "POST", kindClient, "", func(dst []byte) []byte {
			dst = stringAttr(dst, spanAttributes, "http.request.method", "POST")
			dst = stringAttr(dst, spanAttributes, "server.address", "api.example.com")
			dst = intAttr(dst, "server.port", 443)
			dst = stringAttr(dst, spanAttributes, "url.full", "https://api.example.com/v1/chat/completions")
			return intAttr(dst, "http.response.status_code", 200)
		}, "user_agent.original"
	}
}
