package target

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/redact"
)

// endGrace is how long a target may take to shut down before it is killed:
// longer than the usual drain of in-flight requests, shorter than a person's
// patience.
const endGrace = 5 * time.Second

// process is a target that we started.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	tail *tail

	mu    sync.Mutex
	ended time.Time // when it ended
	asked bool      // whether we asked it to end
}

// startProcess starts command in a process group of its own, so that Ctrl-C at
// the terminal reaches redline alone and the whole group can be ended.
//
// gc, where there is one, sees the standard error first.
func startProcess(command, env []string, hide *redact.Redactor, stdout, stderr io.Writer, gc *gcLines) (*process, error) {
	p := &process{done: make(chan struct{}), tail: newTail(hide)}
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout = multi(stdout, nil)
	var kept io.Writer = p.tail
	if gc != nil {
		gc.next = p.tail
		kept = gc
	}
	p.cmd.Stderr = multi(stderr, kept)
	p.cmd.SysProcAttr = groupAttributes()
	// A grandchild that keeps the pipes open must not hold up Wait for ever.
	p.cmd.WaitDelay = time.Second
	started := make(chan error)
	go func() {
		// Subtle: the parent-death signal is sent when the *thread* that forked
		// ends, so that thread is kept for the target's life.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.cmd.Wait() // its error is in ProcessState
		p.mu.Lock()
		p.ended = time.Now()
		p.mu.Unlock()
		close(p.done)
	}()
	if err := <-started; err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w (hint: --exec takes a command on PATH or a path to one)", err)
		}
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// exit returns how the process ended by itself, nil while it runs.
func (p *process) exit(c record.Clock) *record.Exit {
	select {
	case <-p.done:
	default:
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked {
		return nil
	}
	return &record.Exit{At: c.At(p.ended), Status: p.cmd.ProcessState.String(), Stderr: p.tail.lines()}
}

// end asks the process group to end, and kills it when it does not.
func (p *process) end() {
	select {
	case <-p.done:
		// The leader is gone; what it left in its group goes too.
		signalGroup(p.pid(), syscall.SIGKILL)
		return
	default:
	}
	p.mu.Lock()
	p.asked = true
	p.mu.Unlock()
	signalGroup(p.pid(), syscall.SIGTERM)
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	signalGroup(p.pid(), syscall.SIGKILL)
	<-p.done
}

// signalGroup signals a process group of ours. An error means that it is gone.
func signalGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

// multi returns a writer to those of a and b that are there. It returns an
// untyped nil when none is, which exec takes for /dev/null.
func multi(a, b io.Writer) io.Writer {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return io.MultiWriter(a, b)
}
