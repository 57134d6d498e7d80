//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/service/guard"
)

// errMissed means that the bench completed but not all marks are met.
var errMissed = errors.New("a mark is missed")

func main() {
	guard.Main()
	benchmark.Main("bench-diagnose", command)
}

// options are the flags.
type options struct {
	root        string // the corpus
	only        *regexp.Regexp
	runs        int // of each case
	healthyRuns int // of each healthy case
	redline     string
	under       []string // words before redline's command
	postgres    string   // DSN; empty starts a server
	keep        string   // folder of bundles; empty keeps none
	pack        bool
	fixtures    string
	score       []string // folders of bundles to judge instead of measuring
	json        string   // file of results, with the page next to it; empty writes none
	calibrates  bool     // instead of scoring
	add         bool     // to the results that json names
	buildOnly   bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var only, under, score string
	f := flag.NewFlagSet("bench-diagnose", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.root, "corpus", ".", "`folder` with sick, pair and healthy")
	f.StringVar(&only, "only", "", "`regexp` of kind/name; others are left out")
	f.IntVar(&o.runs, "runs", 1, "runs of each sick case and pair")
	f.IntVar(&o.healthyRuns, "healthy-runs", 3, "runs of each healthy case")
	f.StringVar(&o.redline, "redline", filepath.Join("..", "bin", "redline"), "redline's `binary`")
	f.StringVar(&under, "under", "", "`command` to run redline under, such as 'taskset -c 0,1'; services are built before")
	f.StringVar(&o.postgres, "postgres", "", "`DSN` of a server that may be used; without it one is started")
	f.StringVar(&o.keep, "keep", "", "`folder` to keep the bundles in, as NAME or NAME.RUN")
	f.BoolVar(&o.pack, "pack", false, "write a fixture of each case, from its first run or from the bundle that is judged again")
	f.StringVar(&o.fixtures, "fixtures", "fixtures", "`folder` of the fixtures, and of misses.yaml")
	f.StringVar(&score, "score", "", "judge the bundles or fixtures in these `folders` (a,b) instead of measuring")
	f.StringVar(&o.json, "o", "", "write results to this `file`, and the page next to it as Markdown")
	f.BoolVar(&o.add, "add", false, "keep the runs of the file of -o and measure the cases that it lacks")
	f.BoolVar(&o.calibrates, "calibrate", false, "run each case that has a remedied twin sick and healed in "+
		"turn, -runs pairs, and compare the gain with what was claimed")
	f.BoolVar(&o.buildOnly, "build-only", false, "build the cases as a run does and measure nothing: later runs find "+
		"all but the link in the build cache")
	if err := benchmark.Parse(f, args); err != nil {
		return o, err
	}
	if o.runs < 1 || o.healthyRuns < 1 {
		return o, errors.New("-runs and -healthy-runs are at least 1")
	}
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	o.under = strings.Fields(under)
	if score != "" {
		o.score = strings.Split(score, ",")
	}
	// redline runs in the folder of the corpus.
	if o.redline, err = filepath.Abs(o.redline); err != nil {
		return o, err
	}
	if o.keep != "" {
		o.keep, err = filepath.Abs(o.keep)
	}
	return o, err
}

// command measures or scores, and reports.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	cases, err := corpus.All(o.root)
	if err != nil {
		fmt.Fprintln(stderr, err) // the others are measured nevertheless
	}
	chosen := cases[:0:0]
	for _, c := range cases {
		if o.only.MatchString(string(c.Kind) + "/" + c.Name) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no case of %d matches %q", len(cases), o.only)
	}
	b := newBench(o, args, stdout)
	if o.buildOnly {
		return b.warm(ctx, chosen)
	}
	if o.calibrates {
		return b.recalibrate(ctx, chosen)
	}
	if o.add {
		if chosen, err = b.earlier(chosen); err != nil {
			return err
		}
	}
	began := time.Now()
	if len(o.score) > 0 {
		err = b.score(ctx, chosen)
	} else {
		err = b.measure(ctx, chosen)
	}
	b.results.Took = b.before + time.Since(began)
	return errors.Join(err, b.describe())
}
