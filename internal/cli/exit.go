package cli

import (
	"errors"
	"fmt"
)

// The exit codes.
const (
	exitOK      = 0
	exitNo      = 1 // the thing asked about is not so
	exitUsage   = 2 // bad usage or unreadable input
	exitMissing = 3 // not found or out of reach
)

// exitError ends the command with a code. A nil err ends it without a word,
// because all has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// no says that the thing asked about is not so.
func no(format string, args ...any) error { return &exitError{exitNo, fmt.Errorf(format, args...)} }

// missing says that something was not found or cannot be reached.
func missing(format string, args ...any) error {
	return &exitError{exitMissing, fmt.Errorf(format, args...)}
}

// usage says that the command was called in a way that makes no sense.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// exitCode is the code an error ends the command with. Whatever a verb did not
// classify is input that it could not use.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitUsage
}
