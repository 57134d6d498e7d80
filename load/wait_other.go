//go:build !linux

package load

func newWaiter() waiter { return timerWaiter{stop: make(chan struct{})} }
