package guard

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// ward is a command in a guardian's care, with all that it started.
type ward struct {
	leader leader
	ask    syscall.Signal
	ended  chan struct{} // closed when the leader has ended
	status syscall.WaitStatus
}

// sweepInterval is how often a guardian checks which processes are left while it ends them.
const sweepInterval = 10 * time.Millisecond

// watch returns when the command and all that it started are gone. It reports
// whether that is so because the guardian's parent has died.
func (w *ward) watch(orders <-chan order) (abandoned bool) {
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	reapOrphans(w.leader.pid)
	for {
		select {
		case <-w.ended:
			w.end(0, nil)
			return false
		case <-children:
			reapOrphans(w.leader.pid)
		case o, ok := <-orders:
			switch {
			case !ok:
				w.end(abandonedGrace, nil)
				return true
			case o.Signal == 0:
				w.end(o.Grace, orders)
				return false
			}
			w.leader.signal(o.Signal)
		}
	}
}

// end asks all to end, waits for them for up to grace, and kills those that are left.
// Once orders are closed, because the parent has died, they have abandonedGrace.
func (w *ward) end(grace time.Duration, orders <-chan order) {
	if grace > 0 {
		w.leader.signalGroup(w.ask)
		signalOutside(w.leader.pid, w.ask)
		w.wait(grace, orders)
	}
	w.leader.signalGroup(syscall.SIGKILL)
	deadline := time.Now().Add(killWithin)
	select {
	case <-w.ended:
		w.leader.reap(func() { w.status = wait(w.leader.pid) })
	case <-time.After(killWithin): // not even the kernel can end it
		return
	}
	// Level by level: a process whose parent is killed becomes our child.
	for !killChildren() && time.Now().Before(deadline) {
		time.Sleep(sweepInterval)
	}
}

// wait returns when no process is left, or after grace.
func (w *ward) wait(grace time.Duration, orders <-chan order) {
	until := time.Now().Add(grace)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	var sweep <-chan time.Time // once the leader has ended
	ended := w.ended
	for {
		select {
		case <-ended:
			ended, sweep = nil, tick.C
			if !others(w.leader.pid) {
				return
			}
		case <-sweep:
			if !others(w.leader.pid) {
				return
			}
		case _, ok := <-orders:
			if !ok {
				orders = nil
				timer.Reset(min(abandonedGrace, time.Until(until)))
			}
		case <-timer.C:
			return
		}
	}
}

// wait reaps a child that has ended and returns how.
func wait(pid int) (status syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return status
		}
	}
}

// reapEnded reaps every child that has ended, and reports whether none is left.
func reapEnded() (none bool) {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return true // ECHILD
		case pid == 0:
			return false
		}
	}
}
