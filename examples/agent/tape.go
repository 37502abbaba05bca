package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// tapeCaller asks a tape for every answer; the tools themselves never run.
type tapeCaller struct{ url string }

func (c *tapeCaller) session(ctx context.Context, do func(context.Context) error) error {
	return do(ctx)
}

func (c *tapeCaller) call(ctx context.Context, tool string, args any, _ func() (any, error)) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]any{"tool": tool, "args": args})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/call", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Message, Code string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("read the tape's answer (%s): %w", resp.Status, err)
	}
	if answer.Error != nil {
		return nil, errors.New(answer.Error.Message)
	}
	return answer.Result, nil
}
