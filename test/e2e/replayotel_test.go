package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/replayotel"
	"github.com/tapedeck/tapedeck/tape"
)

// A session that records emits spans that the collector keeps as the same tape.
func TestARecordingSessionIsTheSameTapeInTheCollector(t *testing.T) {
	c := start(t)
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(c.OTLP+"/v1/traces"))
	require.NoError(t, err)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "shop"))))

	path := filepath.Join(t.TempDir(), "run.jsonl")
	session, err := replay.Open(path, replay.WithMode(replay.ModeRecord), replayotel.WithSpans(provider))
	require.NoError(t, err)
	ctx, root := provider.Tracer("program").Start(t.Context(), "invoke_agent shop")
	find := replay.Tool(session, "find", func(_ context.Context, q string) ([]int, error) { return []int{len(q)}, nil }, replay.WithSideEffect(false))
	_, err = find(ctx, "cheap flights")
	require.NoError(t, err)
	question := json.RawMessage(`{"messages":[{"role":"user","parts":[{"type":"text","content":"Which one?"}]}],"params":{"temperature":0.5}}`)
	_, err = session.Call(ctx, "chat", question, func(context.Context) (any, error) {
		return json.RawMessage(`{"message":{"role":"assistant","parts":[{"type":"text","content":"The first."}]},"finish_reason":"stop"}`), nil
	}, replay.WithKind(tape.KindModel))
	require.NoError(t, err)
	_, err = session.Call(ctx, "book", map[string]any{"flight": 1, "password": "hunter2"}, func(context.Context) (any, error) {
		return nil, &replay.RecordedError{Code: "503", Message: "upstream is down", Type: "Unavailable"}
	}, replay.WithSideEffect(true))
	require.Error(t, err)
	root.SetStatus(codes.Error, "booking failed")
	root.End()
	require.NoError(t, session.Close())
	require.NoError(t, provider.Shutdown(t.Context()))

	id := root.SpanContext().TraceID().String()
	awaitStatus(t, c, id, http.StatusOK, "")
	pulled := filepath.Join(t.TempDir(), "pulled.jsonl")
	_, stderr, code := cli(t, c, "pull", id, "-o", pulled)
	require.Zero(t, code, stderr)
	want, err := tape.ReadFile(path)
	require.NoError(t, err)
	got, err := tape.ReadFile(pulled)
	require.NoError(t, err)
	require.Len(t, got.Records, len(want.Records))
	for i := range want.Records {
		assert.Equal(t, want.Records[i].Key, got.Records[i].Key)
		if len(want.Records[i].Result) > 0 {
			assert.JSONEq(t, string(want.Records[i].Result), string(got.Records[i].Result))
		}
		assert.Equal(t, want.Records[i].Error, got.Records[i].Error)
	}

	again, err := replay.Open(pulled)
	require.NoError(t, err)
	for i := range want.Records {
		r := &want.Records[i]
		_, err := again.Ask(t.Context(), replay.Request{Kind: r.KindOf(), Tool: r.Tool, Args: r.Args})
		require.NoError(t, err)
	}
	require.NoError(t, again.Close())
}
