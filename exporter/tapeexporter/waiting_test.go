package tapeexporter

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestARunInTheQueueIsPending(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.QueueConfig.Get().WaitForResult = false
	cfg.RetryConfig.InitialInterval, cfg.RetryConfig.MaxInterval = time.Millisecond, time.Millisecond
	cfg.HTTP.Get().NetAddr.Endpoint = "127.0.0.1:0"
	f := start(t, cfg)
	reached, away := make(chan struct{}, 1000), make(chan struct{})
	f.host.Backend.Fail = func(op, _ string) error {
		if op != "put" {
			return nil
		}
		select {
		case reached <- struct{}{}:
		default:
		}
		select {
		case <-away:
			return nil
		default:
			return errors.New("the store is away")
		}
	}
	require.NoError(t, f.ConsumeTraces(t.Context(), storetest.AgentRun(t, runID, noon, good, bad)))
	<-reached
	status, body := get(t, f.url(t)+"/v1/tapes/"+runID)
	assert.Equal(t, http.StatusNotFound, status)
	assert.Contains(t, body, `"pending"`)
	close(away)
	require.Eventually(t, func() bool {
		status, _ = get(t, f.url(t)+"/v1/tapes/"+runID)
		return status == http.StatusOK
	}, 5*time.Second, 5*time.Millisecond)
}

func TestWhatIsWaiting(t *testing.T) {
	now := noon
	w := newWaiting(time.Minute, func() time.Time { return now })
	one, two := runKey{"", pcommon.TraceID{1}}, runKey{"", pcommon.TraceID{2}}
	assert.False(t, w.has("", one.id.String()))
	w.add([]runKey{one, two})
	w.done([]runKey{two})
	assert.True(t, w.has("", one.id.String()))
	assert.False(t, w.has("", two.id.String()))
	for _, bad := range []string{"", "xyz", one.id.String()[2:], one.id.String() + "00"} {
		assert.False(t, w.has("", bad))
	}
	assert.False(t, w.has("blue", one.id.String()), "it is another tenant's")
	now = now.Add(time.Hour)
	assert.True(t, w.has("", one.id.String()), "it was not tried yet, however long that takes")
	w.fail([]runKey{one})
	assert.True(t, w.has("", one.id.String()))
	now = now.Add(time.Minute + 1)
	assert.False(t, w.has("", one.id.String()), "it is no longer tried")
	w.add([]runKey{two})
	assert.Len(t, w.failed, 1, "what was given up takes no memory")
}
