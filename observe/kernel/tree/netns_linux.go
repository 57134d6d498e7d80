package tree

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/observe"
)

// InNamespace calls f in the network namespace of p: a socket that f opens belongs to it
// for good. That needs a privilege unless p is in redline's own namespace; without it the
// error is an *observe.Unsupported. f's own error is returned unchanged.
func (p *Process) InNamespace(f func() error) error {
	if p.shares() {
		return f()
	}
	// The thread is not given back to the runtime unless it could return to its
	// own namespace: a goroutine that ends locked takes its thread along.
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		err, back := p.visit(f)
		if back {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

// shares reports whether p is in redline's own network namespace. The inodes of
// ns/net identify it, but may be read only of one's own processes; those of files below
// net/ do as well, and anyone may read them.
func (p *Process) shares() bool {
	for _, file := range []string{"ns/net", "net/netstat"} {
		var own unix.Stat_t
		theirs, err := p.Inode(file)
		if err == nil && unix.Stat("/proc/thread-self/"+file, &own) == nil {
			return own.Ino == theirs
		}
	}
	return false
}

// visit runs f in the network namespace of the process (setns(2)). back is false when
// the thread could not return: its goroutine must then keep the thread locked, so that
// the runtime ends it.
func (p *Process) visit(f func() error) (err error, back bool) {
	refused := func(err error) error {
		return &observe.Unsupported{
			What:   fmt.Sprintf("the network namespace of process %d cannot be entered", p.PID),
			Enable: "run redline as root, or in that namespace (nsenter --net --target " + fmt.Sprint(p.PID) + ")",
			Err:    err,
		}
	}
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return refused(err), true
	}
	defer unix.Close(home)
	there, err := unix.Openat(p.dir, "ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return refused(err), true
	}
	defer unix.Close(there)
	if err := unix.Setns(there, unix.CLONE_NEWNET); err != nil {
		return refused(err), true
	}
	err = f()
	return err, unix.Setns(home, unix.CLONE_NEWNET) == nil
}
