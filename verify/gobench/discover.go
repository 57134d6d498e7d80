package gobench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/redline-go/redline/service/guard"
)

// benchmark is launched and compared on its own: a leaf of the tree that b.Run
// makes, at one GOMAXPROCS.
type benchmark struct {
	pkg, name string // "Encode/big", as benchfmt has it
	cpu       int    // of -cpu; 0 is the side's default
	once      time.Duration
	series    [2][]launch // by side, of the rounds
	same      [2][]launch // side a against itself
}

// launch is one measurement of a benchmark, in one run of its binary.
type launch struct {
	result *benchfmt.Result
	procs  int
	took   time.Duration
}

func (b *benchmark) String() string { return b.pkg + "." + b.title() }

// title is the name within its package, with GOMAXPROCS where that was chosen.
func (b *benchmark) title() string {
	if b.cpu > 1 {
		return fmt.Sprintf("%s-%d", b.name, b.cpu)
	}
	return b.name
}

// pattern is the regular expression that matches this benchmark alone: go test
// matches each element of a name apart, so each is anchored.
func (b *benchmark) pattern() string {
	parts := strings.Split("Benchmark"+b.name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// function is the declared function that it is in.
func (b *benchmark) function() string {
	name, _, _ := strings.Cut(b.name, "/")
	return "Benchmark" + name
}

// Missing is a benchmark that could not be measured on both sides.
type Missing struct {
	Package string `json:"package"`
	Name    string `json:"name,omitempty"` // empty is the package as a whole
	Side    string `json:"side"`           // where it is missing or fails
	Why     string `json:"why"`
	// Failed says that it is there and fails; such a session does not pass.
	Failed bool `json:"failed"`
	// Skipped says that it is there and skips itself; Why is its reason.
	Skipped bool `json:"skipped,omitempty"`
}

// found is the result of running a side's package once.
type found struct {
	once    map[string]time.Duration // the time of one iteration, set-up included, by name
	failed  map[string]string        // why, by name
	skipped map[string]string        // its reason, by name
	aborted string                   // why not all could be found
}

// discover runs every benchmark once on every side, which gives their names (b.Run
// computes them) and those that fail, before anything is measured.
func discover(ctx context.Context, o Options, sides []*built) (list []*benchmark, missing []Missing, err error) {
	packages := map[string]bool{}
	for _, s := range sides {
		for pkg := range s.binaries {
			packages[pkg] = true
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		by := make([]found, len(sides))
		absent := false
		for i, s := range sides {
			bin, ok := s.binaries[pkg]
			if !ok {
				missing, absent = append(missing, Missing{Package: pkg, Side: s.name, Why: "has no benchmarks there"}), true
				continue
			}
			o.Progress(fmt.Sprintf("running the benchmarks of %s once, side %s", pkg, s.name))
			if by[i], err = bin.discover(ctx, o); err != nil {
				return nil, nil, err
			}
		}
		if !absent {
			here, gone := join(pkg, o, sides, by)
			list, missing = append(list, here...), append(missing, gone...)
		}
	}
	return list, missing, nil
}

// join returns the benchmarks that all sides have, and those that some lack.
func join(pkg string, o Options, sides []*built, by []found) (list []*benchmark, missing []Missing) {
	names := map[string]bool{}
	for i, f := range by {
		for name := range f.once {
			names[name] = true
		}
		for name, why := range f.skipped {
			names[name] = true
			missing = append(missing, Missing{Package: pkg, Name: name, Side: sides[i].name, Why: why, Skipped: true})
		}
		for name, why := range f.failed {
			missing = append(missing, Missing{Package: pkg, Name: name, Side: sides[i].name, Why: why, Failed: true})
		}
		if f.aborted != "" {
			missing = append(missing, Missing{Package: pkg, Side: sides[i].name, Why: f.aborted, Failed: true})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		everywhere := true
		for i, f := range by {
			_, ok := f.once[name]
			_, failed := f.failed[name]
			if _, skipped := f.skipped[name]; !ok && !failed && !skipped {
				missing = append(missing, Missing{Package: pkg, Name: name, Side: sides[i].name, Why: "does not exist"})
			}
			everywhere = everywhere && ok
		}
		if !everywhere {
			continue
		}
		cpus := o.CPU
		if len(cpus) == 0 {
			cpus = []int{0}
		}
		for _, cpu := range cpus {
			list = append(list, &benchmark{pkg: pkg, name: name, cpu: cpu, once: by[len(by)-1].once[name]})
		}
	}
	slices.SortStableFunc(missing, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Side, b.Side))
	})
	return list, missing
}

// discover runs a package's benchmarks once. A panic ends the whole process, so the
// functions that it kept from running are launched one by one: one broken benchmark
// must not hide the others.
func (b binary) discover(ctx context.Context, o Options) (found, error) {
	f := found{once: map[string]time.Duration{}, failed: map[string]string{}, skipped: map[string]string{}}
	// With one processor names carry no suffix that could be taken for their end. Why one
	// is skipped is printed with -test.v alone.
	args := []string{"-test.benchtime=1x", "-test.cpu=1", "-test.v"}
	out, err := b.launch(ctx, o.Bench, args...)
	if err != nil {
		return f, err
	}
	f.add(out)
	// A benchmark that calls b.Fatal fails alone, and the others ran.
	if out.err == nil || len(out.failed) > 0 && !out.crashed {
		return f, nil
	}
	names, err := b.functions(ctx)
	if err != nil {
		return f, err
	}
	if len(names) == 0 {
		f.aborted = out.reason
	}
	for _, name := range names {
		if f.knows(name) {
			continue
		}
		// By -test.skip of the others, so that the user's own pattern stays in
		// force.
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
		out, err := b.launch(ctx, o.Bench, slices.Concat(args, []string{"-test.skip=^(" + strings.Join(others, "|") + ")$"})...)
		if err != nil {
			return f, err
		}
		f.add(out)
		if short := strings.TrimPrefix(name, "Benchmark"); out.err != nil && !f.fails(short) {
			f.failed[short] = out.reason
		}
	}
	return f, nil
}

// add notes the outcome of a launch. A benchmark that failed once is failed, even
// if it has a result.
func (f found) add(out launched) {
	for _, r := range out.results {
		// With one iteration the time includes set-up: Iters is 1, and sec/op times
		// that is the whole run.
		if sec, ok := r.Value("sec/op"); ok {
			f.once[string(r.Name)] = time.Duration(sec * 1e9 * float64(r.Iters))
		} else {
			f.once[string(r.Name)] = 0
		}
	}
	for _, name := range out.failed {
		// Of a failing sub-benchmark the function fails too: the leaf is reported.
		if !f.fails(name) {
			f.failed[name] = cmp.Or(out.message[name], out.reason)
		}
	}
	for name := range f.failed {
		delete(f.once, name)
	}
	maps.Copy(f.skipped, out.skipped)
}

// fails reports whether the benchmark or one below it is known to fail.
func (f found) fails(name string) bool {
	for failed := range f.failed {
		if failed == name || strings.HasPrefix(failed, name+"/") {
			return true
		}
	}
	return false
}

// knows reports whether a function ran to its end.
func (f found) knows(function string) bool {
	short := strings.TrimPrefix(function, "Benchmark")
	if _, skipped := f.skipped[short]; skipped || f.fails(short) {
		return true
	}
	_, ok := f.once[short]
	return ok
}

// functions lists the benchmarks that the binary declares; none if it fails before
// listing them, as an init that panics does.
func (b binary) functions(ctx context.Context) (names []string, err error) {
	cmd := exec.Command(b.path, "-test.list=^Benchmark")
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), b.env...)
	out, err := guard.Output(ctx, cmd, syscall.SIGKILL)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); declared.MatchString(line) {
			names = append(names, line)
		}
	}
	return names, nil
}

var declared = regexp.MustCompile(`^Benchmark\w*$`)
