package replayotel_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/replayotel"
	"github.com/tapedeck/tapedeck/tape"
)

// collected gives a provider whose spans come over OTLP, and what came.
func collected(t *testing.T) (provider *sdktrace.TracerProvider, all func() ptrace.Traces) {
	t.Helper()
	var mu sync.Mutex
	out := ptrace.NewTraces()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		request := ptraceotlp.NewExportRequest()
		if err != nil || request.UnmarshalProto(body) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		request.Traces().ResourceSpans().MoveAndAppendTo(out.ResourceSpans())
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(server.URL+"/v1/traces"))
	require.NoError(t, err)
	provider = sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	return provider, func() ptrace.Traces {
		require.NoError(t, provider.Shutdown(context.Background()))
		mu.Lock()
		defer mu.Unlock()
		return out
	}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// What a session records and what the collector makes of the spans that it emits
// are the same tape.
func TestTheSpansMakeTheSameTape(t *testing.T) {
	provider, all := collected(t)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	s, err := replay.Open(path, replay.WithMode(replay.ModeRecord), replayotel.WithSpans(provider))
	require.NoError(t, err)
	ctx, root := provider.Tracer("program").Start(t.Context(), "invoke_agent shop")
	yields := func(result string, err error) replay.Func {
		return func(context.Context) (any, error) {
			if result == "" {
				return nil, err
			}
			return raw(result), err
		}
	}
	_, err = s.Now(ctx)
	require.NoError(t, err)
	_, err = s.Random(ctx, 5)
	require.NoError(t, err)
	_, err = s.Call(ctx, "find", raw(`{"q":"ä <","n":3,"x":1.0,"deep":[null,{"a":true}]}`), yields(`{"hits":[1,2.5]}`, nil), replay.WithSideEffect(false), replay.WithToolCallID("call_1"))
	require.NoError(t, err)
	_, err = s.Call(ctx, "chat", raw(`{"system":[{"role":"system","parts":[{"type":"text","content":"Be kind."}]}],"messages":[{"role":"user","parts":[{"type":"text","content":"Refund me"}]}],"tools":[{"name":"pay","schema":{"type":"object"}}],"params":{"temperature":0.5,"max_tokens":100,"stop_sequences":["x"],"seed":7}}`),
		yields(`{"message":{"role":"assistant","parts":[{"type":"text","content":"Done"}]},"finish_reason":"stop","usage":{"input_tokens":12,"output_tokens":3}}`, nil), replay.WithKind(tape.KindModel))
	require.NoError(t, err)
	_, err = s.Call(ctx, "login", raw(`{"user":"a","password":"hunter2"}`), yields(`"ok"`, nil))
	require.NoError(t, err)
	_, err = s.Call(ctx, "nothing", nil, yields("", nil))
	require.NoError(t, err)
	_, err = s.Call(ctx, "pay", raw(`{"cents":5}`), yields("", &replay.RecordedError{Code: "503", Message: "down\nfor now", Type: "Unavailable"}), replay.WithSideEffect(true))
	require.Error(t, err)
	root.End()
	require.NoError(t, s.Close())

	recorded, err := tape.ReadFile(path)
	require.NoError(t, err)
	traces := all()
	rebuilt := dialect.Translate(traces, dialect.Options{})
	require.Len(t, rebuilt, 1)
	require.Len(t, rebuilt[0].Records, len(recorded.Records))
	for i := range recorded.Records {
		want, got := recorded.Records[i], rebuilt[0].Records[i]
		assert.Equal(t, want.Seq, got.Seq)
		assert.Equal(t, want.KindOf(), got.KindOf(), want.Tool)
		assert.Equal(t, want.Tool, got.Tool)
		assert.Equal(t, want.Key, got.Key, "%s: %s, %s", want.Tool, want.Args, got.Args)
		assert.JSONEq(t, null(want.Result), null(got.Result), want.Tool)
		assert.Equal(t, want.Error, got.Error, want.Tool)
		assert.Equal(t, want.ToolCallID, got.ToolCallID)
		if want.KindOf() == tape.KindTool {
			assert.Equal(t, want.SideEffect, got.SideEffect, want.Tool)
			assert.Equal(t, want.Clock, got.Clock, want.Tool)
			assert.Equal(t, want.Start, got.Start, want.Tool)
		}
	}
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2", "nothing is in a span that is not on the tape")

	// What the collector has replays the program.
	again, err := replay.New(rebuilt[0])
	require.NoError(t, err)
	for _, r := range recorded.Records {
		_, err := again.Ask(t.Context(), replay.Request{Kind: r.KindOf(), Tool: r.Tool, Args: r.Args})
		require.NoError(t, err, r.Tool)
	}
	require.NoError(t, again.Close())
}

func null(text json.RawMessage) string {
	if len(text) == 0 {
		return "null"
	}
	return string(text)
}

// What a live function does is below the span of its call.
func TestTheContextIsPassedOn(t *testing.T) {
	provider, all := collected(t)
	s, err := replay.New(nil, replay.WithMode(replay.ModeRecord), replayotel.WithSpans(provider))
	require.NoError(t, err)
	_, err = s.Call(t.Context(), "outer", nil, func(ctx context.Context) (any, error) {
		return s.Call(ctx, "inner", nil, func(ctx context.Context) (any, error) {
			return trace.SpanContextFromContext(ctx).IsValid(), nil
		})
	})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	names := map[string]string{}
	parents := map[string]string{}
	traces := all()
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				names[span.SpanID().String()] = span.Name()
				parents[span.Name()] = span.ParentSpanID().String()
			}
		}
	}
	assert.Equal(t, "execute_tool outer", names[parents["execute_tool inner"]])
	assert.Empty(t, strings.Trim(parents["execute_tool outer"], "0"))
}
