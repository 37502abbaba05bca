package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminalPair opens a terminal: keys are written to one end, programs have the
// other.
func terminalPair(t *testing.T) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	fd := int(keys.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tty.Close() })
	return keys, tty
}

// onTerminalOf starts us as the leader of a session on a terminal and gives what
// it prints.
func onTerminalOf(t *testing.T, tty *os.File, stdin *os.File, words ...string) (*bufio.Scanner, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Args[0], words...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	// The first of the extra files is number 3.
	cmd.Stdin, cmd.ExtraFiles = stdin, []*os.File{tty}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return bufio.NewScanner(out), cmd
}

var interruptible = []string{"tape", "run", "testdata/bare.jsonl", "--", os.Args[0], "call", "add", add12, "call", "add", add22, "interrupts"}

// The terminal interrupts the command itself, also when its input comes from
// elsewhere: passing the signal on would make it two.
func TestKeysOfATerminalInterruptOnce(t *testing.T) {
	keys, tty := terminalPair(t)
	lines, cmd := onTerminalOf(t, tty, nil, interruptible...)
	var seen []string
	for lines.Scan() {
		seen = append(seen, lines.Text())
		if lines.Text() == "waiting" {
			_, err := keys.WriteString("\x03")
			require.NoError(t, err)
		}
	}
	require.NoError(t, cmd.Wait())
	assert.Contains(t, strings.Join(seen, "\n"), "1 interrupts")
}

// In the background of a terminal nobody but us gets a signal that is sent to us.
func TestInterruptInTheBackgroundIsPassedOn(t *testing.T) {
	_, tty := terminalPair(t)
	lines, cmd := onTerminalOf(t, tty, tty, append([]string{"background"}, interruptible...)...)
	var seen []string
	for lines.Scan() {
		seen = append(seen, lines.Text())
	}
	require.NoError(t, cmd.Wait())
	assert.Contains(t, strings.Join(seen, "\n"), "1 interrupts")
}
