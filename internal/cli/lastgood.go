package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// errNoGood is a run without an earlier good one to compare with.
var errNoGood = errors.New("no earlier good run is kept")

// maxGoodPages bounds the rows looked through for a good run, by the thousand.
const maxGoodPages = 20

// lastGood fetches the last kept run of the same service and agent that succeeded
// and began before t.
func (a *app) lastGood(ctx context.Context, t *tape.Tape) (*tape.Tape, error) {
	m := t.Manifest
	if m == nil || m.Service == "" && m.Agent == "" {
		return nil, usage("the tape names neither service nor agent, so there is nothing to look for: name the good run")
	}
	c, done, err := a.client()
	if err != nil {
		return nil, err
	}
	defer done()
	query := goodQuery(m)
	began, _ := time.Parse(time.RFC3339Nano, m.Started)
	for range maxGoodPages {
		rows, next, err := c.list(ctx, query)
		if err != nil {
			return nil, err
		}
		if id := newestBefore(rows, m.TraceID, began); id != "" {
			text, err := c.pull(ctx, id, nil)
			if err != nil {
				return nil, explain(id, err)
			}
			good, err := tape.ReadAll(bytes.NewReader(text))
			if err != nil {
				return nil, fmt.Errorf("the tape of %s: %w", id, err)
			}
			return good, nil
		}
		if next == "" {
			break
		}
		query.Set("cursor", next)
	}
	return nil, &exitError{exitMissing, fmt.Errorf("%w of service %q, agent %q in %s", errNoGood, m.Service, m.Agent, c.where)}
}

// goodQuery asks for the rows of good runs of the same kind.
func goodQuery(m *tape.Manifest) url.Values {
	query := url.Values{"outcome": {string(tape.OutcomeSucceeded)}, "limit": {"1000"}}
	if m.Service != "" {
		query.Set("service", m.Service)
	}
	if m.Agent != "" {
		query.Set("agent", m.Agent)
	}
	return query
}

// newestBefore is the id of the kept run that began last before a time, any time
// where that is not known; "" when there is none among the rows. Rows come in the
// order of their decisions, which is not that in which runs began.
func newestBefore(rows []tape.Row, not string, before time.Time) (id string) {
	var latest time.Time
	for i := range rows {
		r := &rows[i]
		began, err := time.Parse(time.RFC3339Nano, r.Start)
		if err != nil || !r.Kept || r.TraceID == not || !before.IsZero() && !began.Before(before) {
			continue
		}
		if id == "" || began.After(latest) {
			id, latest = r.TraceID, began
		}
	}
	return id
}
