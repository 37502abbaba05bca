package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bridge serves one client on a transport from the server at an endpoint, so that a
// client of standard input and output shares the session of a replay that runs
// already. It ends as [Run] does.
func Bridge(ctx context.Context, endpoint string, transport mcp.Transport) error {
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: version}, &mcp.ClientOptions{Logger: slog.New(slog.DiscardHandler)})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: endpoint,
		// An attempt after a lost answer could take a second record.
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", endpoint, err)
	}
	defer func() { _ = session.Close() }()
	offered := session.InitializeResult().Capabilities
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: offered.Tools, Resources: offered.Resources, Prompts: offered.Prompts},
		Logger:       slog.New(slog.DiscardHandler),
		SetCacheable: private,
	})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch params := req.GetParams().(type) {
			case *mcp.CallToolParamsRaw:
				return result(session.CallTool(ctx, &mcp.CallToolParams{Name: params.Name, Arguments: params.Arguments}))
			case *mcp.ReadResourceParams:
				return result(session.ReadResource(ctx, &mcp.ReadResourceParams{URI: params.URI}))
			case *mcp.GetPromptParams:
				return result(session.GetPrompt(ctx, &mcp.GetPromptParams{Name: params.Name, Arguments: params.Arguments}))
			}
			switch method {
			case "tools/list":
				return result(session.ListTools(ctx, nil))
			case "resources/list":
				return result(session.ListResources(ctx, nil))
			case "prompts/list":
				return result(session.ListPrompts(ctx, nil))
			}
			return next(ctx, method, req)
		}
	})
	return ended(ctx, server.Run(ctx, transport))
}

// result keeps a failed request from becoming a result that is not nil, and passes
// the error of the server on as it came, with its data.
func result[R mcp.Result](r R, err error) (mcp.Result, error) {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return nil, wire
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}
