//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/bench/load/process"
	"github.com/redline-go/redline/bench/load/serve"
	"github.com/redline-go/redline/benchmark"
)

// bench is the shared state of the sections.
type bench struct {
	options
	cores    process.Cores
	dir      string // scratch, removed at the end
	rng      *rand.Rand
	say      func(format string, args ...any) // progress
	revision string                           // of redline
	versions map[string]string                // of tools that were found
	kept     *results                         // of this run so far and of earlier ones

	floors             []*generator.Tool
	redline, observing *generator.Tool
	peers              map[string]*generator.Tool
}

func newBench(ctx context.Context, o options, progress io.Writer) (*bench, error) {
	binary, err := redlineBinary(o.redline)
	if err != nil {
		return nil, err
	}
	b := &bench{
		options: o, rng: rand.New(rand.NewPCG(o.seed, 0)),
		say: func(format string, args ...any) { fmt.Fprintf(progress, format+"\n", args...) },
	}
	if b.cores, err = process.ChooseCores(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "redline-bench-"); err != nil {
		return nil, err
	}
	b.revision = benchmark.Revision(".")
	b.redline, b.observing = generator.Redline(binary), generator.Observing(binary)
	b.floors = []*generator.Tool{generator.Floor(ctx, b.dir), generator.RingFloor(ctx, b.dir, 1), generator.RingFloor(ctx, b.dir, 8)}
	b.peers, b.versions = generator.FindPeers(ctx, o.peers, !o.short, b.say)
	if path, err := serve.FindNginx(); err == nil {
		b.versions["nginx"] = generator.Version(path, "-v")
	}
	return b, nil
}

// scratch returns a new directory for one run of a tool.
func (b *bench) scratch(name string) (string, error) {
	return os.MkdirTemp(b.dir, strings.ReplaceAll(name, " ", "-")+"-")
}

// run runs a tool once and returns its figures and its usage. watch, if not
// nil, gets its pid.
func (b *bench) run(ctx context.Context, t *generator.Tool, s generator.Shape, watch func(pid int)) (generator.Tally,
	process.Spent, error) {
	dir, err := b.scratch(t.Name)
	if err != nil {
		return generator.Tally{}, process.Spent{}, err
	}
	defer os.RemoveAll(dir)
	args, ok := t.Arguments(s, dir)
	if !ok {
		return generator.Tally{}, process.Spent{}, fmt.Errorf("%s cannot do this load", t.Name)
	}
	ctx, cancel := process.Watchdog(ctx, s.Duration)
	defer cancel()
	o, err := process.Run(ctx, b.cores.Generator, dir, append([]string{t.Path}, args...), watch)
	if err != nil && !t.Excused(err) {
		return generator.Tally{}, o.Spent, err
	}
	reported, err := t.Read(o, s, dir)
	return reported, o.Spent, err
}

// serveSelf starts this program as one of its servers and returns the first
// line that it prints, its address, and its later output.
func (b *bench) serveSelf(args ...string) (*process.Server, string, *bufio.Scanner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", nil, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, "", nil, err
	}
	s, err := process.Start(b.cores.Server, in, append([]string{self}, args...)...)
	in.Close()
	if err != nil {
		out.Close()
		return nil, "", nil, err
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		s.End()
		return nil, "", nil, fmt.Errorf("%s did not start%s", args[0], process.LastLine(s.Log.Bytes()))
	}
	return s, lines.Text(), lines, nil
}

// startNginx starts the server of the comparisons.
func (b *bench) startNginx() (*serve.Nginx, error) {
	dir := filepath.Join(b.dir, "nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return serve.StartNginx(b.cores.Server, dir)
}
