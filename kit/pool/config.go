package pool

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"
)

// Config is how a [Pool] makes and keeps connections. The zero value of each field but
// Dial is a usable default.
type Config[C io.Closer] struct {
	// Dial opens a connection. It must return soon after its context ends: that is when
	// DialTimeout has passed or the pool was closed, not when a caller of Get gives up.
	// With an error it must leave nothing open. A panic counts as an error. Required.
	Dial func(context.Context) (C, error)
	// Check reports why a connection that lay idle must not be lent; nil checks nothing.
	// It runs in the caller of Get, with that caller's context and at most CheckTimeout.
	// [SocketAlive] is one for plain sockets.
	Check func(context.Context, C) error
	// CheckAfter is how long a connection lies idle before it is checked; 0 is 1 s,
	// negative checks at every reuse of an idle one.
	CheckAfter time.Duration
	// CheckTimeout bounds one check; 0 is 1 s.
	CheckTimeout time.Duration

	// MaxOpen bounds the connections that are open, being dialled or being closed;
	// 0 is four per CPU (GOMAXPROCS at the time of New).
	MaxOpen int
	// MaxIdle bounds those kept while nobody uses them; 0 is MaxOpen, negative keeps none.
	MaxIdle int
	// MaxIdleTime closes a connection that lay idle for longer; 0 is no limit.
	MaxIdleTime time.Duration
	// MaxLifetime closes a connection that is older, once it is idle; 0 is no limit.
	// Each draws its own limit between four fifths of MaxLifetime and all of it.
	MaxLifetime time.Duration

	// MaxWait bounds the wait of one Get, apart from its context; 0 is no bound.
	MaxWait time.Duration
	// DialTimeout bounds one dial; 0 is 10 s.
	DialTimeout time.Duration
	// BreakAfter is how many dials must fail in succession to stop dialling; 0 is 5,
	// negative never stops.
	BreakAfter int
	// Cooldown is how long dialling stops, before one dial is tried; 0 is 1 s.
	Cooldown time.Duration
}

// Errors that [Pool.Get] wraps, in addition to the errors of contexts and of failed
// dials.
var (
	// ErrClosed reports a pool that was closed.
	ErrClosed = errors.New("pool: closed")
	// ErrMaxWait reports that no connection came free within MaxWait.
	ErrMaxWait = errors.New("pool: no connection came free within MaxWait")
	// ErrBreaker reports that dialling has stopped after consecutive failures, and no
	// connection is open to wait for. The error of the last dial is wrapped too.
	ErrBreaker = errors.New("pool: dialling has stopped after consecutive failures")
)

// withDefaults replaces zero values, or reports invalid ones.
func (c Config[C]) withDefaults() (Config[C], error) {
	if c.Dial == nil {
		return c, errors.New("pool: Config.Dial is required")
	}
	if c.MaxOpen < 0 || c.CheckTimeout < 0 || c.MaxIdleTime < 0 || c.MaxLifetime < 0 || c.MaxWait < 0 ||
		c.DialTimeout < 0 || c.Cooldown < 0 {
		return c, errors.New("pool: MaxOpen and durations other than CheckAfter must not be negative")
	}
	if c.MaxOpen == 0 {
		c.MaxOpen = 4 * runtime.GOMAXPROCS(0)
	}
	if c.MaxIdle == 0 || c.MaxIdle > c.MaxOpen {
		c.MaxIdle = c.MaxOpen
	}
	c.MaxIdle = max(c.MaxIdle, 0)
	if c.CheckAfter == 0 {
		c.CheckAfter = time.Second
	}
	c.CheckAfter = max(c.CheckAfter, 0)
	if c.CheckTimeout == 0 {
		c.CheckTimeout = time.Second
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = 10 * time.Second
	}
	if c.BreakAfter == 0 {
		c.BreakAfter = 5
	}
	if c.Cooldown == 0 {
		c.Cooldown = time.Second
	}
	return c, nil
}

// tick is how often the coarse clock moves: an eighth of the shortest limit; 0 without
// limits.
func (c Config[C]) tick() time.Duration {
	var shortest time.Duration
	limits := []time.Duration{c.MaxIdleTime, c.MaxLifetime}
	if c.Check != nil {
		limits = append(limits, c.CheckAfter)
	}
	for _, limit := range limits {
		if limit > 0 && (shortest == 0 || limit < shortest) {
			shortest = limit
		}
	}
	if shortest == 0 {
		return 0
	}
	return max(shortest/8, time.Millisecond)
}
