package guard

import (
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// outputDelay bounds how long an output that another process holds open is read once
// the command is gone.
const outputDelay = time.Second

// Process is a command that was started.
type Process struct {
	pid  int
	why  string // it has no guardian; empty with one
	done chan struct{}
	orders

	mu    sync.Mutex
	state State
}

// orders are the requests to whoever waits for the command.
type orders interface {
	// signal passes a signal to the command, unless it has ended.
	signal(s syscall.Signal)
	// end begins the end of the command, which is over when it is done.
	end(grace time.Duration)
	// drop gives up on an end that does not come.
	drop()
}

// Start starts cmd in a process group of its own, so that Ctrl-C at a terminal reaches
// only this process. Environment, folder, files and attributes are cmd's; ask is the
// signal that asks it to end, SIGTERM for zero. cmd must not be used again, and must
// not have a context of its own.
func Start(cmd *exec.Cmd, ask syscall.Signal) (*Process, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	if ask == 0 {
		ask = syscall.SIGTERM
	}
	p := &Process{done: make(chan struct{})}
	if !available.Load() {
		return p, p.alone(cmd, ask, "this program has no guardian")
	}
	l, err := spawn(cmd)
	if err != nil {
		return p, p.alone(cmd, ask, "no guardian could be started: "+err.Error())
	}
	return p, p.guarded(cmd, ask, l)
}

// PID is the command's process, not its guardian's.
func (p *Process) PID() int { return p.pid }

// Unguarded says why the command has no guardian, so that its children may
// outlive a killed parent; empty when it has one.
func (p *Process) Unguarded() string { return p.why }

// Done is closed when the command has ended, its leftovers were killed and its
// output has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// State is how the command ended. It is valid once Done is closed.
func (p *Process) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Signal passes a signal to the command only. One that has ended gets none.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		p.signal(s)
	}
}

// End asks the command and all its children to end, kills the rest after
// grace, and returns when nothing is. Zero kills at once.
func (p *Process) End(grace time.Duration) {
	select {
	case <-p.done:
		return
	default:
	}
	p.end(grace)
	timer := time.NewTimer(grace + killWithin + outputDelay)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.drop()
		<-p.done
	}
}

func (p *Process) ended(status syscall.WaitStatus) {
	p.mu.Lock()
	p.state = State{Status: status, Ended: time.Now()}
	p.mu.Unlock()
	close(p.done)
}
