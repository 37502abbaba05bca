package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const demo = `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","complete":true,"tools":[
 {"name":"search","description":"Look it up","schema":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}},
 {"name":"odd","schema":{"type":"string"}}]}
{"seq":1,"tool":"search","args":{"q":"é"},"result":"first"}
{"seq":2,"tool":"search","args":{"q":"é"},"result":{"hits":2}}
{"seq":3,"tool":"blocks","args":{},"result":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}]}
{"seq":4,"tool":"whole","args":{"n":1},"result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"x":1},"isError":false}}
{"seq":5,"tool":"list","args":{},"result":[1,2]}
{"seq":6,"tool":"pay","args":{"eur":12},"result":"card declined","error":{"code":"","message":"card declined","type":"tool_error"}}
{"seq":7,"tool":"gone","args":{},"result":null,"error":{"code":"-32602","message":"Unknown tool: gone","type":"McpError"}}
{"seq":8,"tool":"resources/read","args":{"uri":"file:///a"},"result":{"contents":[{"uri":"file:///a","text":"A"}]}}
{"seq":9,"tool":"prompts/get","args":{"name":"greet","arguments":{"who":"Ada"}},"result":{"messages":[{"role":"user","content":{"type":"text","text":"Hi Ada"}}]}}
{"seq":10,"tool":"mcp__git__log","args":{"n":3},"result":"three"}
{"seq":11,"tool":"nothing","args":{},"result":null}
{"seq":12,"tool":"chat","kind":"model","args":{},"result":{}}
`

func fixture(t testing.TB) (*replay.Session, *Tools) {
	read, err := tape.ReadAll(strings.NewReader(strings.ReplaceAll(demo, "\n ", "")))
	require.NoError(t, err)
	session, err := replay.New(read)
	require.NoError(t, err)
	return session, OfTape(read, nil)
}

func serve(t *testing.T) (*replay.Session, string) {
	session, tools := fixture(t)
	handler := NewHTTP(session, tools, "/mcp", 1<<20)
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		assert.NoError(t, handler.Close())
		server.Close()
	})
	return session, server.URL
}

func connect(t *testing.T, transport mcp.Transport, version string) *mcp.ClientSession {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	var options *mcp.ClientSessionOptions
	if version != "" {
		options = &mcp.ClientSessionOptions{ProtocolVersion: version}
	}
	session, err := client.Connect(t.Context(), transport, options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func content(t *testing.T, r *mcp.CallToolResult) string {
	text, err := json.Marshal(r.Content)
	require.NoError(t, err)
	return string(text)
}

// TestAClientOfTheSDK asks for everything the tape has, in every revision and over
// both transports.
func TestAClientOfTheSDK(t *testing.T) {
	for _, version := range []string{"", "2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run("http "+version, func(t *testing.T) {
			session, url := serve(t)
			askAll(t, session, connect(t, &mcp.StreamableClientTransport{Endpoint: url + "/mcp"}, version))
		})
		t.Run("stdio "+version, func(t *testing.T) {
			session, tools := fixture(t)
			theirs, ours := mcp.NewInMemoryTransports()
			ended := make(chan error, 1)
			go func() { ended <- Run(context.Background(), session, tools, ours) }()
			client := connect(t, theirs, version)
			askAll(t, session, client)
			require.NoError(t, client.Close())
			require.NoError(t, <-ended)
		})
	}
}

func askAll(t *testing.T, session *replay.Session, client *mcp.ClientSession) {
	ctx := t.Context()
	listed, err := client.ListTools(ctx, nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	assert.Equal(t, []string{"search", "odd", "blocks", "whole", "list", "pay", "gone", "mcp__git__log", "nothing"}, names)
	assert.Equal(t, "Look it up", listed.Tools[0].Description)
	assert.Equal(t, map[string]any{"type": "object"}, listed.Tools[1].InputSchema, "the protocol has no other arguments than objects")

	call := func(name string, args any) *mcp.CallToolResult {
		result, err := client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args, Meta: mcp.Meta{"progressToken": 7}})
		require.NoError(t, err, name)
		return result
	}
	assert.JSONEq(t, `[{"type":"text","text":"first"}]`, content(t, call("search", map[string]any{"q": "é"})))
	second := call("search", map[string]any{"q": "é"})
	assert.JSONEq(t, `[{"type":"text","text":"{\"hits\":2}"}]`, content(t, second))
	assert.Nil(t, second.StructuredContent, "the tape does not say that there was any")
	assert.JSONEq(t, `[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}]`, content(t, call("blocks", nil)))
	whole := call("whole", map[string]any{"n": 1})
	assert.JSONEq(t, `[{"type":"text","text":"x"}]`, content(t, whole))
	assert.Equal(t, map[string]any{"x": 1.0}, whole.StructuredContent)
	assert.JSONEq(t, `[{"type":"text","text":"[1,2]"}]`, content(t, call("list", nil)))
	failed := call("pay", map[string]any{"eur": 12})
	assert.True(t, failed.IsError)
	assert.JSONEq(t, `[{"type":"text","text":"card declined"}]`, content(t, failed))
	assert.JSONEq(t, `[]`, content(t, call("nothing", nil)))
	call("mcp__git__log", map[string]any{"n": 3})

	var wire *jsonrpc.Error
	_, err = client.CallTool(ctx, &mcp.CallToolParams{Name: "gone"})
	require.ErrorAs(t, err, &wire)
	assert.Equal(t, int64(-32602), wire.Code)

	resources, err := client.ListResources(ctx, nil)
	require.NoError(t, err)
	require.Len(t, resources.Resources, 1)
	read, err := client.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///a"})
	require.NoError(t, err)
	assert.Equal(t, "A", read.Contents[0].Text)
	prompts, err := client.ListPrompts(ctx, nil)
	require.NoError(t, err)
	require.Len(t, prompts.Prompts, 1)
	prompt, err := client.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "Ada"}})
	require.NoError(t, err)
	assert.Equal(t, "Hi Ada", prompt.Messages[0].Content.(*mcp.TextContent).Text)

	assert.Equal(t, session.Stats().Steps, session.Stats().TapeHits)
	for _, c := range []struct {
		name string
		args any
		code string
	}{
		{"search", map[string]any{"q": "é"}, "tape_exhausted"},
		{"delete_everything", nil, "tape_miss"},
	} {
		_, err = client.CallTool(ctx, &mcp.CallToolParams{Name: c.name, Arguments: c.args})
		require.ErrorAs(t, err, &wire, c.name)
		assert.Equal(t, int64(CodeVerdict), wire.Code)
		assert.Contains(t, string(wire.Data), `"code":"`+c.code+`"`)
	}
}

func TestADriftNamesThePlace(t *testing.T) {
	_, url := serve(t)
	client := connect(t, &mcp.StreamableClientTransport{Endpoint: url + "/mcp"}, "")
	_, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "whole", Arguments: map[string]any{"n": 2}})
	var wire *jsonrpc.Error
	require.ErrorAs(t, err, &wire)
	assert.Contains(t, wire.Message, "tape_drift: drift at step 4: whole")
	assert.Contains(t, string(wire.Data), `"differences":[{"path":"n","recorded":1,"live":2}]`)
}

func TestAServerOfSeveral(t *testing.T) {
	session, url := serve(t)
	client := connect(t, &mcp.StreamableClientTransport{Endpoint: url + "/mcp/git"}, "")
	listed, err := client.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 1)
	assert.Equal(t, "log", listed.Tools[0].Name)
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "log", Arguments: map[string]any{"n": 3}})
	require.NoError(t, err)
	assert.JSONEq(t, `[{"type":"text","text":"three"}]`, content(t, result))
	assert.Equal(t, 1, session.Stats().TapeHits)
}

// raw sends one message as it is written here.
func raw(t *testing.T, url, session, body string) (int, http.Header, string) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.Contains(data, []byte("jsonrpc")) {
			text = bytes.TrimSpace(data)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	return response.StatusCode, response.Header, string(text)
}

// TestIdsNotificationsAndStaleSessions: an id comes back with its type, a
// notification is accepted, and an unknown session is 404, so that clients begin
// anew, and not 400, at which they would try again for ever.
func TestIdsNotificationsAndStaleSessions(t *testing.T) {
	_, url := serve(t)
	url += "/mcp"
	status, header, text := raw(t, url, "", `{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	require.Equal(t, http.StatusOK, status, text)
	assert.Contains(t, text, `"id":"1"`)
	assert.Contains(t, text, `"protocolVersion":"2025-11-25"`)
	session := header.Get("Mcp-Session-Id")
	require.NotEmpty(t, session)

	status, _, text = raw(t, url, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	assert.Equal(t, http.StatusAccepted, status)
	assert.Empty(t, text)
	status, _, _ = raw(t, url, session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	assert.Equal(t, http.StatusAccepted, status)

	for _, id := range []string{`1`, `"1"`, `"b"`, `9007199254740991`} {
		_, _, text = raw(t, url, session, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list"}`)
		assert.Contains(t, text, `"id":`+id+`,`)
	}
	status, _, _ = raw(t, url, "stale", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	assert.Equal(t, http.StatusNotFound, status)
	status, _, _ = raw(t, url, session, `{"jsonrpc":`)
	assert.Equal(t, http.StatusBadRequest, status)
	status, _, _ = raw(t, url, session, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"`+strings.Repeat("x", 1<<20)+`"}}`)
	assert.Equal(t, http.StatusRequestEntityTooLarge, status)
	_, _, text = raw(t, url, session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"q":"é"}}}`)
	assert.Contains(t, text, `"first"`, "the session goes on")
}

func TestDefinitionsTakeThePlaceOfTheTapes(t *testing.T) {
	session, _ := fixture(t)
	tools := OfTape(session.Tape(), []tape.Tool{{Name: "only", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}})
	require.Len(t, tools.list, 1)
	assert.Equal(t, "only", tools.list[0].Name)
	assert.Len(t, tools.resources, 1)
}

// Calls that would have to run live are refused: the protocol cannot have a client run
// them.
func TestLiveCallsAreRefused(t *testing.T) {
	read, err := tape.ReadAll(strings.NewReader(strings.ReplaceAll(demo, "\n ", "")))
	require.NoError(t, err)
	pay := replay.Live{Isolated: true, Tools: []string{"pay"}, SideEffects: true}
	for name, c := range map[string]struct {
		option replay.Option
		served string
	}{
		"a live replay": {replay.WithLive(pay), "first"},
		"a fork":        {replay.WithFork(1, pay), ""},
	} {
		t.Run(name, func(t *testing.T) {
			session, err := replay.New(read, c.option)
			require.NoError(t, err)
			handler := NewHTTP(session, OfTape(read, nil), "/mcp", 1<<20)
			server := httptest.NewServer(handler)
			t.Cleanup(func() {
				assert.NoError(t, handler.Close())
				server.Close()
			})
			client := connect(t, &mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp"}, "")
			_, err = client.CallTool(t.Context(), &mcp.CallToolParams{Name: "pay", Arguments: map[string]any{"eur": 12}})
			var wire *jsonrpc.Error
			require.ErrorAs(t, err, &wire)
			assert.Equal(t, int64(CodeVerdict), wire.Code)
			assert.Contains(t, wire.Message, "live_refused: refused: call 1")
			assert.Contains(t, wire.Message, "MCP cannot tell a client to run a call: ask POST /v1/call")
			if c.served != "" {
				got, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"q": "é"}})
				require.NoError(t, err)
				assert.Contains(t, content(t, got), c.served, "the tape answers all others")
			}
			require.ErrorIs(t, session.Close(), replay.ErrRefused)
			assert.Zero(t, session.Stats().LiveToolCalls)
		})
	}
}
