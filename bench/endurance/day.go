//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/redline-go/redline/bench/endurance/synthetic"
	"github.com/redline-go/redline/record"
)

// Bounds on assessing a day's bundle.
const (
	mostJudging  = 10 * time.Second
	mostPageTime = 30 * time.Second
)

// day writes a synthetic record and has redline assess it and make its report, each
// in a process of its own whose memory the kernel reports.
func (o options) day(ctx context.Context, stdout, stderr io.Writer) error {
	begin := time.Now()
	err := synthetic.Write(o.out, synthetic.Options{
		Length: o.synthetic, Rate: o.rate, Values: 2000, Statements: 50, CPUProfile: 10 * time.Second,
		Progress: func(done time.Duration) {
			fmt.Fprintf(stderr, "%v written in %v, %s on disk\n", done, time.Since(begin).Round(time.Second),
				megabytes(total(sizes(o.out))))
		},
	})
	if err != nil {
		return err
	}
	written := time.Since(begin)
	rec, err := record.Open(o.out)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%v at %d requests/s, written in %v: %s\n\n", o.synthetic, o.rate, written.Round(time.Second), rec.ThinnedText())
	fmt.Fprintf(w, "figure\tmeasured\tasked\t\n")
	missed := 0
	row := func(name string, is, most float64, write func(float64) string) {
		verdict := "ok"
		if is >= most {
			verdict, missed = "missed", missed+1
		}
		fmt.Fprintf(w, "%s\t%s\tbelow %s\t%s\n", name, write(is), write(most), verdict)
	}
	size := func(v float64) string { return megabytes(int64(v)) }
	seconds := func(v float64) string { return time.Duration(v).Round(10 * time.Millisecond).String() }
	bundle := sizes(o.out)
	row("bundle", float64(total(bundle)), mostBundleDay, size)
	for _, of := range []struct {
		verb string
		most time.Duration
	}{{"diagnose", mostJudging}, {"report", mostPageTime}} {
		took, memory, err := child(ctx, stderr, o.redline, of.verb, o.out)
		if err != nil {
			return err
		}
		row("redline "+of.verb+", time", float64(took), float64(of.most), seconds)
		row("redline "+of.verb+", memory", float64(memory), mostMemoryDay, size)
	}
	listSizes(w, bundle)
	if err := w.Flush(); err != nil {
		return err
	}
	if missed > 0 {
		return fmt.Errorf("%d figures are above their bounds", missed)
	}
	return nil
}

// child runs a command to its end and returns how long it took and its maximum
// resident memory, in bytes (ru_maxrss, getrusage(2)).
func child(ctx context.Context, stderr io.Writer, name string, args ...string) (took time.Duration, memory int64, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s %v: %w", name, args, err)
	}
	took = time.Since(begin)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		memory = usage.Maxrss << 10
	}
	return took, memory, nil
}
