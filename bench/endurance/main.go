//go:build linux

// Command endurance runs redline for a long time with every source on, against
// the lab's instrumented service and a PostgreSQL of its own, and reports how much
// memory redline took and how large its bundle became.
//
//	make bench-endurance ENDURANCE="-length 10m -rate 500"
//	make bench-endurance ENDURANCE="-length 2h -rate 1000"
//	make bench-endurance ENDURANCE="-synthetic 24h"
//
// The last one writes the record of a day through the same writer, as fast as that
// accepts it, and reports its size and the cost of assessing it.
//
// It needs no quiet machine: memory and bytes do not depend on other work.
// The memory reported is that of redline's process alone, which includes the load
// generator; it is read each second until the process is gone, so that it includes
// the assessment of the bundle at the end. The bounds on a bundle's size
// apply to the directory as redline leaves it, and at its largest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/port"
	"github.com/redline-go/redline/service/postgres"
)

// Bounds for a run of ten minutes, and for one of a day.
const (
	mostMemory    = 200 << 20
	mostBundle    = 50 << 20
	mostMemoryDay = 500 << 20
	mostBundleDay = 2 << 30
)

// asked returns the bounds on a run's memory and bundle: those of ten minutes; for a
// longer run the memory of a day, and a bundle in proportion to the length, up to that
// of a day.
func asked(length time.Duration) (memory, bundle int64) {
	const short, day = 10 * time.Minute, 24 * time.Hour
	more := min(1, max(0, float64(length-short)/float64(day-short)))
	if more > 0 {
		memory = mostMemoryDay - mostMemory
	}
	return mostMemory + memory, mostBundle + int64(more*(mostBundleDay-mostBundle))
}

func main() {
	guard.Main()
	benchmark.Main("endurance", command)
}

// options are the flags.
type options struct {
	length  time.Duration
	rate    int
	redline string
	service string // folder of the service's main package
	out     string // folder of the bundle; empty for one that is removed

	synthetic time.Duration // length of a run that is not made but only written
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("endurance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&o.length, "length", 10*time.Minute, "measured time")
	flags.IntVar(&o.rate, "rate", 500, "requests per second, open loop")
	flags.StringVar(&o.redline, "redline", filepath.Join("bin", "redline"), "redline's binary")
	flags.StringVar(&o.service, "service", filepath.Join("lab", "traced"), "folder of the service")
	flags.StringVar(&o.out, "o", "", "keep the bundle in this folder, which must not exist")
	flags.DurationVar(&o.synthetic, "synthetic", 0, "write the record of a run of so long at full speed "+
		"instead, 1,000 requests/s unless -rate says, and judge it")
	if err := benchmark.Parse(flags, args); err != nil {
		return err
	}
	if o.length <= 0 || o.rate <= 0 {
		return errors.New("-length and -rate are above zero")
	}
	scratch, err := os.MkdirTemp("", "endurance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if o.out == "" {
		o.out = filepath.Join(scratch, "bundle")
	}
	if o.synthetic > 0 {
		if !flagged(flags, "rate") {
			o.rate = 1000
		}
		return o.day(ctx, stdout, stderr)
	}
	server, err := postgres.Start(ctx, postgres.Options{NoDownload: true})
	if err != nil {
		return fmt.Errorf("a run with everything on needs a database: %w", err)
	}
	// Stopped even when ctx has ended: the server is ours.
	defer func() { _ = server.Stop(context.WithoutCancel(ctx)) }()
	seen, err := o.run(ctx, scratch, server.DSN, stderr)
	if err != nil {
		return err
	}
	return o.describe(seen, stdout)
}

// flagged reports whether a flag was given.
func flagged(flags *flag.FlagSet, name string) (given bool) {
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// scenario is redline's task: every source is on, and nothing is exported.
const scenario = `
target: {build: %[1]q, args: ["-listen", %[2]q, "-dsn", %[3]q], ready: "http://%[2]s/healthz"}
load: {rate: %[4]d/s, duration: %[5]v, warmup: 2s, max_connections: 64}
requests: [{name: order, get: "http://%[2]s/order?id={{id}}"}]
data: {id: {sequence: {from: 1, to: 1000000}}}
observe: {postgres: %[3]q, otlp: %[6]q}
`

// run runs redline to its end and watches it.
func (o options) run(ctx context.Context, scratch, dsn string, stderr io.Writer) (*seen, error) {
	main, err := filepath.Abs(o.service)
	if err != nil {
		return nil, err
	}
	listen, err := port.Reserve("127.0.0.1")
	if err != nil {
		return nil, err
	}
	otlp, err := port.Reserve("127.0.0.1")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(scratch, "endurance.yaml")
	text := fmt.Sprintf(scenario, main, listen, dsn, o.rate, o.length, otlp)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(o.redline, "run", file, "-o", o.out, "--plain")
	cmd.Stdout, cmd.Stderr = io.Discard, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start redline: %w (hint: make build)", err)
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(os.Interrupt) })()
	s := watch(cmd, o.out)
	// A threshold or a busy host may fail the run's verdict; the bundle is the part that
	// counts here.
	var exit *exec.ExitError
	if s.ended != nil && !errors.As(s.ended, &exit) {
		return nil, s.ended
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	rec, err := record.Open(o.out)
	if err != nil {
		return nil, fmt.Errorf("redline left no bundle (%v): %w", s.ended, err)
	}
	s.run = rec.Run
	return s, nil
}
