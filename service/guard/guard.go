// Package guard starts commands and makes sure that they and all that they started are
// gone however this process ends.
//
// Between this process and a command stands a guardian: this binary again, blocked
// in reads and so without cost to the measurement. It holds a socket whose other
// end dies with this process, is the command's parent, and (Linux) a child subreaper: a
// daemon that forked twice and made a session of its own becomes its child when it
// loses its parents. When the command ends, the guardian kills the processes that the
// command left; when this process dies, it ends the command and sweeps the scratch
// folders of dead processes. A guardian that is killed itself takes the command with it
// (Linux: parent-death signal), but not the command's children.
//
// A program opts in by calling Main first. Otherwise, or if a guardian cannot be
// started, a command gets a process group of its own and the parent-death signal: a
// process that leaves the group then outlives a kill.
//
// Rejected: a control group per command (the kernel schedules it with a weight of
// its own, which changes the measurement; version 1 has no kill), a PID namespace
// (the command would see other process ids than perf and eBPF do), one guardian
// for all commands (an orphan's command could not be known), and signals to a
// group whose leader was waited for (its number may be another's by then).
package guard

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// Grace is how long a command may take to end once asked: as long as possible with
// everything gone within three seconds.
const Grace = 2500 * time.Millisecond

// killWithin bounds the wait afterwards: the kernel takes this long only if it cannot
// end a process at all.
const killWithin = 2 * time.Second

// available says that Main was called.
var available atomic.Bool

// State is how a command ended.
type State struct {
	// Status is as of wait(2).
	Status syscall.WaitStatus
	// Ended is when this process learned of it.
	Ended time.Time
}

// String describes a state like os.ProcessState.
func (s State) String() string {
	switch {
	case s.Status.Exited():
		return fmt.Sprintf("exit status %d", s.Status.ExitStatus())
	case s.Status.Signaled() && s.Status.CoreDump():
		return fmt.Sprintf("signal: %v (core dumped)", s.Status.Signal())
	case s.Status.Signaled():
		return fmt.Sprintf("signal: %v", s.Status.Signal())
	}
	return fmt.Sprintf("wait status %#x", uint32(s.Status))
}

// ExitError is a command that did not end with exit status 0.
type ExitError struct{ State }

func (e *ExitError) Error() string { return e.State.String() }

// Err returns an *ExitError, nil for exit status 0.
func (s State) Err() error {
	if s.Status.Exited() && s.Status.ExitStatus() == 0 {
		return nil
	}
	return &ExitError{s}
}

// Run starts cmd and waits until it and all that it started are gone. When ctx
// ends first, the command is asked to end by the given signal, and killed after
// Grace. The error is an *ExitError, the context's, both, or why it did not start. cmd
// must not have a context of its own.
func Run(ctx context.Context, cmd *exec.Cmd, ask syscall.Signal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := Start(cmd, ask)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.End(Grace)
	}
	ended, err := ctx.Err(), p.State().Err()
	switch {
	case ended == nil:
		return err
	case err == nil:
		return ended
	}
	return fmt.Errorf("%w: %w", ended, err)
}

// Output is Run, and returns the command's standard output.
func Output(ctx context.Context, cmd *exec.Cmd, ask syscall.Signal) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout = &out
	err := Run(ctx, cmd, ask)
	return out.Bytes(), err
}

// CombinedOutput is Run, and returns the command's standard output
// and standard error.
func CombinedOutput(ctx context.Context, cmd *exec.Cmd, ask syscall.Signal) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := Run(ctx, cmd, ask)
	return out.Bytes(), err
}
