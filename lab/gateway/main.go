// Gateway is the order service that redline is shown on: Gin, GORM on pgx,
// PostgreSQL and a token on every request, as payment companies run it. It
// starts as such services are found; each remedy is a switch.
//
//	gateway [serve] [flags]   serve the API
//	gateway seed --dsn DSN    fill an empty database
//	gateway tokens --n 2000   print uid,token,order rows for a scenario
//	gateway remedies --json   what can be remedied, and which findings call for it
//	gateway faults --json     settings with exactly one fault
//	gateway risk              the risk service that a read can be made to ask
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// errUsage marks what the command line got wrong.
var errUsage = errors.New("usage")

// run is the program; ctx ends when it is asked to stop.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	verb := "serve"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "serve":
		return serve(ctx, args, stdout, stderr)
	case "seed":
		return seed(ctx, args, stdout, stderr)
	case "tokens":
		return tokens(args, stdout, stderr)
	case "remedies":
		return remedies(args, stdout, stderr)
	case "faults":
		return faults(args, stdout, stderr)
	case "risk":
		return serveRisk(ctx, args, stdin, stdout, stderr)
	default:
		return fmt.Errorf("%w: unknown verb %q; known are serve, seed, tokens, remedies, faults, risk", errUsage, verb)
	}
}

// parse reads a verb's flags, all of which have names.
func parse(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: %s takes no argument %q", errUsage, flags.Name(), flags.Arg(0))
	}
	return nil
}
