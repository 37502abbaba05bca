package otlpfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkresource "go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// The console exporter of Go writes what its SDK's stubs are as JSON.
func TestSpansOfTheGoSDK(t *testing.T) {
	recorder := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(recorder), sdktrace.WithResource(sdkresource.NewSchemaless(attribute.String("service.name", "shop"))))
	tracer := provider.Tracer("acme.agent", trace.WithInstrumentationVersion("1"))
	ctx, root := tracer.Start(context.Background(), "root")
	_, child := tracer.Start(ctx, "child", trace.WithSpanKind(trace.SpanKindClient), trace.WithLinks(trace.Link{SpanContext: root.SpanContext()}), trace.WithAttributes(
		attribute.String("s", "x"), attribute.Int("i", 3), attribute.Float64("f", 2), attribute.Bool("b", true), attribute.StringSlice("l", []string{"a", "b"})))
	child.RecordError(errors.New("boom"))
	child.SetStatus(codes.Error, "boom")
	child.End()
	root.End()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "\t")
	stubs := recorder.GetSpans()
	require.Len(t, stubs, 2)
	require.NoError(t, enc.Encode(&stubs[0]))
	require.NoError(t, enc.Encode(&stubs[1]))
	// By value, the status is a number.
	require.NoError(t, enc.Encode(stubs[0]))
	require.NoError(t, provider.Shutdown(context.Background()))

	docs, err := readAllDocs(t, out.Bytes())
	require.NoError(t, err)
	require.Len(t, docs, 3)
	assert.Equal(t, docs[0].Traces, docs[2].Traces)
	rs := docs[0].Traces.ResourceSpans().At(0)
	assert.Equal(t, map[string]any{"service.name": "shop"}, rs.Resource().Attributes().AsRaw())
	assert.Equal(t, "acme.agent", rs.ScopeSpans().At(0).Scope().Name())
	span := rs.ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, child.SpanContext().TraceID().String(), span.TraceID().String())
	assert.Equal(t, root.SpanContext().SpanID().String(), span.ParentSpanID().String())
	assert.Equal(t, root.SpanContext().SpanID().String(), span.Links().At(0).SpanID().String())
	assert.Equal(t, ptrace.SpanKindClient, span.Kind())
	assert.Equal(t, map[string]any{"s": "x", "i": int64(3), "f": 2.0, "b": true, "l": []any{"a", "b"}}, span.Attributes().AsRaw())
	assert.Equal(t, []any{ptrace.StatusCodeError, "boom"}, []any{span.Status().Code(), span.Status().Message()})
	message, _ := span.Events().At(0).Attributes().Get("exception.message")
	assert.Equal(t, "boom", message.Str())
	assert.Equal(t, "exception", span.Events().At(0).Name())
	last := docs[1].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	assert.True(t, last.ParentSpanID().IsEmpty())
	assert.GreaterOrEqual(t, last.EndTimestamp(), span.EndTimestamp())
	assert.Positive(t, last.StartTimestamp())
}
