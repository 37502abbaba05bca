//go:build !unix

package cli

import (
	"os"
	"os/exec"
	"strconv"
)

// ownGroup changes nothing: the tree of a process can be told without.
func ownGroup(*exec.Cmd) {}

// killGroup kills a command and all it started, as long as those before them live.
func killGroup(p *os.Process) error {
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run(); err != nil {
		return p.Kill()
	}
	return nil
}
