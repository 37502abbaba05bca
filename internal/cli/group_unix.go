//go:build unix

package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup starts a command as the leader of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a command started by ownGroup and all it started that did not
// leave the group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
