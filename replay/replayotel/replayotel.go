// Package replayotel emits an OpenTelemetry span for each call that a session of
// package replay records, so that the run on the tape is a run in the collector too.
//
//	session, err := replay.Open("run.jsonl", replay.WithMode(replay.ModeRecord),
//		replayotel.WithSpans(provider))
//
// Spans are children of the span in the context of the call, and what a live
// function does in its own context is below them. They follow the semantic
// conventions for generative AI (execute_tool, chat and the like, with arguments,
// messages and results) in a scope that the collector of Tapedeck reads back to the
// same records: its tape has the same keys and answers as the one that the session
// wrote. Model calls are in the neutral form of tapes; one in the form of a provider
// comes back in the neutral form. Clock reads and random draws are events of the span around them.
//
// It promises that nothing is in a span that is not on the tape: both are redacted
// by the policy of the session. A parameter of a model call that is an object, which
// attributes cannot hold, is there as JSON text.
//
// It costs a span a call.
package replayotel

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// scope is how the collector knows such spans.
const scope = "tapedeck.recorder"

// WithSpans emits a span for each call that the session runs live.
func WithSpans(provider trace.TracerProvider) replay.Option {
	return replay.WithObserver(observer{provider.Tracer(scope)})
}

type observer struct{ tracer trace.Tracer }

// Begin starts the span of a call.
func (o observer) Begin(ctx context.Context, r *tape.Record) (context.Context, func(*tape.Record)) {
	around := trace.SpanFromContext(ctx)
	start, err := time.Parse(time.RFC3339Nano, r.Start)
	if err != nil {
		start = time.Now()
	}
	if kind := r.KindOf(); kind == tape.KindClock || kind == tape.KindRandom {
		return ctx, func(r *tape.Record) { draw(around, r, start) }
	}
	name, kind := strings.TrimSpace("execute_tool "+r.Tool), trace.SpanKindInternal
	if r.KindOf() == tape.KindModel {
		name, kind = strings.TrimSpace(operation(r)+" "+modelOf(r)), trace.SpanKindClient
	}
	ctx, span := o.tracer.Start(ctx, name, trace.WithTimestamp(start), trace.WithSpanKind(kind), trace.WithAttributes(asked(r)...))
	return ctx, func(r *tape.Record) {
		span.SetAttributes(answered(r)...)
		if e := r.Error; e != nil {
			message := e.Message
			if strings.ContainsRune(message, '\n') {
				// A status is for one line, and readers take it for all there is. The
				// attribute has them all.
				message = ""
			}
			span.SetStatus(codes.Error, message)
		}
		span.End(trace.WithTimestamp(start.Add(time.Duration(r.MS * float64(time.Millisecond)))))
	}
}

// asked are the attributes of what a call was given.
func asked(r *tape.Record) []attribute.KeyValue {
	if r.KindOf() == tape.KindModel {
		return append(request(r.Args), attribute.String("gen_ai.operation.name", operation(r)))
	}
	list := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", r.Tool),
		attribute.String("gen_ai.tool.type", "function"),
		attribute.String("gen_ai.tool.call.arguments", orNull(r.Args)),
	}
	if r.ToolCallID != "" {
		list = append(list, attribute.String("gen_ai.tool.call.id", r.ToolCallID))
	}
	return list
}

// answered are the attributes of what came back, and of what was known only then.
func answered(r *tape.Record) (list []attribute.KeyValue) {
	text := func(name, value string) {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	if r.KindOf() == tape.KindModel {
		list = answer(r.Result)
	} else {
		text("gen_ai.tool.call.result", orNull(r.Result))
	}
	if r.SideEffect != nil {
		list = append(list, attribute.Bool("tool.side_effect", *r.SideEffect))
	}
	text("tape.recorded.clock", r.Clock)
	text("tape.member.expires", r.Expires)
	if e := r.Error; e != nil {
		text("error.type", e.Type)
		text("error.code", e.Code)
		text("error.message", e.Message)
	}
	return list
}

// draw adds a clock read or a random draw to the span around it.
func draw(span trace.Span, r *tape.Record, at time.Time) {
	list := []attribute.KeyValue{attribute.String("tape.tool", r.Tool)}
	if len(r.Args) > 0 && string(r.Args) != "null" {
		list = append(list, attribute.String("tape.args", string(r.Args)))
	}
	if len(r.Result) > 0 {
		list = append(list, value("tape.value", r.Result))
	}
	span.AddEvent("tape."+string(r.Kind), trace.WithTimestamp(at), trace.WithAttributes(list...))
}

func orNull(content json.RawMessage) string {
	if len(content) == 0 {
		return "null"
	}
	return string(content)
}
