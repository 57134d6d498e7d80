//go:build linux || darwin

package cli

import (
	"io"
	"os"
	"os/exec"
	"strings"
)

// keeper restores the terminal if redline ends without doing so itself: killed, or by an unrecovered
// panic. It is a shell that waits on a pipe, because a dead process restores nothing.
type keeper struct {
	wait *exec.Cmd
	pipe io.WriteCloser
}

// keeperScript gets the terminal's mode as $1. It ignores the signals that a terminal sends to all of its
// processes, and those that stop a process that sets a terminal from the background.
const keeperScript = `trap '' INT TERM HUP QUIT TSTP TTIN TTOU
read -r done || { stty "$1" <&3; printf '\033[?25h' >&3; }`

// keepTerminal starts a keeper that restores the present mode of the terminal on standard input; nil where
// that is impossible.
func keepTerminal() *keeper {
	mode := exec.Command("stty", "-g")
	mode.Stdin = os.Stdin
	saved, err := mode.Output()
	if err != nil {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer tty.Close()
	k := &keeper{wait: exec.Command("sh", "-c", keeperScript, "redline-terminal", strings.TrimSpace(string(saved)))}
	k.wait.ExtraFiles = []*os.File{tty}
	if k.pipe, err = k.wait.StdinPipe(); err != nil || k.wait.Start() != nil {
		return nil
	}
	return k
}

// dismiss ends the keeper: the terminal is restored.
func (k *keeper) dismiss() {
	if k == nil {
		return
	}
	_, _ = io.WriteString(k.pipe, "done\n")
	_ = k.wait.Wait()
}
