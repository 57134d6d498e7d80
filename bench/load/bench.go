//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redline-go/redline/benchmark"
)

// bench is the shared state of the sections.
type bench struct {
	options
	cores    cores
	dir      string // scratch, removed at the end
	rng      *rand.Rand
	say      func(format string, args ...any) // progress
	revision string                           // of redline
	versions map[string]string                // of tools that were found
	kept     *results                         // of this run so far and of earlier ones

	floor, redline, observing *tool
	peers                     map[string]*tool
}

// peerNames are the tools that redline is compared with.
func peerNames() []string {
	return []string{"wrk", "h2load", "ab", "k6", "hey", "fortio", "ghz"}
}

func newBench(ctx context.Context, o options, progress io.Writer) (*bench, error) {
	binary, err := redlineBinary(o.redline)
	if err != nil {
		return nil, err
	}
	b := &bench{
		options: o, rng: rand.New(rand.NewPCG(o.seed, 0)), versions: map[string]string{}, peers: map[string]*tool{},
		say: func(format string, args ...any) { fmt.Fprintf(progress, format+"\n", args...) },
	}
	if b.cores, err = chooseCores(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "redline-bench-"); err != nil {
		return nil, err
	}
	b.revision = benchmark.Revision(".")
	b.redline, b.observing = redline(binary), observing(binary)
	b.floor = floor(ctx, b.dir)
	b.findPeers(ctx)
	if path, err := findNginx(); err == nil {
		b.versions["nginx"] = toolVersion(path, "-v")
	}
	return b, nil
}

// findPeers looks for each peer and says which are skipped, and why.
func (b *bench) findPeers(ctx context.Context) {
	system := map[string]struct{ flag, hint string }{
		"wrk": {"-v", "wrk"}, "h2load": {"--version", "nghttp2-client"}, "ab": {"-V", "apache2-utils"},
	}
	for _, t := range []*tool{wrk(), h2load(), ab(), k6(), hey(), fortio(), ghz()} {
		b.peers[t.name] = t
		var err error
		if !slices.Contains(b.options.peers, t.name) {
			t.why = "not among -peers"
			continue
		}
		if s, ok := system[t.name]; ok {
			if t.path, err = exec.LookPath(t.name); err != nil {
				t.path, err = "", fmt.Errorf("not installed (hint: apt-get install %s)", s.hint)
			} else {
				b.versions[t.name] = toolVersion(t.path, s.flag)
			}
		} else if t.path, err = install(ctx, t.name, !b.short, b.say); err == nil {
			b.versions[t.name] = pinned[t.name].version
		}
		if err != nil {
			t.why = err.Error()
			b.say("%s is skipped: %v", t.name, err)
		}
	}
}

// scratch returns a new directory for one run of a tool.
func (b *bench) scratch(name string) (string, error) {
	return os.MkdirTemp(b.dir, strings.ReplaceAll(name, " ", "-")+"-")
}

// run runs a tool once and returns its figures and its usage. watch, if not
// nil, gets its pid.
func (b *bench) run(ctx context.Context, t *tool, s shape, watch func(pid int)) (tally, spent, error) {
	dir, err := b.scratch(t.name)
	if err != nil {
		return tally{}, spent{}, err
	}
	defer os.RemoveAll(dir)
	args, ok := t.arguments(s, dir)
	if !ok {
		return tally{}, spent{}, fmt.Errorf("%s cannot do this load", t.name)
	}
	ctx, cancel := watchdog(ctx, s.duration)
	defer cancel()
	o, err := run(ctx, b.cores.generator, dir, append([]string{t.path}, args...), watch)
	if err != nil && !t.excused(err) {
		return tally{}, o.spent, err
	}
	said, err := t.read(o, s, dir)
	return said, o.spent, err
}

// serveSelf starts this program as one of its servers and returns the first
// line that it prints, its address, and its later output.
func (b *bench) serveSelf(args ...string) (*server, string, *bufio.Scanner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", nil, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, "", nil, err
	}
	s, err := startServer(b.cores.server, in, append([]string{self}, args...)...)
	in.Close()
	if err != nil {
		out.Close()
		return nil, "", nil, err
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		s.end()
		return nil, "", nil, fmt.Errorf("%s did not start%s", args[0], lastLine(s.log.Bytes()))
	}
	return s, lines.Text(), lines, nil
}

// startNginx starts the server of the comparisons.
func (b *bench) startNginx() (*nginx, error) {
	dir := filepath.Join(b.dir, "nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return startNginx(b.cores.server, dir)
}
