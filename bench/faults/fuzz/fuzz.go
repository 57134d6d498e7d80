// Package fuzz runs every fuzz target of the repository for a share of a time in
// CPU-minutes. The inputs that a target finds stay where go test puts them, below the
// package's testdata/fuzz: a committed one is a seed that `make test` tries forever.
package fuzz

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
	"golang.org/x/sync/errgroup" // a bound on how many run at once
)

// Part is the part for the bench of promises; a trial is a CPU-minute.
var Part = part.Part{
	Name: "fuzz",
	Doc: "Every fuzz target of the repository runs for its share of the requested CPU-minutes. A failure is an input that " +
		"crashes or breaks a property. New inputs are kept in testdata/fuzz of the target's package.",
	Asked: 120,
	Run:   run,
}

// leastTime is less than go test takes to compile a target and run its seeds.
const leastTime = 5 * time.Second

// target is one fuzz target.
type target struct {
	Module  string // folder of the module
	Package string // folder of the package in the module, "./..."
	Name    string // "FuzzRead"
}

func (t target) String() string {
	return filepath.Join(filepath.Base(t.Module), t.Package) + " " + t.Name
}

// targetsBelow returns the fuzz targets of the modules below root, sorted.
func targetsBelow(root string) ([]target, error) {
	var all []target
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			t, err := locate(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			t.Name = f.Name.Name
			all = append(all, t)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	return all, err
}

// locate returns the module and package of a folder.
func locate(root, dir string) (target, error) {
	for module := dir; ; module = filepath.Dir(module) {
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			rel, err := filepath.Rel(module, dir)
			return target{Module: module, Package: "./" + filepath.ToSlash(rel)}, err
		}
		if module == root || module == filepath.Dir(module) {
			return target{}, fmt.Errorf("%s is in no module", dir)
		}
	}
}

// run fuzzes as many targets at once as there are CPUs, one worker each, for minutes of
// CPU time, however long they take on a machine that has other work. If there are fewer
// minutes than targets need, the seed picks the targets that get them.
func run(ctx context.Context, o part.Options) (part.Result, error) {
	root, err := repository()
	if err != nil {
		return part.Result{}, err
	}
	targets, err := targetsBelow(root)
	if err != nil {
		return part.Result{}, err
	}
	if len(targets) == 0 {
		return part.Result{}, errors.New("no fuzz target")
	}
	budget := time.Duration(o.Trials) * time.Minute
	rand.New(rand.NewPCG(o.Seed, 0)).Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	targets = targets[:min(len(targets), int(budget/leastTime))]
	share := budget / time.Duration(len(targets))
	result := part.Result{Tried: o.Trials}
	var mu sync.Mutex // guards result, tried and the log
	var tried uint64
	var fuzzing errgroup.Group
	fuzzing.SetLimit(runtime.NumCPU())
	for _, t := range targets {
		fuzzing.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			mu.Lock()
			fmt.Fprintf(o.Log, "fuzz: %v for %v\n", t, share)
			mu.Unlock()
			n, err := t.fuzz(ctx, share)
			mu.Lock()
			defer mu.Unlock()
			tried += n
			if ctx.Err() != nil {
				return ctx.Err() // it ended the target, which has broken nothing
			}
			if err != nil {
				result.Failures = append(result.Failures, fmt.Sprintf("%v: %v", t, err))
			}
			return nil
		})
	}
	if err := fuzzing.Wait(); err != nil {
		return result, err
	}
	result.Figures = []part.Figure{
		{Name: "targets", Value: fmt.Sprint(len(targets))},
		{Name: "CPU time per target", Value: share.Round(time.Second).String()},
		{Name: "inputs tried", Value: fmt.Sprint(tried)},
	}
	return result, nil
}

var executions = regexp.MustCompile(`execs: (\d+)`)

// fuzz runs a target for a share of CPU time and returns the number of inputs that
// were tried.
func (t target) fuzz(ctx context.Context, share time.Duration) (tried uint64, err error) {
	// The first run compiles the target, which is no fuzzing.
	if _, _, err := t.round(ctx, "1x", leastTime); err != nil {
		return 0, err
	}
	for spent := time.Duration(0); spent < share; {
		left := max(leastTime, share-spent)
		n, cpu, err := t.round(ctx, left.String(), left)
		tried += n
		spent += max(cpu, time.Millisecond) // rounds that start nothing must not go on forever
		if err != nil {
			return tried, err
		}
	}
	return tried, nil
}

// round fuzzes once, for a time or a number of inputs, which is expected to take
// length, and returns the inputs tried and the CPU time used.
func (t target) round(ctx context.Context, fuzztime string, length time.Duration) (tried uint64, cpu time.Duration, err error) {
	// Each target bounds its work on one input; this ends one that hangs nevertheless.
	ctx, cancel := context.WithTimeout(ctx, length+10*time.Minute)
	defer cancel()
	// By default each new input is minimized for up to a minute: a share of two would be
	// spent on one input, with nothing else tried.
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.Name+"$", "-fuzztime", fuzztime,
		"-fuzzminimizetime", "20x", "-parallel", "1", t.Package)
	cmd.Dir = t.Module
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	for _, found := range executions.FindAllSubmatch(out, -1) {
		fmt.Sscan(string(found[1]), &tried) // the last is the most
	}
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		text := string(out)
		return tried, cpu, fmt.Errorf("%w: %s", err, text[max(0, len(text)-800):])
	}
	return tried, cpu, nil
}

// repository is the folder of the workspace, at or above the current one.
func repository() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return "", fmt.Errorf("no workspace around the current directory: %v", err)
}
