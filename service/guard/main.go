package guard

import (
	"encoding/gob"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/redline-go/redline/service/scratch"
)

// abandonedGrace is how long a command may take to end once the parent of its
// guardian has died.
const abandonedGrace = 1500 * time.Millisecond

// Main makes guardians available. Call it first in func main or TestMain, before flags
// are read: if this process was started as a guardian, it serves as one and does not
// return.
func Main() {
	if len(os.Args) == 1 && os.Args[0] == argv0 {
		if _, err := syscall.GetsockoptInt(socketFD, syscall.SOL_SOCKET, syscall.SO_TYPE); err == nil {
			os.Exit(serve())
		}
	}
	available.Store(true)
}

// serve is the guardian's life.
func serve() int {
	// The parent-death signal of the command is bound to this thread.
	runtime.LockOSThread()
	syscall.CloseOnExec(socketFD)
	adopt()
	shield()
	conn := os.NewFile(socketFD, "parent")
	enc, dec := gob.NewEncoder(conn), gob.NewDecoder(conn)
	var s spec
	if err := dec.Decode(&s); err != nil {
		return 1 // the parent died before it sent anything
	}
	release := scratch.Hold(s.Hold)
	var w *ward
	if s.Path != "" {
		var op string
		var errno syscall.Errno
		if w, op, errno = start(s); errno != 0 {
			_ = enc.Encode(message{Op: op, Errno: errno})
			return 1
		}
		_ = enc.Encode(message{PID: w.leader.pid}) // a parent that does not read it is dead, which is noticed below
	}
	silence()
	orders := make(chan order, 16) // more than come while none is read
	go func() {
		defer close(orders)
		for {
			var o order
			if dec.Decode(&o) != nil {
				return
			}
			orders <- o
		}
	}()
	abandoned := true
	if w != nil {
		abandoned = w.watch(orders) || over(orders)
		_ = enc.Encode(message{Status: w.status})
	} else {
		for range orders { // until the parent is gone
		}
	}
	release()
	if abandoned {
		scratch.Sweep()
	}
	return 0
}

// over reports whether no more orders will come: the parent has died as well, while it
// waited for the end that it ordered.
func over(orders <-chan order) bool {
	for {
		select {
		case _, ok := <-orders:
			if !ok {
				return true
			}
		default:
			return false
		}
	}
}

// start starts the command.
func start(s spec) (w *ward, op string, errno syscall.Errno) {
	if s.Dir != "" { // as os.StartProcess looks, for a better error than the fork's
		if _, err := os.Stat(s.Dir); err != nil {
			return nil, "chdir", errnoOf(err)
		}
	}
	attr := syscall.SysProcAttr{}
	if s.Attr != nil {
		attr = *s.Attr
	}
	attr.Setpgid = true
	endWithParent(&attr, syscall.SIGKILL)
	pid, err := syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: []uintptr{0, 1, 2}, Sys: &attr})
	if err != nil {
		return nil, "fork/exec", errnoOf(err)
	}
	w = &ward{leader: leader{pid: pid}, ask: s.Ask, ended: make(chan struct{})}
	go func() {
		w.leader.await()
		close(w.ended)
	}()
	return w, "", 0
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != 0 {
		return errno
	}
	return syscall.EINVAL
}

// shield keeps signals to a whole terminal or session from ending the guardian.
// Caught, not ignored: an ignored signal would be ignored in the command as well.
func shield() {
	caught := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	go func() {
		for range caught {
		}
	}()
}

// silence closes the command's standard files: their reader waits for the command and
// its children, not for the guardian.
func silence() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		for fd := range 3 {
			syscall.Close(fd)
		}
		return
	}
	defer null.Close()
	for fd := range 3 {
		duplicate(int(null.Fd()), fd)
	}
}
