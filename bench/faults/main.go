// Command faults breaks redline's promises on purpose and counts how often they
// hold: bundles after kills, accounting under faults, damaged bundles, planted
// secrets, fuzzing.
//
//	make bench-faults FAULTS="-only kills,secrets -trials 10 -seed 7"
//
// Without -only it runs everything in full, which takes hours, and writes
// docs/reliability.json and docs/reliability.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/bench/faults/accounting"
	"github.com/redline-go/redline/bench/faults/fuzz"
	"github.com/redline-go/redline/bench/faults/kills"
	"github.com/redline-go/redline/bench/faults/mutations"
	"github.com/redline-go/redline/bench/faults/part"
	"github.com/redline-go/redline/bench/faults/secrets"
	"github.com/redline-go/redline/benchmark"
)

// parts are all parts, in the order in which they run.
var parts = []part.Part{
	kills.Part,
	accounting.Part,
	mutations.Part,
	secrets.Part,
	fuzz.Part,
}

func main() {
	accounting.Serve() // where a part has started this binary as its server
	mutations.Damage() // or to damage a bundle
	benchmark.Main("faults", command)
}

type options struct {
	redline, only, out string
	trials, first      int
	seed               uint64
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.redline, "redline", filepath.Join("bin", "redline"), "redline's binary")
	flags.StringVar(&o.only, "only", "", "parts to run, comma-separated: "+strings.Join(names(), ", "))
	flags.StringVar(&o.out, "o", filepath.Join("docs", "reliability.json"), "file of figures; its table lies next to it")
	flags.IntVar(&o.trials, "trials", 0, "trials per part; 0 makes as many as are asked")
	flags.IntVar(&o.first, "first", 0, "number of the first trial: with -seed and -trials 1 a failure's own (mutations)")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of everything random")
	if err := benchmark.Parse(flags, args); err != nil {
		return err
	}
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		if o.first != 0 && !p.Numbered {
			return fmt.Errorf("the trials of %s have no numbers (hint: -only mutations)", p.Name)
		}
	}
	if o.redline, err = filepath.Abs(o.redline); err != nil {
		return err
	}
	report, err := o.read()
	if err != nil {
		return err
	}
	for _, p := range chosen {
		result, err := o.run(ctx, p, stderr)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		report.keep(result)
		fmt.Fprintf(stdout, "%-12s %d tried of %d asked, %d failed\n", p.Name, result.Tried, result.Asked, len(result.Failures))
		for _, f := range result.Figures {
			fmt.Fprintf(stdout, "             %s: %s\n", f.Name, f.Value)
		}
		for _, line := range result.Failures {
			fmt.Fprintf(stdout, "             FAILED %s\n", line)
		}
		if err := o.write(report); err != nil { // after each part: the next one takes long
			return err
		}
	}
	if n := report.failures(); n > 0 {
		return fmt.Errorf("%d trials failed", n)
	}
	return nil
}

// run runs one part in a scratch folder of its own.
func (o options) run(ctx context.Context, p part.Part, log io.Writer) (part.Result, error) {
	scratch, err := os.MkdirTemp("", "faults-"+p.Name+"-")
	if err != nil {
		return part.Result{}, err
	}
	defer os.RemoveAll(scratch)
	trials := p.Asked
	if o.trials > 0 {
		trials = o.trials
	}
	begun := time.Now()
	r, err := p.Run(ctx, part.Options{Redline: o.redline, Scratch: scratch, Trials: trials, First: o.first, Seed: o.seed, Log: log})
	r.Part, r.Asked, r.Took = p.Name, p.Asked, time.Since(begun).Round(time.Second)
	r.Revision, r.Seed = benchmark.Revision("."), o.seed
	return r, err
}

// choose returns the parts that -only names, in their order.
func choose(only string) ([]part.Part, error) {
	chosen, err := benchmark.Only("-only", only, names())
	return slices.DeleteFunc(slices.Clone(parts), func(p part.Part) bool { return !slices.Contains(chosen, p.Name) }), err
}

func names() (all []string) {
	for _, p := range parts {
		all = append(all, p.Name)
	}
	return all
}

// report is what docs/reliability.json holds.
type report struct {
	Machine string        `json:"machine"`
	Results []part.Result `json:"results"`
}

// read returns the figures of earlier parts, if there are any.
func (o options) read() (*report, error) {
	r := &report{}
	data, err := os.ReadFile(o.out)
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	r.Machine = fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	return r, err
}

// keep replaces an earlier result of the same part.
func (r *report) keep(result part.Result) {
	at := slices.IndexFunc(r.Results, func(old part.Result) bool { return old.Part == result.Part })
	if at < 0 {
		r.Results = append(r.Results, result)
		return
	}
	r.Results[at] = result
}

func (r *report) failures() (n int) {
	for _, result := range r.Results {
		n += len(result.Failures)
	}
	return n
}

func (o options) write(r *report) error {
	figures, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return benchmark.Write(o.out, figures, r.tables())
}

// tables is docs/reliability.md up to its remarks.
func (r *report) tables() string {
	var b strings.Builder
	b.WriteString("# Reliability\n\nCheck whether redline keeps its promises when things break: each part attacks one " +
		"promise on purpose and counts failures. Made by `make bench-faults`")
	fmt.Fprintf(&b, " on %s;\n`FAULTS=\"-only PART -seed N\"` repeats a row.\n\n", r.Machine)
	b.WriteString("| part | asked | tried | failed | took | revision | seed |\n|---|---:|---:|---:|---:|---|---:|\n")
	for _, result := range r.Results {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %v | %s | %d |\n", result.Part, result.Asked, result.Tried,
			len(result.Failures), result.Took, result.Revision, result.Seed)
	}
	for _, result := range r.Results {
		at := slices.IndexFunc(parts, func(p part.Part) bool { return p.Name == result.Part })
		if at < 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", result.Part, parts[at].Doc)
		for _, f := range result.Figures {
			fmt.Fprintf(&b, "\n- %s: %s", f.Name, f.Value)
		}
		for _, line := range result.Failures {
			fmt.Fprintf(&b, "\n- failed: %s", line)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	return b.String()
}
