package load

import (
	"time"

	"github.com/redline-go/redline/record"
)

// waiter sleeps until run times as exactly as the platform allows.
type waiter interface {
	// until returns at t or soon after it, or when the waiter is interrupted.
	until(clock record.Clock, t time.Duration)
	// interrupt ends the current and all later waits. It may be called from
	// another goroutine.
	interrupt()
	close()
}

// timerWaiter sleeps on the runtime's timers. On Linux they are late by up to a
// millisecond and more when the process is idle.
type timerWaiter struct{ stop chan struct{} }

func (w timerWaiter) until(clock record.Clock, t time.Duration) {
	timer := time.NewTimer(t - clock.Now())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.stop:
	}
}

func (w timerWaiter) interrupt() { close(w.stop) }

func (w timerWaiter) close() {}
