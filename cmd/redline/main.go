// Command redline tells what stops a Go service from going faster, where and
// by how much, and proves whether a change helped.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/redline-go/redline/redact"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the process at once; what was started dies with it.
	go func() { <-ctx.Done(); stop() }()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs the command line and returns the process's exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code, text := exitOf(err)
	if text != "" {
		fmt.Fprintf(stderr, "redline: %s\n", secrets(args).Text(text))
	}
	return code
}

// secrets returns what hides those of the environment and the command line.
func secrets(args []string) *redact.Redactor {
	hide := redact.New()
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		hide.LearnNamed(name, value)
	}
	hide.LearnArgs(append([]string{"redline"}, args...))
	return hide
}
