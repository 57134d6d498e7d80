package pool

import (
	"fmt"
	"time"
)

// breaker stops dialling while dials fail. The pool's lock guards it.
type breaker struct {
	limit    int   // consecutive failures; negative never breaks
	cooldown int64 // nanoseconds

	failures int
	broken   bool
	until    int64 // no dial before, while broken
	probing  bool  // the one dial that may end it is in progress
	err      error // for callers that are refused
	wake     *time.Timer
}

// allow reports whether a dial may begin now, and whether it is the probe that
// decides whether the break ends.
func (b *breaker) allow(now int64) (probe, ok bool) {
	if !b.broken {
		return false, true
	}
	if now < b.until || b.probing {
		return false, false
	}
	b.probing = true
	return true, true
}

// succeeded ends the break: even a dial that began before it shows that the other side
// answers.
func (b *breaker) succeeded() {
	b.failures, b.broken, b.probing = 0, false, false
	b.stop()
}

// failed counts, and reports whether a cooldown begins. While the breaker is broken only
// the probe counts: dials that began earlier would prolong the cooldown.
func (b *breaker) failed(now int64, err error, probe bool) bool {
	if b.limit < 0 || b.broken && !probe {
		return false
	}
	b.failures++
	if !b.broken && b.failures < b.limit {
		return false
	}
	b.broken, b.probing, b.until = true, false, now+b.cooldown
	b.err = fmt.Errorf("%w: %w", ErrBreaker, err)
	return true
}

func (b *breaker) stop() {
	if b.wake != nil {
		b.wake.Stop()
	}
}
