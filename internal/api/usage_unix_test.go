//go:build unix

package api_test

import (
	"syscall"
	"time"
)

// userTime is what the process has used of processors, without the system's part: on a
// busy machine it says more than the clock does.
func userTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano())
}
