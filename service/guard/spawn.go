package guard

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/redline-go/redline/service/scratch"
)

// argv0 is the name under which this binary is started as a guardian.
const argv0 = "redline-guardian"

// socketFD is where a guardian finds its socket.
const socketFD = 3

// spec is the first message to a guardian: the command to start. One without a path asks
// it to wait for the end of its parent and to sweep.
type spec struct {
	Path string
	Args []string
	Env  []string
	Dir  string
	Attr *syscall.SysProcAttr
	Ask  syscall.Signal
	Hold []string // markers of scratch folders, see scratch.Hold
}

// order is a later message to a guardian.
type order struct {
	Signal syscall.Signal // pass it to the command; 0 means end
	Grace  time.Duration
}

// message is a guardian's report: that the command runs, or why not; then, how
// it ended.
type message struct {
	PID    int
	Op     string // of a failed start
	Errno  syscall.Errno
	Status syscall.WaitStatus
}

// link is the parent's side of a guardian.
type link struct {
	cmd  *exec.Cmd
	conn *os.File
	enc  *gob.Encoder
	dec  *gob.Decoder
}

// spawn starts a guardian that has the command's standard files. The command's
// environment is not its own: GODEBUG and GOMAXPROCS are for the command.
func spawn(cmd *exec.Cmd) (*link, error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	g := exec.Command(self)
	g.Args = []string{argv0}
	// A test's guardian is built with the race detector, which by default sleeps a second before a program exits.
	g.Env = []string{"TMPDIR=" + os.TempDir(), "GOMAXPROCS=2", "GORACE=atexit_sleep_ms=0"}
	g.Stdin, g.Stdout, g.Stderr = cmd.Stdin, cmd.Stdout, cmd.Stderr
	g.ExtraFiles = []*os.File{theirs}
	// A group of its own: killing this process's group kills no guardian.
	g.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g.WaitDelay = outputDelay
	if err := g.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	return &link{g, ours, gob.NewEncoder(ours), gob.NewDecoder(ours)}, nil
}

// executable is this binary, even if its file was replaced meanwhile.
func executable() (string, error) {
	const proc = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(proc); err == nil {
			return proc, nil
		}
	}
	return os.Executable()
}

func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	// Hazard: a child that inherits our end keeps a guardian from seeing us die.
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return os.NewFile(uintptr(fds[0]), "guardian"), os.NewFile(uintptr(fds[1]), "guarded"), nil
}

// guarded lets a guardian start a command.
func (p *Process) guarded(cmd *exec.Cmd, ask syscall.Signal, l *link) error {
	p.orders = l
	var reply message
	err := l.enc.Encode(spec{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Environ(), Dir: cmd.Dir,
		Attr: cmd.SysProcAttr, Ask: ask, Hold: scratch.Held(),
	})
	if err == nil {
		err = l.dec.Decode(&reply)
	}
	if err == nil && reply.Errno != 0 {
		// As from exec.Cmd.
		err = &os.PathError{Op: reply.Op, Path: cmd.Path, Err: reply.Errno}
	} else if err != nil {
		err = fmt.Errorf("the guardian of %s: %w", cmd.Path, err)
	}
	if err != nil {
		l.conn.Close()
		_ = l.cmd.Wait()
		return err
	}
	p.pid = reply.PID
	go p.follow(l)
	return nil
}

// follow waits for the end of the command and of its guardian.
func (p *Process) follow(l *link) {
	var last message
	reported := l.dec.Decode(&last) == nil
	_ = l.cmd.Wait() // its error is in ProcessState
	l.conn.Close()
	if !reported {
		// The guardian was killed, and the command with it.
		last.Status, _ = l.cmd.ProcessState.Sys().(syscall.WaitStatus)
	}
	p.ended(last.Status)
}

// An order that cannot be delivered goes to a guardian that has ended.

func (l *link) signal(s syscall.Signal) { _ = l.enc.Encode(order{Signal: s}) }

func (l *link) end(grace time.Duration) { _ = l.enc.Encode(order{Grace: grace}) }

func (l *link) drop() { _ = l.cmd.Process.Kill() }

// Leave prepares for an exit without a clean-up: a guardian is started that sweeps
// the scratch folders of this process once it is gone. The commands that run have
// guardians of their own.
func Leave() error {
	if !available.Load() {
		return errors.New("this program has no guardian")
	}
	l, err := spawn(&exec.Cmd{})
	if err != nil {
		return err
	}
	return l.enc.Encode(spec{})
}
