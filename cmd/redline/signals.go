package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible returns a context that ends at the first of the signals that ask
// a program to end; a second Ctrl-C or SIGTERM calls again.
//
// SIGHUP is one of them: a terminal that closes ends a run as Ctrl-C does, unless
// nohup has it ignored.
func interruptible(parent context.Context, again func()) context.Context {
	ctx, cancel := context.WithCancel(parent)
	came := make(chan os.Signal, 2)
	signal.Notify(came, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(came, syscall.SIGHUP)
	}
	go func() {
		<-came
		cancel()
		for s := range came {
			// A shell and the kernel both send SIGHUP when a terminal closes: that
			// is one request to stop, not an impatient second one.
			if s != syscall.SIGHUP {
				again()
			}
		}
	}()
	return ctx
}
