package mcpserve

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestABridgeSharesTheSession: what comes by the bridge takes records from the
// session that it leads to, answered in the same way.
func TestABridgeSharesTheSession(t *testing.T) {
	session, url := serve(t)
	theirs, ours := mcp.NewInMemoryTransports()
	done := make(chan error, 1)
	go func() { done <- Bridge(context.Background(), url+"/mcp", ours) }()
	client := connect(t, theirs, "")
	askAll(t, session, client)
	require.NoError(t, client.Close())
	require.NoError(t, <-done)
}

func TestABridgeToNowhere(t *testing.T) {
	_, ours := mcp.NewInMemoryTransports()
	err := Bridge(t.Context(), "http://127.0.0.1:1/mcp", ours)
	assert.ErrorContains(t, err, "http://127.0.0.1:1/mcp: ")
}
