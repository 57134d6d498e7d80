//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/service/guard"
)

func main() {
	guard.Main()
	if len(os.Args) > 1 && os.Args[1] == become {
		fmt.Fprintln(os.Stderr, becomes(os.Args[2:])) // returns only where it fails
		os.Exit(1)
	}
	benchmark.Main("bench", command)
}

// Parts of the bench besides the kinds of session.
const (
	noisePart    = "noise"
	fixedPart    = "fixed"
	simulatePart = "simulate"
	windowsPart  = "windows"
)

func parts() []string {
	names := []string{}
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return append(names, noisePart, fixedPart, simulatePart, windowsPart)
}

// options are the flags.
type options struct {
	only      []string
	sessions  int
	simulated int
	rounds    int           // of pairs with each factor fixed
	maxTime   time.Duration // of a session
	spin      int           // rounds that make 5 %; 0 measures
	seed      uint64
	out       string
	add       bool
	dsn       string // empty starts a PostgreSQL
	gateway   string // folder
	service   string
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{gateway: filepath.Join("lab", "gateway")}
	var only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&only, "only", "", "what to do, of "+strings.Join(parts(), ",")+" (default all)")
	flags.StringVar(&o.service, "service", gatewayService, "what the real sessions compare, of "+strings.Join(services, ", "))
	flags.IntVar(&o.sessions, "sessions", 20, "real sessions of each kind; with -add those in the file count")
	flags.IntVar(&o.simulated, "simulated", 500, "simulated sessions of each change")
	flags.IntVar(&o.rounds, "rounds", 24, "pairs of launches with each factor fixed")
	flags.DurationVar(&o.maxTime, "max-time", 5*time.Minute, "longest `time` of a session")
	flags.IntVar(&o.spin, "spin", 0, "`rounds` of work that make 5 % (default: measured)")
	flags.Uint64Var(&o.seed, "seed", 0, "of the sessions; 0 takes the clock's")
	flags.StringVar(&o.out, "o", filepath.Join("docs", "verify.json"), "`file` of the results; the tables go next to it as .md")
	flags.BoolVar(&o.add, "add", false, "go on with what the file holds")
	flags.StringVar(&o.dsn, "dsn", "", "PostgreSQL to use, filled if it is empty (default: one is started)")
	if err := benchmark.Parse(flags, args); err != nil {
		return o, err
	}
	if !slices.Contains(services, o.service) {
		return o, fmt.Errorf("-service is one of %s", strings.Join(services, ", "))
	}
	if o.sessions < 1 || o.simulated < 1 || o.rounds < 1 || o.spin < 0 || o.maxTime < time.Minute {
		return o, errors.New("-sessions, -simulated and -rounds are at least 1, -max-time at least 1m, -spin is not negative")
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	var err error
	o.only, err = benchmark.Only("-only", only, parts())
	return o, err
}

// command runs the parts and prints the tables of everything that the file then holds.
// Sessions measured before an error or an interrupt are kept.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	kept, err := openResults(o)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	err = measure(ctx, o, kept, say)
	if err == nil && slices.Contains(o.only, fixedPart) {
		err = fix(ctx, o, kept, say)
	}
	if err == nil && slices.Contains(o.only, noisePart) {
		err = listen(ctx, o, kept, say)
	}
	if err == nil && slices.Contains(o.only, simulatePart) {
		err = simulate(ctx, o, kept, say)
	}
	if err == nil && slices.Contains(o.only, windowsPart) {
		err = compareWindows(kept, say)
	}
	if kept.empty() {
		return err
	}
	err = errors.Join(err, kept.write(o.out))
	_, wrote := io.WriteString(stdout, kept.markdown(filepath.Base(o.out)))
	return errors.Join(err, wrote)
}
