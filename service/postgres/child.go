package postgres

import (
	"os/exec"
	"syscall"

	"github.com/redline-go/redline/service/guard"
)

// deathSignal makes postgres shut down immediately, and initdb remove what it began.
// SIGINT would first make postgres checkpoint data that no one will read; SIGKILL would
// leave its shared memory behind.
const deathSignal = syscall.SIGQUIT

// child is a process that must not outlive this one.
type child struct {
	*guard.Process
	done <-chan struct{} // closed once it and what it started are gone
}

func startChild(cmd *exec.Cmd) (*child, error) {
	p, err := guard.Start(cmd, deathSignal)
	if err != nil {
		return nil, err
	}
	return &child{p, p.Done()}, nil
}

// signal signals the child; a child that is gone already is not an error.
func (c *child) signal(s syscall.Signal) { c.Signal(s) }
