package gobench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/revision"
)

// built is a side with its sources checked out and its test binaries built.
type built struct {
	Side
	name     string // "a" or "b"
	tree     revision.Tree
	binaries map[string]binary // by import path
}

// build checks the sides out and builds the test binaries of all packages that have
// benchmarks. Sides of one revision share theirs, as when only environments are
// compared. It returns the sides even when it fails, because their worktrees must
// be removed.
//
// Binaries are built once and launched in every round, so that a round measures the
// code and not the compiler's or the linker's work.
func build(ctx context.Context, o Options, scratch string) (sides []*built, err error) {
	for i, s := range o.Sides {
		// Only environments differ: the binaries are shared, and launched with each
		// side's own variables.
		side := &built{Side: s, name: "ab"[i : i+1], binaries: map[string]binary{}}
		sides = append(sides, side)
		if i > 0 && s.Revision == o.Sides[0].Revision {
			side.tree = sides[0].tree
			for pkg, b := range sides[0].binaries {
				b.env = s.Env
				side.binaries[pkg] = b
			}
			continue
		}
		if side.tree, err = revision.Checkout(ctx, o.Dir, s.Revision, scratch); err != nil {
			return sides, err
		}
		if side.tree.Dir, err = filepath.Abs(side.tree.Dir); err != nil {
			return sides, err
		}
		if err := side.compile(ctx, o, scratch); err != nil {
			return sides, fmt.Errorf("side %s (%s): %w", side.name, s, err)
		}
	}
	for _, s := range sides {
		if len(s.binaries) > 0 {
			return sides, nil
		}
	}
	return sides, fmt.Errorf("no package of %s has benchmarks (hint: name others, as ./..., or --tags)", strings.Join(o.Patterns, " "))
}

// remove deletes the worktrees; sides of one revision have one between them.
func remove(sides []*built) (err error) {
	for i, s := range sides {
		if i == 0 || s.tree != sides[0].tree {
			err = errors.Join(err, s.tree.Remove())
		}
	}
	return err
}

// testPackage is `go list`'s description of a package.
type testPackage struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
	Error                     *struct{ Err string }
}

// compile builds with -vet=off: vet would fail an old revision for a finding that a
// newer toolchain introduced.
func (s *built) compile(ctx context.Context, o Options, scratch string) error {
	listed, err := list(ctx, s.tree.Dir, scratch, o)
	if err != nil {
		return err
	}
	for _, p := range listed {
		if has, err := p.benchmarks(); err != nil || !has {
			if err != nil {
				return err
			}
			continue
		}
		o.Progress(fmt.Sprintf("building the tests of %s (%s)", p.ImportPath, s.Side))
		path := filepath.Join(scratch, fmt.Sprintf("%s-%d.test", s.name, len(s.binaries)))
		// Built as go test builds, without -gcflags: a benchmark is of the code
		// that ships.
		args := []string{"test", "-c", "-vet=off", "-o", path}
		if o.Tags != "" {
			args = append(args, "-tags="+o.Tags)
		}
		if out, err := command(ctx, s.tree.Dir, scratch, append(args, p.ImportPath)...); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("the tests of %s do not build: %w\n%s", p.ImportPath, err, firstLines(out))
		}
		s.binaries[p.ImportPath] = binary{pkg: p.ImportPath, dir: p.Dir, path: path, env: s.Env}
	}
	return nil
}

// list asks the go command for the packages of a side. A pattern that matches none
// there is no error: a package may be new.
func list(ctx context.Context, dir, scratch string, o Options) ([]testPackage, error) {
	// -e reports broken packages as entries, where list would otherwise stop at the
	// first.
	args := []string{"list", "-e", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles,Error"}
	if o.Tags != "" {
		args = append(args, "-tags="+o.Tags)
	}
	cmd := compiler.Command(dir, scratch, append(append(args, "--"), o.Patterns...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("the go command is not on PATH: %w", err)
		}
		return nil, fmt.Errorf("list packages %s: %w\n%s", strings.Join(o.Patterns, " "), err, firstLines(stderr.Bytes()))
	}
	var all []testPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p testPackage
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		// A package that is not there has no folder; one that is broken fails
		// in its build.
		if p.Dir != "" {
			all = append(all, p)
		} else if len(o.Sides) == 1 && p.Error != nil {
			return nil, fmt.Errorf("package %s: %s", p.ImportPath, cmp.Or(p.Error.Err, "not found"))
		}
	}
	return all, nil
}

// benchmarks reports whether the package declares any. It reads text instead of
// parsing, as a false hit costs one build, and `go test -list` would have to build
// every package.
func (p testPackage) benchmarks() (bool, error) {
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return false, fmt.Errorf("read tests: %w", err)
		}
		if bytes.Contains(text, []byte("func Benchmark")) {
			return true, nil
		}
	}
	return false, nil
}

// command runs the go command and returns its output.
func command(ctx context.Context, dir, scratch string, args ...string) ([]byte, error) {
	cmd := compiler.Command(dir, scratch, args...)
	return guard.CombinedOutput(ctx, cmd, syscall.SIGINT)
}

// firstLines returns the beginning of a tool's output, indented, for an error
// message.
func firstLines(out []byte) string {
	const most = 20
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("... and %d more lines", len(lines)-most))
	}
	return "  " + strings.Join(lines, "\n  ")
}
