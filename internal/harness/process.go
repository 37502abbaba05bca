package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Process is a running program that writes its output to a log.
type Process struct {
	cmd    *exec.Cmd
	exited chan error
	log    *os.File
}

// Launch starts a program with more variables in its environment and waits until up
// holds. The log is appended to.
func Launch(ctx context.Context, log string, up func(context.Context) bool, env []string, binary string, args ...string) (*Process, error) {
	p := &Process{exited: make(chan error, 1)}
	p.cmd = exec.CommandContext(ctx, binary, args...)
	p.cmd.Env = append(os.Environ(), env...)
	var err error
	if p.log, err = os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, p.log.Close())
	}
	go func() { p.exited <- p.cmd.Wait() }()
	return p, p.await(ctx, up)
}

func (p *Process) await(ctx context.Context, up func(context.Context) bool) error {
	const patience = 60 * time.Second
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if up(ctx) {
			return nil
		}
		select {
		case err := <-p.exited:
			p.exited <- err
			text, _ := os.ReadFile(p.log.Name())
			return errors.Join(fmt.Errorf("%s ended: %w\n%s", p.cmd.Path, err, text), p.log.Close())
		case <-ctx.Done():
			return errors.Join(ctx.Err(), p.Kill())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.Join(fmt.Errorf("%s did not come up in %s", p.cmd.Path, patience), p.Kill())
}

// Stop ends the program as a service manager does and waits for it.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.wait()
}

// Kill ends the program without a chance to do anything.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	var exit *exec.ExitError
	if err := p.wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

func (p *Process) wait() error {
	err := <-p.exited
	p.exited <- err
	if cerr := p.log.Close(); cerr != nil && !errors.Is(cerr, os.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	return err
}
