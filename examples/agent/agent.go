package main

import (
	"context"
	"encoding/json"
	"fmt"
)

// caller runs a tool, or serves its recorded answer.
type caller interface {
	// session wraps a whole run.
	session(ctx context.Context, do func(context.Context) error) error
	call(ctx context.Context, tool string, args any, fn func() (any, error)) (json.RawMessage, error)
}

type agent struct {
	caller caller
	world  *world
}

// run is the agent's whole program: four steps, each fed by the one before.
func (a *agent) run(ctx context.Context, maxWords int) error {
	return a.caller.session(ctx, func(ctx context.Context) error {
		const url = "https://docs.example.com/agent-long-task"
		var doc struct{ Text string }
		if err := a.step(ctx, "fetch_doc", map[string]any{"url": url}, &doc,
			func() (any, error) { return a.world.fetch(ctx, url) }); err != nil {
			return err
		}
		var short struct{ Summary string }
		if err := a.step(ctx, "summarize", map[string]any{"text": doc.Text, "max_words": maxWords}, &short,
			func() (any, error) { return a.world.summarize(doc.Text, maxWords) }); err != nil {
			return err
		}
		var written struct{ Bytes int }
		if err := a.step(ctx, "write_report", map[string]any{"title": "Agents", "body": short.Summary}, &written,
			func() (any, error) { return a.world.writeReport("Agents", short.Summary) }); err != nil {
			return err
		}
		var sent struct{ Status int }
		return a.step(ctx, "notify", map[string]any{"channel": "reports", "bytes": written.Bytes}, &sent,
			func() (any, error) { return a.world.notify(ctx, "reports") })
	})
}

// step calls one tool and reads its result into out.
func (a *agent) step(ctx context.Context, tool string, args map[string]any, out any, fn func() (any, error)) error {
	raw, err := a.caller.call(ctx, tool, args, fn)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s: read result: %w", tool, err)
	}
	fmt.Printf("  %-12s ok\n", tool)
	return nil
}
