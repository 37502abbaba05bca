package tapereceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

const (
	followKey = "follow"
	watchKey  = "watch"
	// saveEvery is how many runs are sent before the checkpoint is written, so that
	// a kill repeats no more; saveIdle how often it is written while nothing comes,
	// so that a restart does not look back over days.
	saveEvery = 100
	saveIdle  = time.Minute
)

// checkpoint remembers, in a storage extension, what was done. A nil checkpoint
// remembers nothing.
type checkpoint struct{ client storage.Client }

func openCheckpoint(ctx context.Context, host component.Host, id *component.ID, receiver component.ID) (*checkpoint, error) {
	if id == nil {
		return nil, nil
	}
	ext, ok := host.GetExtensions()[*id]
	if !ok {
		return nil, fmt.Errorf("there is no extension %s: it must be among service::extensions", id)
	}
	st, ok := ext.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("extension %s is no storage", id)
	}
	client, err := st.GetClient(ctx, component.KindReceiver, receiver, "")
	if err != nil {
		return nil, err
	}
	return &checkpoint{client}, nil
}

// load reads what was saved under a key and reports whether there was anything.
func (c *checkpoint) load(ctx context.Context, key string, into any) (bool, error) {
	if c == nil {
		return false, nil
	}
	text, err := c.client.Get(ctx, key)
	if err != nil || len(text) == 0 {
		return false, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("checkpoint %s: %w", key, err)
	}
	return true, nil
}

func (c *checkpoint) save(ctx context.Context, key string, value any) error {
	if c == nil {
		return nil
	}
	text, err := json.Marshal(value)
	return errors.Join(err, c.client.Set(ctx, key, text))
}

func (c *checkpoint) close(ctx context.Context) error { return c.client.Close(ctx) }

// followState is where mode follow stands.
type followState struct {
	// From is the earliest decision that is of interest.
	From time.Time `json:"from"`
	// Looked is when the last look began after which nothing was left to do.
	Looked time.Time `json:"looked"`
	// Seen has the decision of each run that the next look finds again.
	Seen map[string]string `json:"seen"`

	saved time.Time
}

func seenKey(tenant string, row *tape.Row) string {
	if tenant == "" {
		return row.TraceID
	}
	return row.TraceID + " " + tenant
}

// forget drops what no look will find again and reports whether there was any.
func (s *followState) forget(since time.Time) bool {
	before := len(s.Seen)
	for id, decided := range s.Seen {
		if t, err := time.Parse(time.RFC3339Nano, decided); err != nil || t.Before(since) {
			delete(s.Seen, id)
		}
	}
	return len(s.Seen) < before
}
