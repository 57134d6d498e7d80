package guard

import (
	"errors"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// leader is a process that leads a group and is a child of this one.
type leader struct {
	pid int

	mu     sync.Mutex
	reaped bool
}

// pPID is P_PID of waitid(2), on Linux and macOS.
const pPID = 1

// await returns when the leader has ended. It stays a zombie until it is reaped,
// so its number, which is its group's as well, cannot become another's.
func (l *leader) await() {
	var info [128]byte // a siginfo_t; nothing is read from it
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(l.pid), uintptr(unsafe.Pointer(&info)),
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		runtime.KeepAlive(&info)
		if errno != syscall.EINTR {
			return
		}
	}
}

// signal signals only the leader.
func (l *leader) signal(s syscall.Signal) { l.send(func() error { return syscall.Kill(l.pid, s) }) }

// signalGroup signals the leader's group, and the leader where it has left it. An
// error means that it is gone.
func (l *leader) signalGroup(s syscall.Signal) {
	l.send(func() error {
		err := syscall.Kill(-l.pid, s)
		if errors.Is(err, syscall.ESRCH) {
			err = syscall.Kill(l.pid, s)
		}
		return err
	})
}

// send sends only while the number is still the leader's.
func (l *leader) send(kill func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.reaped {
		_ = kill()
	}
}

// reap kills the rest of the group, and releases the number by calling wait.
func (l *leader) reap(wait func()) {
	l.signalGroup(syscall.SIGKILL)
	l.mu.Lock()
	l.reaped = true
	l.mu.Unlock()
	wait()
}
