//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// forwarded are the signals that a command run by us gets from us.
var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}
