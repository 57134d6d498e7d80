//go:build linux

// Command align compares redline's views of one event with each other: do
// load, runtime, execution trace, kernel and database put it into the same
// window of 100 ms, and how far off are their dates?
//
//	make bench-align ALIGN="-trials 1000"
//
// A service of its own marks each trial: within one request it allocates blocks
// that the runtime counts by size, opens a connection that eBPF counts, and runs
// a statement that pg_stat_statements counts, and reports by its own reading of
// CLOCK_MONOTONIC when it did. The request comes from redline's load, at a phase
// of its window drawn at random, and the execution trace holds it under its
// number. All of redline's own parts work as in a run: the generator, the probe,
// the sources, the bundle; only the bundle is assessed.
//
// An event that lies across an edge between two windows belongs to both, and is
// counted separately. One within a millisecond of an edge may be put on the
// other side of it by a permitted error of its date; it counts, and the share
// of those farther from an edge is reported in addition.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/service/guard"
)

func main() {
	guard.Main()
	benchmark.Main("alignment", command)
}

// least is how many events a run has.
const least = 30

// command runs the bench, or the service as which it starts itself.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "serve" {
		return serve(ctx, args[1:], stdout)
	}
	flags := flag.NewFlagSet("alignment", flag.ContinueOnError)
	flags.SetOutput(stderr)
	trials := flags.Int("trials", 1000, "marked events that every source can see; 0 reports those in the file")
	at := flags.Int("at-once", 500, "events in one run; more are made in several")
	seed := flags.Uint64("seed", 1, "of the phases")
	file := flags.String("o", "", "add the trials to this `file`, and report all that it holds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *trials < 0 || *at < 1 {
		return errors.New("-trials is not negative, -at-once is above zero, and there are no arguments")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	all, err := earlier(*file)
	if err != nil {
		return err
	}
	for begun := len(all); traced(all[begun:]) < *trials; {
		// Some events fall between two traces, so more are made; no trace fits into a
		// run that is too short.
		n := min(*at, max(least, (*trials-traced(all[begun:]))*3/2))
		fmt.Fprintf(stderr, "%d of %d trials; a run of %v\n", traced(all[begun:]), *trials, spacing*time.Duration(n))
		more, err := measure(ctx, self, n, *seed+uint64(len(all)), stderr)
		if err != nil {
			return err
		}
		if traced(more) == 0 {
			return errors.New("no trial lies in a trace: the run was too short")
		}
		all = append(all, more...)
		if err := keep(*file, more); err != nil {
			return err
		}
	}
	return decide(all).describe(stdout)
}
