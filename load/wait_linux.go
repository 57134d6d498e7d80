package load

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix" // timerfd: package time is a millisecond late

	"github.com/redline-go/redline/record"
)

// timerfdWaiter sleeps on a timerfd in the runtime's poller: epoll returns on
// the kernel's high-resolution timer, where the poller's own timeout is in
// whole milliseconds. See timerfd_create(2).
type timerfdWaiter struct {
	file   *os.File
	raw    syscall.RawConn
	arm    func(fd uintptr) // made once, so that a wait allocates nothing
	spec   unix.ItimerSpec
	failed error
}

// newWaiter falls back to the runtime's timers where there is no timerfd
// (seccomp profiles forbid it here and there).
func newWaiter() waiter {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return timerWaiter{stop: make(chan struct{})}
	}
	w := &timerfdWaiter{file: os.NewFile(uintptr(fd), "timerfd")}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		w.file.Close()
		return timerWaiter{stop: make(chan struct{})}
	}
	w.arm = func(fd uintptr) { w.failed = unix.TimerfdSettime(int(fd), 0, &w.spec, nil) }
	return w
}

func (w *timerfdWaiter) until(clock record.Clock, t time.Duration) {
	d := t - clock.Now()
	if d <= 0 {
		return // a timerfd that is set to zero never expires
	}
	w.spec.Value = unix.NsecToTimespec(int64(d))
	if err := w.raw.Control(w.arm); err != nil || w.failed != nil {
		time.Sleep(d)
		return
	}
	var expirations [8]byte
	// The only error left is the interrupt's deadline.
	_, _ = w.file.Read(expirations[:])
}

func (w *timerfdWaiter) interrupt() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) }

func (w *timerfdWaiter) close() { _ = w.file.Close() }
