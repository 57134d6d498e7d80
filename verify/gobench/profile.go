package gobench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile" // the format of Go's CPU profiles

	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/gobench/loops"
)

const (
	// profiled is the shortest profile: some dozens of samples at 100 per second.
	// If others have the CPU it gets fewer, and is taken again, three times as
	// long, up to mostProfiled.
	profiled     = 500 * time.Millisecond
	mostProfiled = 5 * time.Second
	// mostProfile bounds the bytes read of a profile.
	mostProfile = 64 << 20
	// shares of a profile with fewer samples than leastSamples mean nothing.
	leastSamples  = 30
	mostFunctions = 5
)

// Profile is where a benchmark's CPU goes, by side.
type Profile struct {
	Sides []ProfileSide `json:"sides"`
	// Changes are the functions whose own time per operation differs by more than
	// sampling alone explains, largest first; empty for one side.
	Changes []verify.Change `json:"changes"`
}

// ProfileSide is one side's CPU profile.
type ProfileSide struct {
	Side    string     `json:"side"`
	File    string     `json:"file"` // in the session's folder, for go tool pprof
	Samples int        `json:"samples"`
	Top     []Function `json:"top"`
	// Collecting and Allocating are the shares of CPU in garbage collection
	// and in allocation apart from that; collection on idle processors is left out.
	Collecting float64 `json:"collecting"`
	Allocating float64 `json:"allocating"`

	costs map[string]float64 // share by function, its own
	lines func(p loops.Position) float64
}

// Function is a function's own share of CPU.
type Function struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// profileTime is about how long the profiles will take.
func (s *session) profileTime() time.Duration {
	each := 2 * max(profiled, s.benchTime()) // growing b.N takes as long again
	return time.Duration(min(s.o.Profiles, len(s.list))*len(s.sides)) * each
}

// benchTime is the time of a launch; 0 if a number of iterations is given instead.
func (s *session) benchTime() time.Duration {
	d, _ := time.ParseDuration(s.o.BenchTime)
	return d
}

// profiles profiles the benchmarks that changed, then those that take longest.
// Profiles are taken after the rounds: the profiler's signals would be in the
// figures.
func (s *session) profiles(ctx context.Context, r *Report, list []*benchmark) error {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		changed := func(n int) int {
			if v := r.Benchmarks[n].Verdict; v == verify.Regression || v == verify.Improvement {
				return 0
			}
			return 1
		}
		// Of those that did not change, the slowest are where a reader looks for
		// savings.
		return cmp.Or(cmp.Compare(changed(i), changed(j)), cmp.Compare(r.Benchmarks[j].seconds(), r.Benchmarks[i].seconds()))
	})
	for _, i := range order[:min(len(order), s.o.Profiles)] {
		b := list[i]
		s.o.Progress("profiling " + b.String())
		var p Profile
		for _, side := range s.sides {
			one, err := s.profile(ctx, side, b)
			if err != nil {
				return err
			}
			if one != nil {
				p.Sides = append(p.Sides, *one)
			}
		}
		p.Changes = changes(p.Sides, r.Benchmarks[i].Metrics)
		if len(p.Sides) > 0 {
			r.Benchmarks[i].Profile = &p
		}
	}
	if rest := len(order) - s.o.Profiles; rest > 0 && s.o.Profiles > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s not profiled: the shares of allocation and "+
			"collection are not known there (--profiles %d)", plural(rest, "benchmark"), len(order)))
	}
	return nil
}

// seconds is the time of an operation on the slower side; 0 without one.
func (b Benchmark) seconds() float64 {
	for _, m := range b.Metrics {
		if m.Name == perOp {
			return max(m.A, m.B)
		}
	}
	return 0
}

// profile takes a CPU profile of a benchmark on a side, long enough to mean
// something if that can be had; nil if there is none, which is no error, because the
// figures do not need it.
func (s *session) profile(ctx context.Context, side *built, b *benchmark) (*ProfileSide, error) {
	for length := max(profiled, s.benchTime()); ; length *= 3 {
		p, err := s.profileFor(ctx, side, b, length)
		if err != nil || p == nil || p.Samples >= leastSamples || length*3 > mostProfiled {
			return p, err
		}
	}
}

// profileFor takes one profile of a given length. A launch that fails, a file that
// is not there or is no profile give nil.
func (s *session) profileFor(ctx context.Context, side *built, b *benchmark, length time.Duration) (*ProfileSide, error) {
	if err := os.MkdirAll(filepath.Join(s.o.Out, profileDir), 0o700); err != nil {
		return nil, fmt.Errorf("folder of the profiles: %w", err)
	}
	name := filepath.Join(profileDir, fileName(b)+"."+side.name+".cpu.pprof")
	path, err := filepath.Abs(filepath.Join(s.o.Out, name))
	if err != nil {
		return nil, err
	}
	args := []string{"-test.benchtime=" + length.String(), "-test.cpuprofile=" + path}
	if b.cpu > 0 {
		args = append(args, fmt.Sprintf("-test.cpu=%d", b.cpu))
	}
	out, err := side.binaries[b.pkg].launch(ctx, b.pattern(), args...)
	if err != nil {
		return nil, err
	}
	// A benchmark that fails under the profiler has its figures already; it only
	// has no profile.
	if out.err != nil {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer file.Close()
	if err := file.Chmod(0o600); err != nil { // the launch made it by its umask
		return nil, fmt.Errorf("profile: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(file, mostProfile))
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	p, err := readProfile(data)
	if err != nil {
		return nil, nil
	}
	p.Side, p.File = side.name, name
	return p, nil
}

// fileName turns a benchmark's name into a file's: letters, digits and -_.= stay.
// Names come from the measured code and may contain any separator.
func fileName(b *benchmark) string {
	text := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, strings.ReplaceAll(b.pkg, "/", "_")+"."+b.title())
	const most = 200 // of the 255 bytes that file systems allow
	// The end is kept: it is the benchmark, where the beginning is the module's
	// path.
	return text[max(0, len(text)-most):]
}

// collectors are functions below which the runtime collects garbage; idle is what
// it does only where a processor has nothing else to do.
var (
	collectors = []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep",
		"runtime.bgscavenge", "runtime.gcStart", "runtime.gcDrain"}
	idle       = "runtime.gcDrainMarkWorkerIdle"
	allocators = []string{"runtime.mallocgc", "runtime.newobject", "runtime.growslice", "runtime.makeslice"}
)

// readProfile returns where the samples of a CPU profile are. The error is for data
// that is no profile; one without samples is valid.
func readProfile(data []byte) (*ProfileSide, error) {
	prof, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	out := &ProfileSide{costs: map[string]float64{}, Top: []Function{}}
	total := 0
	var counted []*profile.Sample
	for _, sample := range prof.Sample {
		// Idle marking runs on processors that had nothing to do. It costs the
		// benchmark nothing, and on a machine of many cores would be most of the
		// profile.
		if len(sample.Value) == 0 || sample.Value[0] <= 0 || within(sample, idle) {
			continue
		}
		n := int(sample.Value[0])
		total += n
		counted = append(counted, sample)
		out.costs[own(sample)] += float64(n)
		if within(sample, collectors...) {
			out.Collecting += float64(n)
			// An allocation that assists the collector counts as collecting, which
			// comes first.
		} else if within(sample, allocators...) {
			out.Allocating += float64(n)
		}
	}
	out.Samples = total
	if total == 0 {
		return out, nil
	}
	out.Collecting, out.Allocating = out.Collecting/float64(total), out.Allocating/float64(total)
	for name := range out.costs {
		out.costs[name] /= float64(total)
	}
	names := slices.SortedFunc(maps.Keys(out.costs), func(a, b string) int {
		return cmp.Or(cmp.Compare(out.costs[b], out.costs[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), mostFunctions)] {
		out.Top = append(out.Top, Function{name, out.costs[name]})
	}
	out.lines = func(p loops.Position) float64 {
		n := 0
		for _, sample := range counted {
			if at(sample, p) {
				n += int(sample.Value[0])
			}
		}
		return float64(n) / float64(total)
	}
	return out, nil
}

// within reports whether one of the functions is on a sample's stack.
func within(s *profile.Sample, functions ...string) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil && slices.Contains(functions, line.Function.Name) {
				return true
			}
		}
	}
	return false
}

// own returns the function that a sample is in, at its leaf.
func own(s *profile.Sample) string {
	if len(s.Location) > 0 && len(s.Location[0].Line) > 0 && s.Location[0].Line[0].Function != nil {
		return s.Location[0].Line[0].Function.Name
	}
	return "unknown"
}

// at reports whether a sample has a place of the source on its stack.
func at(s *profile.Sample, p loops.Position) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil && line.Function.Filename == p.File && int(line.Line) >= p.From && int(line.Line) <= p.To {
				return true
			}
		}
	}
	return false
}

// changes returns the functions whose own time per operation differs, in ns: their
// share of the samples times the median of sec/op. A count of n samples has
// variance n (Poisson), and a difference must exceed three standard errors and 1 %
// of the operation.
func changes(sides []ProfileSide, metrics []Metric) []verify.Change {
	out := []verify.Change{}
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == perOp })
	if len(sides) != 2 || i < 0 || min(sides[0].Samples, sides[1].Samples) < leastSamples {
		return out
	}
	a, b := 1e9*metrics[i].A, 1e9*metrics[i].B
	names := map[string]bool{}
	for _, s := range sides {
		for name := range s.costs {
			names[name] = true
		}
	}
	for name := range names {
		c := verify.Change{Place: name, A: a * sides[0].costs[name], B: b * sides[1].costs[name]}
		// With share s of n samples, the time a·s has the variance a²·s/n, which is
		// c.A·a/n.
		variance := c.A*a/float64(sides[0].Samples) + c.B*b/float64(sides[1].Samples)
		if d := math.Abs(c.B - c.A); d >= 3*math.Sqrt(variance) && d >= 0.01*max(a, b) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b verify.Change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.B-b.A), math.Abs(a.B-a.A)), cmp.Compare(a.Place, b.Place))
	})
	return out[:min(len(out), mostFunctions)]
}
