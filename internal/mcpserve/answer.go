package mcpserve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// cannotRun is why a call by MCP never runs live: a server there answers, and cannot
// have its client do it.
const cannotRun = "MCP cannot tell a client to run a call: ask POST /v1/call for it, by a client or a hook of tape, or let the tape answer"

// callTool answers a tools/call.
func callTool(ctx context.Context, asker Asker, tool string, args json.RawMessage) (mcp.Result, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}") // Arguments may be left out; a tape has none then.
	}
	answer, err := asker.Ask(ctx, replay.Request{Tool: tool, Args: args, CannotRun: cannotRun})
	if err != nil {
		return nil, verdict(err)
	}
	if answer.Error != nil && isProtocol(answer.Error) {
		return nil, failure(answer.Error)
	}
	result := resultOf(answer.Result)
	if answer.Error != nil {
		result.IsError = true
		if len(result.Content) == 0 {
			result.Content = text(cmp.Or(answer.Error.Message, answer.Error.Code, "the call failed"))
		}
	}
	return result, nil
}

// resultOf puts a recorded result into the envelope that it came in.
func resultOf(result json.RawMessage) *mcp.CallToolResult {
	var whole struct {
		Content json.RawMessage `json:"content"`
	}
	if first(result) == '{' && json.Unmarshal(result, &whole) == nil && len(blocks(whole.Content)) > 0 {
		var envelope mcp.CallToolResult
		if json.Unmarshal(result, &envelope) == nil {
			return &envelope
		}
	}
	if content := blocks(result); content != nil {
		return &mcp.CallToolResult{Content: content}
	}
	var s string
	switch {
	case len(result) == 0 || string(result) == "null":
		return &mcp.CallToolResult{Content: []mcp.Content{}}
	case json.Unmarshal(result, &s) == nil:
		return &mcp.CallToolResult{Content: text(s)}
	}
	return &mcp.CallToolResult{Content: text(string(result))}
}

func text(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }

// blocks are the content blocks in an array of nothing else, nil if it is none.
func blocks(result json.RawMessage) []mcp.Content {
	var types []struct {
		Type string `json:"type"`
	}
	if first(result) != '[' || json.Unmarshal(result, &types) != nil || len(types) == 0 {
		return nil
	}
	for _, item := range types {
		switch item.Type {
		case "text", "image", "audio", "resource", "resource_link":
		default:
			return nil
		}
	}
	var envelope mcp.CallToolResult
	if json.Unmarshal(bytes.Join([][]byte{[]byte(`{"content":`), result, []byte("}")}, nil), &envelope) != nil {
		return nil
	}
	return envelope.Content
}

func first(text json.RawMessage) byte {
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) > 0 {
		return text[0]
	}
	return 0
}

// isProtocol reports whether a recorded failure is one of the protocol and not of
// the tool: its code is one that JSON-RPC reserves.
func isProtocol(e *tape.Error) bool {
	code, err := strconv.Atoi(e.Code)
	return err == nil && code <= -32000 && code >= -32768
}

// failure is the JSON-RPC error that was recorded.
func failure(e *tape.Error) error {
	code, err := strconv.Atoi(e.Code)
	if err != nil {
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: int64(code), Message: cmp.Or(e.Message, e.Type, "the request failed")}
}

// verdict is the JSON-RPC error of a call that the tape does not answer.
func verdict(err error) error {
	wire := &jsonrpc.Error{Code: CodeVerdict, Message: err.Error()}
	if event, ok := replay.EventOf(err); ok {
		data := struct {
			Code string `json:"code"`
			replay.Event
		}{"tape_" + string(event.Verdict), event}
		if event.Verdict == replay.VerdictRefused {
			data.Code = "live_refused" // As over HTTP.
		}
		wire.Message = data.Code + ": " + event.Message
		// What is made of strings, numbers and JSON text that was parsed before.
		wire.Data, _ = json.Marshal(data)
	}
	return wire
}
