package main

import (
	"context"
	"encoding/json"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// liveCaller really runs the tools, each in a span as the OpenTelemetry GenAI
// conventions have it.
type liveCaller struct {
	tracer trace.Tracer
	calls  int
}

func (c *liveCaller) session(ctx context.Context, do func(context.Context) error) error {
	ctx, span := c.tracer.Start(ctx, "invoke_agent report-agent", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"),
		attribute.String("gen_ai.agent.name", "report-agent"),
	))
	defer span.End()
	if id := span.SpanContext().TraceID(); id.IsValid() {
		fmt.Printf("trace %s\n", id)
	}
	err := do(ctx)
	fail(span, err)
	return err
}

func (c *liveCaller) call(ctx context.Context, tool string, args any, fn func() (any, error)) (json.RawMessage, error) {
	in, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	c.calls++
	_, span := c.tracer.Start(ctx, "execute_tool "+tool, trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", tool),
		attribute.String("gen_ai.tool.type", "function"),
		attribute.String("gen_ai.tool.call.id", fmt.Sprintf("call_%d", c.calls)),
		attribute.String("gen_ai.tool.call.arguments", string(in)),
	))
	defer span.End()
	result, err := fn()
	if err != nil {
		fail(span, err)
		return nil, err
	}
	out, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	span.SetAttributes(attribute.String("gen_ai.tool.call.result", string(out)))
	return out, nil
}

func fail(span trace.Span, err error) {
	if err == nil {
		return
	}
	span.SetStatus(codes.Error, err.Error())
	span.SetAttributes(attribute.String("error.type", fmt.Sprintf("%T", err)))
	span.RecordError(err)
}
