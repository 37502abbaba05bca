package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
)

// world is what lies outside of the agent: servers on loopback, a model and a
// disk.
type world struct {
	server *httptest.Server
	client *http.Client
	report string
}

func newWorld(run int, report string) *world {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /agent-long-task", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(rw, strings.TrimSpace(strings.Repeat("A long task needs a ledger of what was done. ", 6)))
	})
	mux.HandleFunc("POST /notify/{channel}", func(rw http.ResponseWriter, _ *http.Request) {
		if run%3 == 0 {
			http.Error(rw, "upstream is down", http.StatusServiceUnavailable)
			return
		}
		rw.WriteHeader(http.StatusAccepted)
	})
	w := &world{server: httptest.NewServer(mux), report: report}
	// Every host name leads to the one server there is.
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, w.server.Listener.Addr().String())
	}
	w.client = &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	return w
}

func (w *world) close() { w.server.Close() }

func (w *world) fetch(ctx context.Context, url string) (any, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Replace(url, "https://", "http://", 1), nil)
	if err != nil {
		return nil, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return map[string]any{"text": string(body)}, nil
}

// summarize stands for a paid model call: the first maxWords words.
func (w *world) summarize(text string, maxWords int) (any, error) {
	words := strings.Fields(text)
	if len(words) > maxWords {
		words = words[:maxWords]
	}
	return map[string]any{"summary": strings.Join(words, " ")}, nil
}

func (w *world) writeReport(title, body string) (any, error) {
	content := "# " + title + "\n\n" + body + "\n"
	if err := os.WriteFile(w.report, []byte(content), 0o600); err != nil {
		return nil, err
	}
	return map[string]any{"bytes": len(content)}, nil
}

func (w *world) notify(ctx context.Context, channel string) (any, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hooks.example.com/notify/"+channel, nil)
	if err != nil {
		return nil, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("webhook answered %s", resp.Status)
	}
	return map[string]any{"status": resp.StatusCode}, nil
}
