//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/bench/load/serve"
	"github.com/redline-go/redline/benchmark"
)

func main() { benchmark.Main("bench", command) }

// options are the flags. The zero value of a list means all.
type options struct {
	only, peers []string
	rounds      int
	length      time.Duration // of one run in a comparison
	seed        uint64
	out         string // results, JSON
	redline     string // binary
	short       bool
}

// command runs the harness, or one of the servers as which it starts itself.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "serve-echo":
			return serve.Echo()
		case "serve-stall":
			return serve.Stall(args[1:])
		}
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	return measure(ctx, o, stdout, stderr)
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	var only, peers string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&only, "only", "", "sections to run, of "+strings.Join(sectionNames(), ","))
	flags.StringVar(&peers, "peers", "", "peers to run, of "+strings.Join(generator.PeerNames(), ",")+" (default all that can be had)")
	flags.IntVar(&o.rounds, "rounds", 5, "rounds of a comparison")
	flags.DurationVar(&o.length, "seconds", 5*time.Second, "length of one run in a comparison, in whole seconds")
	flags.Uint64Var(&o.seed, "seed", 1, "of the order of runs and of the intervals")
	flags.StringVar(&o.out, "o", filepath.Join("bench", "load", "results", "load-bench.json"),
		"`file` of the results; the table goes beside it as .md")
	flags.StringVar(&o.redline, "redline", filepath.Join("bin", "redline"), "redline's binary")
	flags.BoolVar(&o.short, "short", false, "smoke run: one round of a second, no peer is built; its figures mean nothing")
	if err := benchmark.Parse(flags, args); err != nil {
		return o, err
	}
	if o.short {
		o.rounds, o.length = 1, time.Second
	}
	if o.rounds < 1 || o.length < time.Second || o.length%time.Second != 0 {
		return o, errors.New("-rounds is at least 1, and -seconds whole seconds (5s)")
	}
	var err error
	if o.only, err = benchmark.Only("-only", only, sectionNames()); err != nil {
		return o, err
	}
	o.peers, err = benchmark.Only("-peers", peers, generator.PeerNames())
	return o, err
}

// sections are the measurements, in the order of the table.
var sections = []struct {
	name    string
	measure func(*bench, context.Context) (*section, error)
}{
	{"http1", (*bench).plaintext},
	{"observing", (*bench).observingCost},
	{"tls", (*bench).encrypted},
	{"h2", (*bench).multiplexed},
	{"grpc", (*bench).remoteCalls},
	{"lag", (*bench).scheduleLag},
	{"stall", (*bench).stalls},
	{"memory", (*bench).memory},
	{"allocations", (*bench).allocations},
}

func sectionNames() (names []string) {
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

// again is how to make the committed table.
const again = `make bench-load BENCH="-o docs/load-bench.json"`

// measure runs the chosen sections and writes the results after each, so that
// an interrupt loses at most one section.
func measure(ctx context.Context, o options, stdout, stderr io.Writer) error {
	b, err := newBench(ctx, o, stderr)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	results, err := openResults(o.out)
	if err != nil {
		return err
	}
	earlier := results.Machine.Tools
	results.Machine, results.Command = machine{benchmark.ThisMachine(), map[string]string{}}, again
	maps.Copy(results.Machine.Tools, earlier)
	maps.Copy(results.Machine.Tools, b.versions)
	b.kept = results
	var failed error
	for _, s := range sections {
		if !slices.Contains(o.only, s.name) {
			continue
		}
		b.say("== %s", s.name)
		busy, err := busyShare(time.Second)
		if err != nil {
			return err
		}
		if busy > mostBusy {
			b.say("the machine is not idle: others use %.0f %% of its cores", 100*busy)
		}
		done, err := s.measure(b, ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.name, err))
			b.say("%s: %v", s.name, err)
			continue
		}
		done.Name, done.Date, done.Redline = s.name, time.Now().UTC().Truncate(time.Second), b.revision
		done.Short, done.Busy = o.short, busy
		results.put(done)
		if err := results.write(o.out); err != nil {
			return err
		}
	}
	table, err := os.ReadFile(benchmark.Table(o.out))
	if err != nil {
		return errors.Join(failed, err)
	}
	_, err = stdout.Write(table)
	return errors.Join(failed, err)
}

// redlineBinary returns the binary's absolute path.
func redlineBinary(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("redline's binary: %w (hint: make build)", err)
	}
	return path, nil
}
