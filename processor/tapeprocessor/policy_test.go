package tapeprocessor

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
)

// A bucket that is away must not keep a collector from starting. The rules of
// redaction get there once it is back.
func TestTheProcessorStartsWithoutItsStore(t *testing.T) {
	host := tapestoretest.NewHost()
	var away atomic.Bool
	away.Store(true)
	asked := make(chan struct{}, 100)
	host.Backend.Fail = func(string, string) error {
		if away.Load() {
			asked <- struct{}{}
			return errors.New("connection refused")
		}
		return nil
	}
	cfg := fastConfig()
	id := component.MustNewID("tape_store")
	cfg.Storage = &id
	p, err := NewFactory().CreateTraces(t.Context(), processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), host))
	defer func() { require.NoError(t, p.Shutdown(context.Background())) }()
	require.NoError(t, p.ConsumeTraces(t.Context(), failedRun(1, 10)))

	policy, err := redact.New(cfg.Redaction)
	require.NoError(t, err)
	want := scrub.New(policy).Policy().Manifest().Policy
	<-asked
	away.Store(false)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		got, err := host.Store().Policy(t.Context(), want)
		require.NoError(c, err)
		assert.Equal(c, want, got.Policy)
	}, 10*time.Second, 20*time.Millisecond)
}

// One that never comes back must not keep it from stopping.
func TestTheProcessorStopsWithoutItsStore(t *testing.T) {
	host := tapestoretest.NewHost()
	host.Backend.Fail = func(string, string) error { return errors.New("connection refused") }
	cfg := fastConfig()
	id := component.MustNewID("tape_store")
	cfg.Storage = &id
	p, err := NewFactory().CreateTraces(t.Context(), processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), host))
	begun := time.Now()
	require.NoError(t, p.Shutdown(context.Background()))
	assert.Less(t, time.Since(begun), 5*time.Second)
}
