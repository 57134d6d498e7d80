package service

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/service/guard"
)

// process is a target that we started.
type process struct {
	*guard.Process
	done <-chan struct{} // closed when it has ended
	tail *tail

	asked  atomic.Bool // whether we asked it to end
	ending sync.Once
}

// startProcess starts command under a guardian, in dir; empty is redline's own.
//
// gc, if not nil, sees the standard error first.
func startProcess(command []string, dir string, env []string, hide *redact.Redactor, stdout, stderr io.Writer,
	gc *gcLines) (*process, error) {
	p := &process{tail: newTail(hide)}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...) // with PWD, where there is a dir
	cmd.Stdout = multi(stdout, nil)
	var kept io.Writer = p.tail
	if gc != nil {
		gc.next = p.tail
		kept = gc
	}
	cmd.Stderr = multi(stderr, kept)
	started, err := guard.Start(cmd, syscall.SIGTERM)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w (hint: --exec takes a command on PATH or a path to one)", err)
		}
		return nil, err
	}
	p.Process, p.done = started, started.Done()
	return p, nil
}

func (p *process) pid() int { return p.PID() }

// exit returns how the process ended by itself, nil while it runs.
func (p *process) exit(c timebase.Clock) *record.Exit {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.asked.Load() {
		return nil
	}
	state := p.State()
	return &record.Exit{At: c.At(state.Ended), Status: state.String(), Stderr: p.tail.lines()}
}

// end asks the target to end, and kills it and its children if it does not. Whoever else calls it meanwhile waits too.
func (p *process) end() {
	p.ending.Do(func() {
		select {
		case <-p.done: // it ended by itself, and that remains its exit
			return
		default:
		}
		p.asked.Store(true)
		p.End(guard.Grace)
	})
}

// multi returns a writer to those of a and b that are not nil. If both are, it returns an
// untyped nil, which exec takes for /dev/null.
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
