// Package harness runs the real binaries on free loopback ports, for end-to-end
// tests and for the command that measures real traces. It is no part of the
// product.
package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Collector is a running otelcol-tape on a directory store.
type Collector struct {
	// Dir holds the store (tapes) and the log (collector.log).
	Dir string
	// OTLP, API and Metrics are base URLs.
	OTLP, API, Metrics string

	*Process
}

// StoreDir is the directory of the store.
func (c *Collector) StoreDir() string { return filepath.Join(c.Dir, "tapes") }

// LogPath is the file of the collector's own log.
func (c *Collector) LogPath() string { return filepath.Join(c.Dir, "collector.log") }

// Start runs the distribution in bin with a configuration that has the shape of
// deploy/local.yaml, on free ports, and waits until its API answers. Settings are
// given as the collector's --set has them.
func Start(ctx context.Context, bin, config, dir string, settings ...string) (*Collector, error) {
	return StartBinary(ctx, filepath.Join(bin, "otelcol-tape"), config, dir, nil, settings...)
}

// StartBinary is [Start] with any collector that has the components of Tapedeck, and
// with more variables in its environment.
func StartBinary(ctx context.Context, binary, config, dir string, env []string, settings ...string) (*Collector, error) {
	ports, err := FreePorts(4)
	if err != nil {
		return nil, err
	}
	c := &Collector{
		Dir:     dir,
		OTLP:    "http://127.0.0.1:" + ports[1],
		API:     "http://127.0.0.1:" + ports[2],
		Metrics: "http://127.0.0.1:" + ports[3] + "/metrics",
	}
	args := []string{"--config", config}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	env = append([]string{
		"TAPE_DIR=" + c.StoreDir(),
		"TAPE_SPOOL=" + filepath.Join(c.Dir, "spool"),
		"OTLP_GRPC=127.0.0.1:" + ports[0],
		"OTLP_HTTP=127.0.0.1:" + ports[1],
		"TAPE_API=127.0.0.1:" + ports[2],
		"TAPE_METRICS_PORT=" + ports[3],
	}, env...)
	c.Process, err = Launch(ctx, c.LogPath(), c.answers, env, binary, args...)
	return c, err
}

// answers reports whether both ends are up: a collector starts its exporters
// first and its receivers last.
func (c *Collector) answers(ctx context.Context) bool {
	if _, _, err := Get(ctx, c.API+"/v1/tapes?limit=1"); err != nil {
		return false
	}
	_, err := c.SendJSON(ctx, []byte("{}"))
	return err == nil
}

// SendJSON posts one OTLP/JSON request and returns the answer's status.
func (c *Collector) SendJSON(ctx context.Context, body []byte) (int, error) {
	return c.send(ctx, "/v1/traces", "application/json", body)
}

// SendProto posts one OTLP protobuf request and returns the answer's status.
func (c *Collector) SendProto(ctx context.Context, body []byte) (int, error) {
	return c.send(ctx, "/v1/traces", "application/x-protobuf", body)
}

// SendLogsJSON posts one OTLP/JSON request of log records and returns the answer's
// status.
func (c *Collector) SendLogsJSON(ctx context.Context, body []byte) (int, error) {
	return c.send(ctx, "/v1/logs", "application/json", body)
}

func (c *Collector) send(ctx context.Context, path, contentType string, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.OTLP+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// Get reads an URL.
func Get(ctx context.Context, url string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// Eventually calls ok until it holds, for at most the given time.
func Eventually(ctx context.Context, within time.Duration, ok func() (bool, error)) error {
	var last error
	for deadline := time.Now().Add(within); time.Now().Before(deadline) && ctx.Err() == nil; {
		good, err := ok()
		if good {
			return nil
		}
		last = err
		time.Sleep(50 * time.Millisecond)
	}
	return errors.Join(fmt.Errorf("did not come true in %s", within), last, ctx.Err())
}

// handedOut remembers ports, so that two collectors that start at the same time
// do not get the same.
var handedOut sync.Map

// FreePorts asks the system for n ports nobody listens on, none of them twice.
func FreePorts(n int) ([]string, error) {
	var ports []string
	for len(ports) < n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		if _, taken := handedOut.LoadOrStore(port, true); !taken {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// Run executes a binary of bin and returns what it printed and its exit code.
func Run(ctx context.Context, bin, name string, env []string, args ...string) (stdout, stderr string, code int, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return out.String(), errOut.String(), code, err
}
