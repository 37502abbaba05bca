//go:build !unix

package cli

import (
	"os"
	"syscall"

	"golang.org/x/term"
)

// forwarded are the signals that a command run by us gets from us.
var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}

// onTerminal reports whether there is a terminal. The signals of its keys go to
// everyone there and reach the command without our help.
func onTerminal() bool { return term.IsTerminal(int(os.Stdin.Fd())) }
