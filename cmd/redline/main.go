// Command redline tells what stops a Go service from going faster, where and
// by how much, and proves whether a change helped.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/redline-go/redline/record/inert"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the process at once; what was started dies with it.
	go func() { <-ctx.Done(); stop() }()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs the command line and returns the process's exit code. What is
// printed passes inert writers, since names come from bundles and targets.
func execute(ctx context.Context, args []string, out, errs io.Writer) (code int) {
	stdout, stderr := inert.NewWriter(out, terminal(out)), inert.NewWriter(errs, terminal(errs))
	defer func() {
		if p := recover(); p != nil {
			code = crashed(stderr, p, debug.Stack())
		}
	}()
	root := rootCommand(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code, text := exitOf(err)
	if text != "" {
		inert.Fprintf(stderr, "redline: %s\n", inert.Block(text))
	}
	return code
}
