package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/tapedeck/tapedeck/internal/conversation"
	"github.com/tapedeck/tapedeck/tape"
)

// pageOfRows is how many rows are asked for at a time.
const pageOfRows = "1000"

// pullConversation writes one tape of all stored runs of a conversation.
func (a *app) pullConversation(ctx context.Context, id string, query url.Values, bare bool, out string) error {
	if id == "" {
		return usage("--conversation is empty")
	}
	c, done, err := a.client()
	if err != nil {
		return err
	}
	defer done()
	rows, err := c.conversation(ctx, id)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return missing("no run of conversation %q is known to %s", id, c.where)
	}
	var runs []*tape.Tape
	var gone []conversation.Missing
	for i := range rows {
		run, why, err := c.runOf(ctx, &rows[i], query)
		switch {
		case err != nil:
			return err
		case run == nil:
			gone = append(gone, conversation.Missing{TraceID: rows[i].TraceID, Why: why})
		default:
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return missing("none of the %s of conversation %q has a tape: %s", count(len(rows), "run"), id, gone[0].Why)
	}
	joined, err := conversation.Join(id, runs, gone)
	if err != nil {
		return err
	}
	manifest := joined.Manifest
	if bare {
		manifest = nil
	}
	err = a.output(out, func(w io.Writer) error {
		return tape.NewWriter(w).WriteAll(manifest, slices.Values(joined.Records))
	})
	if err != nil {
		return err
	}
	a.noteGaps("conversation "+id, joined.Manifest)
	return nil
}

// conversation lists all rows of a conversation.
func (c *client) conversation(ctx context.Context, id string) ([]tape.Row, error) {
	query := url.Values{"conversation_id": {id}, "limit": {pageOfRows}}
	var all []tape.Row
	for {
		rows, next, err := c.list(ctx, query)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		if next == "" {
			return all, nil
		}
		if next == query.Get("cursor") || len(rows) == 0 {
			return nil, missing("%s: the list does not advance", c.where)
		}
		query.Set("cursor", next)
	}
}

// runOf is the tape of a row, or why there is none.
func (c *client) runOf(ctx context.Context, row *tape.Row, query url.Values) (run *tape.Tape, why string, err error) {
	if !row.Kept {
		return nil, "it was not kept, only its summary: " + rowText(row), nil
	}
	text, err := c.pull(ctx, row.TraceID, query)
	var e *apiError
	if errors.As(err, &e) {
		switch e.Code {
		case "not_found", "summarised", "pending", "damaged":
			return nil, e.Error(), nil
		}
	}
	if err != nil {
		return nil, "", explain(row.TraceID, err)
	}
	run, err = tape.ReadAll(bytes.NewReader(text))
	if err != nil {
		return nil, "", missing("%s: the answer is not a tape: %w", row.TraceID, err)
	}
	if run.Manifest == nil {
		return nil, "", fmt.Errorf("%s: the answer has no manifest", row.TraceID)
	}
	return run, "", nil
}
