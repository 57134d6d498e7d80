// Command redline names what stops a Go service from going faster, where and
// by how much, and proves whether a change helped.
package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/service/guard"
)

func main() {
	guard.Main()
	ctx := interruptible(context.Background(), func() {
		// At once, yet leaving nothing behind: child processes have a guardian, and
		// the scratch folders get one now. An error leaves them to the next start.
		_ = guard.Leave()
		os.Exit(cli.ExitInterrupted)
	})
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs the command line and returns the process's exit code. Output
// passes inert writers, because names come from bundles and targets.
func execute(ctx context.Context, args []string, out, errs io.Writer) (code int) {
	stdout, stderr := inert.NewWriter(out, cli.Terminal(out)), inert.NewWriter(errs, cli.Terminal(errs))
	defer func() {
		if p := recover(); p != nil {
			code = crashed(stderr, p, debug.Stack())
		}
	}()
	root := rootCommand(stdout, stderr)
	root.SetArgs(args)
	code, text := cli.ExitOK, ""
	say := func(text string) {
		if text != "" {
			inert.Fprintf(stderr, "redline: %s\n", inert.Block(secrets(args).Text(text)))
		}
	}
	if err := root.ExecuteContext(ctx); err != nil {
		if unknown := unknownVerb(root, args); unknown != nil {
			err = unknown
		}
		code, text = cli.ExitOf(err)
	}
	if ctx.Err() != nil && code != cli.ExitInterrupted {
		// The interrupt came too late to cut anything short, but must not count as success.
		code = cli.ExitInterrupted
		say(text) // an outcome of its own, which the interrupt did not cause
		text = "interrupted; the output so far is kept"
	}
	say(text)
	return code
}

// secrets returns a redactor for those of the environment and the command line.
func secrets(args []string) *redact.Redactor {
	hide := redact.New()
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		hide.LearnNamed(name, value)
	}
	hide.LearnArgs(append([]string{"redline"}, args...))
	return hide
}
