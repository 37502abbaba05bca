// Package mcpserve is a server of the Model Context Protocol whose tools, resources
// and prompts are those of a tape: what is asked for is answered from it, and
// nothing runs. The protocol itself, with all its revisions and both transports, is
// the official SDK's.
//
// A tools/call is a tool call with the name and the arguments of its parameters;
// "_meta" is no part of it. Of a server that a tape knows by prefixed names, such
// as mcp__github__search, the tools have their own names at the server's own path;
// see [Tools.Of].
//
// resources/read and prompts/get are records whose tool is the name of the method,
// with the parameters as arguments and the result as result, which is how a recorder
// in the program writes them; spans do not hold their content.
//
// # Answers
//
// The result of a record is what the model was given, without its envelope. It
// becomes content again: an array of content blocks as it is, other than text as
// JSON text, text as text. A recorded failure has isError, as recorded, or is a
// JSON-RPC error where its code is one. What the tape does not hold, structured
// content and "_meta" among it, is not made up.
//
// A verdict other than hit is a JSON-RPC error with the code [CodeVerdict], never a
// result with isError: that would be an answer that an agent goes on with. Its data
// is the event.
package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tapedeck/tapedeck/replay"
)

// CodeVerdict is the JSON-RPC error code of a call that the tape does not answer,
// from the range that the protocol leaves to servers.
const CodeVerdict = -32050

// name and version are how the server presents itself; the version is that of the
// way it answers.
const (
	name    = "tapedeck"
	version = "1"
)

// Asker answers calls; a replay session does.
type Asker interface {
	Ask(ctx context.Context, request replay.Request) (replay.Answer, error)
}

// HTTP serves the streamable HTTP transport. The last element of a request's path
// after the prefix, if there is one, names the server whose tools are meant.
type HTTP struct {
	http.Handler
	tools   *Tools
	mu      sync.Mutex
	servers map[string]*mcp.Server
}

// NewHTTP is the server of a tape's tools below a path. maxBody bounds a request in
// bytes.
func NewHTTP(asker Asker, tools *Tools, prefix string, maxBody int64) *HTTP {
	h := &HTTP{tools: tools, servers: map[string]*mcp.Server{}}
	server := func(r *http.Request) *mcp.Server {
		of := tools.Of(strings.Trim(strings.TrimPrefix(r.URL.Path, prefix), "/"))
		h.mu.Lock()
		defer h.mu.Unlock()
		known := h.servers[of.server]
		if known == nil {
			known = New(asker, of)
			h.servers[of.server] = known
		}
		return known
	}
	h.Handler = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes: maxBody,
		Logger:              slog.New(slog.DiscardHandler),
		// Who is answered at all is decided by the server that this is a part of.
		DisableLocalhostProtection: true,
	})
	return h
}

// ServerAt is the name of the server that clients reach at a host, where a label of
// the host is the name of one of several on the tape; else "".
func (h *HTTP) ServerAt(host string) string {
	for label := range strings.SplitSeq(strings.ToLower(host), ".") {
		// "mcp" is how clients begin names, and how many hosts are called.
		if label == "mcp" {
			continue
		}
		if of := h.tools.Of(label); of.server == label && len(of.names) > 0 {
			return label
		}
	}
	return ""
}

// Close ends the sessions of clients that went away without a word.
func (h *HTTP) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, server := range h.servers {
		for session := range server.Sessions() {
			errs = append(errs, session.Close())
		}
	}
	return errors.Join(errs...)
}

// Run serves one client on a transport, such as standard input and output, until
// the client closes it or ctx ends.
func Run(ctx context.Context, asker Asker, tools *Tools, transport mcp.Transport) error {
	return ended(ctx, New(asker, tools).Run(ctx, transport))
}

// ended is the error of a server that ran until its context ended, if that is not
// all there was.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// private keeps answers from whoever stands between: they are a run of somebody.
func private(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }

// New is a server with the tools of a tape.
func New(asker Asker, tools *Tools) *mcp.Server {
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	if len(tools.resources) > 0 {
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	if len(tools.prompts) > 0 {
		capabilities.Prompts = &mcp.PromptCapabilities{}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, &mcp.ServerOptions{
		Capabilities: capabilities,
		Logger:       slog.New(slog.DiscardHandler),
		SetCacheable: private,
	})
	// The tools are not registered with the SDK: it takes schemas of one draft only
	// and panics at others, and it would answer for a tool that the tape does not
	// have, where that is a miss.
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch params := req.GetParams().(type) {
			case *mcp.CallToolParamsRaw:
				return callTool(ctx, asker, tools.recorded(params.Name), params.Arguments)
			case *mcp.ReadResourceParams:
				return into(ctx, asker, method, object{"uri": params.URI}, &mcp.ReadResourceResult{})
			case *mcp.GetPromptParams:
				args := object{"name": params.Name}
				if len(params.Arguments) > 0 {
					args["arguments"] = params.Arguments
				}
				return into(ctx, asker, method, args, &mcp.GetPromptResult{})
			}
			switch method {
			case "tools/list":
				return &mcp.ListToolsResult{Tools: tools.list}, nil
			case "resources/list":
				return &mcp.ListResourcesResult{Resources: tools.resources}, nil
			case "prompts/list":
				return &mcp.ListPromptsResult{Prompts: tools.prompts}, nil
			}
			return next(ctx, method, req)
		}
	})
	return server
}

type object map[string]any

// into asks for a record that is the exchange of a method as a whole.
func into[R mcp.Result](ctx context.Context, asker Asker, method string, params object, result R) (mcp.Result, error) {
	args, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	answer, err := asker.Ask(ctx, replay.Request{Tool: method, Args: args, CannotRun: cannotRun})
	if err != nil {
		return nil, verdict(err)
	}
	if answer.Error != nil {
		return nil, failure(answer.Error)
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the recorded result of " + method + " is none of the protocol: " + err.Error()}
	}
	return result, nil
}
