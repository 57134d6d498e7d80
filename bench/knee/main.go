//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/knee"
)

func main() { benchmark.Main("bench-knee", command) }

// service is one of known capacity.
type service struct {
	name  string
	args  []string
	truth float64 // requests per second
}

// services are of three kinds: their requests wait for one of several workers, wait for
// a lock, or are refused.
var services = []service{
	{"pool", []string{"-kind", "pool", "-workers", "4", "-each", "5ms"}, 800},
	{"lock", []string{"-kind", "lock", "-each", "2ms"}, 500},
	{"queue", []string{"-kind", "queue", "-workers", "10", "-each", "20ms"}, 500},
}

const (
	target = "http://127.0.0.1:18480/"
	source = "./bench/knee/bounded"
)

// options are the flags.
type options struct {
	redline     string
	only        []string
	repetitions int
	maxTime     time.Duration
	soak        time.Duration
	under       []string // a command that runs each repetition
	out         string
	add         bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var only, under string
	flags := flag.NewFlagSet("bench-knee", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.redline, "redline", filepath.Join("bin", "redline"), "the built command")
	flags.StringVar(&only, "only", "", "services, comma-separated (default all)")
	flags.IntVar(&o.repetitions, "repetitions", 10, "of each service")
	flags.DurationVar(&o.maxTime, "max-time", 200*time.Second, "of each repetition")
	flags.DurationVar(&o.soak, "soak", 10*time.Second, "of each repetition")
	flags.StringVar(&under, "under", "", "`command` that runs each repetition, as one that keeps others from the machine")
	flags.StringVar(&o.out, "o", filepath.Join("docs", "knee.json"), "`file` of the results; the tables go next to it as .md")
	flags.BoolVar(&o.add, "add", false, "go on with what the file holds")
	if err := benchmark.Parse(flags, args); err != nil {
		return o, err
	}
	if o.repetitions < 1 {
		return o, errors.New("-repetitions is at least 1")
	}
	o.under = strings.Fields(under)
	var names []string
	for _, s := range services {
		names = append(names, s.name)
	}
	var err error
	o.only, err = benchmark.Only("-only", only, names)
	return o, err
}

// command runs the repetitions, the services in turn, and prints the table.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	kept, err := openResults(o)
	if err != nil {
		return err
	}
	for n := range o.repetitions {
		for _, s := range services {
			if !slices.Contains(o.only, s.name) || ctx.Err() != nil {
				continue
			}
			fmt.Fprintf(stderr, "%s, repetition %d of %d\n", s.name, n+1, o.repetitions)
			r, err := o.repeat(ctx, s)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err // what was interrupted says nothing of how often the knee is right
			}
			fmt.Fprintf(stderr, "  %s\n", r)
			kept.Repetitions = append(kept.Repetitions, r)
			if err := kept.write(o.out); err != nil {
				return err
			}
		}
	}
	_, err = io.WriteString(stdout, kept.markdown(filepath.Base(o.out)))
	return errors.Join(err, ctx.Err())
}

// repeat lets redline measure a service once.
func (o options) repeat(ctx context.Context, s service) (repetition, error) {
	dir, err := os.MkdirTemp("", "bench-knee")
	if err != nil {
		return repetition{}, err
	}
	defer os.RemoveAll(dir)
	line := slices.Concat(o.under, []string{o.redline, "knee", target, "--build", source, "--max-time", o.maxTime.String(),
		"--soak", o.soak.String(), "--json", "-o", filepath.Join(dir, "knee"), "--"}, s.args)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	ran := cmd.Run() // exit code 3 has an answer, too
	var a knee.Answer
	if err := json.Unmarshal([]byte(out.String()), &a); err != nil {
		return repetition{}, errors.Join(ran, fmt.Errorf("%s: no answer: %s", s.name, errs.String()))
	}
	return repetitionOf(s, &a), nil
}
