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
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/service/guard"
)

func main() {
	guard.Main()
	benchmark.Main("bench", command)
}

// labGateway is the gateway's folder in a checkout, with its scenario.
var labGateway = filepath.Join("lab", "gateway")

// options are the flags.
type options struct {
	only    []string // names of conditions
	rounds  int
	length  time.Duration // of a block's measured span
	seed    uint64        // of the order
	out     string        // results, JSON
	add     bool          // to the rounds in out
	dsn     string        // empty starts a PostgreSQL
	gateway string        // folder to build, or a binary built with the probe
	without []string      // remedies that are not taken
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	var only, without string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&only, "only", "", "what to measure, of "+strings.Join(conditionNames(), ",")+" (default all)")
	flags.IntVar(&o.rounds, "rounds", 12, "observed blocks of each")
	flags.DurationVar(&o.length, "seconds", time.Second,
		fmt.Sprintf("length of a block; of profiles, traces and all %d times as much", longer))
	flags.Uint64Var(&o.seed, "seed", 0, "of the order of blocks; 0 takes the clock's")
	flags.StringVar(&o.out, "o", filepath.Join("bench", "observe", "results", "observe-bench.json"),
		"`file` of the results; the table goes next to it as .md")
	flags.BoolVar(&o.add, "add", false, "add the rounds to those in the file")
	flags.StringVar(&o.dsn, "dsn", "", "PostgreSQL to use, filled if it is empty (default: one is started)")
	flags.StringVar(&o.gateway, "gateway", labGateway, "the gateway's `folder`, or a binary of it that has the probe")
	flags.StringVar(&without, "without", "", "remedies of the gateway that are left out, besides its cache")
	if err := benchmark.Parse(flags, args); err != nil {
		return o, err
	}
	if o.rounds < 1 || o.length < 500*time.Millisecond {
		return o, errors.New("-rounds is at least 1, and -seconds at least 500ms")
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	if without != "" {
		o.without = strings.Split(without, ",")
	}
	var err error
	o.only, err = benchmark.Only("-only", only, conditionNames())
	return o, err
}

// command measures, and prints the table of all that the file then holds.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	kept, err := openResults(o)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "redline-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	s, err := startStage(ctx, o, scratch, stderr)
	if err != nil {
		return err
	}
	defer s.end()
	failed := s.measure(ctx, o, kept)
	if len(kept.Trials) == 0 {
		return failed
	}
	_, err = io.WriteString(stdout, kept.markdown(filepath.Base(o.out)))
	return errors.Join(failed, err)
}
