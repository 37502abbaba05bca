package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/harness"
)

// process is a running collector.
type process struct {
	otlp    string
	metrics harness.Collector
	log     string

	cmd    *exec.Cmd
	exited chan error
}

var errEnded = errors.New("the collector ended by itself")

// launch starts a collector on free ports and waits until it receives. When it ends,
// it cancels ctx by way of ended.
func launch(ctx context.Context, ended context.CancelCauseFunc, t trial, dir string) (*process, error) {
	ports, err := harness.FreePorts(3)
	if err != nil {
		return nil, err
	}
	args, err := t.arguments(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "stored"), 0o700); err != nil {
		return nil, err
	}
	p := &process{
		otlp: "127.0.0.1:" + ports[0], log: filepath.Join(dir, "collector.log"), exited: make(chan error, 1),
		metrics: harness.Collector{Metrics: "http://127.0.0.1:" + ports[1] + "/metrics"},
	}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(t.program, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1", "BENCH_DIR="+dir, "BENCH_WAIT="+t.wait.String(),
		"BENCH_OTLP="+p.otlp, "BENCH_METRICS_PORT="+ports[1], "BENCH_API=127.0.0.1:"+ports[2])
	err = p.cmd.Start()
	// The collector has a descriptor of its own.
	if err := errors.Join(err, log.Close()); err != nil {
		return nil, err
	}
	go func() {
		err := p.cmd.Wait()
		ended(errors.Join(errEnded, err))
		p.exited <- err
	}()
	err = harness.Eventually(ctx, 30*time.Second, func() (bool, error) {
		conn, err := net.Dial("tcp", p.otlp)
		if err != nil {
			return false, err
		}
		return true, conn.Close()
	})
	if err != nil {
		return nil, errors.Join(err, context.Cause(ctx), p.kill(), p.excerpt())
	}
	return p, nil
}

// stop ends the collector as a service manager does; one that takes too long is
// killed.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-p.exited:
		return err
	case <-time.After(time.Minute):
		return errors.Join(errors.New("the collector did not end"), p.kill())
	}
}

// kill ends a collector of which nothing is wanted any more.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	var exit *exec.ExitError
	if err := <-p.exited; !errors.As(err, &exit) {
		return err
	}
	return nil
}

// excerpt is the end of the log, without the account of collections, as an error.
func (p *process) excerpt() error {
	const most = 4_000
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	var text []byte
	for line := range bytes.Lines(log) {
		if !gcLine.Match(line) {
			text = append(text, line...)
		}
	}
	return fmt.Errorf("its log ends in:\n%s", text[max(0, len(text)-most):])
}

// cpu is the processor time that the process used so far.
func (p *process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return cpuOf(stat)
}

// cpuOf reads user and system time, which stand in hundredths of a second whatever
// the kernel's own clock is.
func cpuOf(stat []byte) (time.Duration, error) {
	// The name of the program comes second, in brackets, and may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields behind the name", len(fields))
	}
	var sum time.Duration
	for _, field := range fields[user : system+1] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/PID/stat: %w", err)
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum, nil
}

// peak is the most memory that the process had resident, in bytes.
func (p *process) peak() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return peakOf(status)
}

func peakOf(status []byte) (int64, error) {
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("/proc/PID/status has no VmHWM")
}
