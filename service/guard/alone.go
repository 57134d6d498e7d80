package guard

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// alone starts a command without a guardian.
func (p *Process) alone(cmd *exec.Cmd, ask syscall.Signal, why string) error {
	p.why = why
	attributes(cmd, ask)
	// A grandchild that keeps the pipes open must not hold up Wait for ever.
	cmd.WaitDelay = outputDelay
	u := &unguarded{ask: ask, gone: make(chan struct{})}
	p.orders = u
	started := make(chan error)
	go func() {
		// Subtle: the parent-death signal is sent when the *thread* that forked ends,
		// so it is kept for the command's life, and ends with the goroutine.
		runtime.LockOSThread()
		err := cmd.Start()
		if err != nil {
			started <- err
			return
		}
		u.leader.pid, p.pid = cmd.Process.Pid, cmd.Process.Pid
		started <- nil
		u.leader.await()
		close(u.gone)
		u.leader.reap(func() { _ = cmd.Wait() }) // its error is in ProcessState
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		p.ended(status)
	}()
	return <-started
}

// attributes gives a command a group of its own and the parent-death signal.
func attributes(cmd *exec.Cmd, ask syscall.Signal) {
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Setpgid = true
	endWithParent(&attr, ask)
	cmd.SysProcAttr = &attr
}

// unguarded ends a command of this process.
type unguarded struct {
	leader
	ask  syscall.Signal
	gone chan struct{} // the command has ended
}

func (u *unguarded) end(grace time.Duration) {
	if grace > 0 {
		u.signalGroup(u.ask)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-u.gone:
	case <-timer.C:
		u.signalGroup(syscall.SIGKILL)
	}
}

func (u *unguarded) drop() { u.signalGroup(syscall.SIGKILL) }
