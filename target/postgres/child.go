package postgres

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// child is a process that must not outlive this one.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once it has been waited for
	err  error         // how it ended; valid after done
}

// startChild starts cmd on an operating system thread of its own.
//
// Hazard: Linux sends the parent-death signal when the *thread* that started
// the child ends, not the process. The Go runtime may end any thread, so the
// goroutine locks its thread before the start and holds it until the child is
// gone. It never unlocks: the thread then ends with the goroutine.
func startChild(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, done: make(chan struct{})}
	// Backends that the postmaster leaves behind for a moment hold the pipe of
	// standard error open; do not wait for them beyond this.
	cmd.WaitDelay = 2 * time.Second
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		c.err = cmd.Wait()
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// signal tells the child; a child that is gone already is not an error.
func (c *child) signal(s syscall.Signal) { _ = c.cmd.Process.Signal(s) }
