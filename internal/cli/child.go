package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// runChild runs a command on our own streams with more environment, passes
// signals on to it and returns the code it ended with, as a shell has it: 128
// and the number of the signal for one that was killed. The error is for a
// command that did not start.
func (a *app) runChild(argv, env []string) (code int, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	cmd.Env = append(os.Environ(), env...)

	// Caught from before the start, so that no signal ends us and leaves the
	// command behind.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, usage("the command did not start: %w", err)
	}
	ended := make(chan struct{})
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		for {
			select {
			case s := <-signals:
				if !fromKeyboard(s) || !onTerminal() {
					// An error means that it has just ended.
					_ = cmd.Process.Signal(s)
				}
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	<-passed
	return childCode(err)
}

// childCode turns what Wait said into an exit code.
func childCode(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return exitOK, nil
	case !errors.As(err, &exit):
		return 0, fmt.Errorf("the command: %w", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// fromKeyboard reports the signals that the keys of a terminal send.
func fromKeyboard(s os.Signal) bool { return s == os.Interrupt || s == syscall.SIGQUIT }
