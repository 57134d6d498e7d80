package gobench

import (
	"context"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
)

// Schema names bench.json and its version. Fields may be added under the same name;
// a changed meaning needs another.
const Schema = "redline.bench/1"

// Report is bench.json. Changes are relative, side b against a, + is worse.
type Report struct {
	Schema string `json:"schema"`
	// Verdict is of all benchmarks together; empty when one side was measured and
	// nothing is compared.
	Verdict verify.Verdict `json:"verdict,omitempty"`
	Why     string         `json:"why"`
	Sides   []SideReport   `json:"sides"`
	// Begun, Host, Go (the toolchain's version; empty if unknown) and Tags say
	// when, where and with what it was measured.
	Begun  time.Time   `json:"begun"`
	Host   record.Host `json:"host"`
	Go     string      `json:"go"`
	Tags   string      `json:"tags"`
	Rounds int         `json:"rounds"`
	// Planned is how many were meant to be made; fewer when the time was up, or
	// the session interrupted.
	Planned     int         `json:"planned"`
	BenchTime   string      `json:"benchtime"`
	Interrupted bool        `json:"interrupted"`
	Benchmarks  []Benchmark `json:"benchmarks"`
	Missing     []Missing   `json:"missing"`
	// AA is the result of measuring side a against itself; Different names benchmarks
	// with their unit.
	AA       verify.AA `json:"aa"`
	Alpha    float64   `json:"alpha"` // two-sided, of all decisions together
	Margin   float64   `json:"margin"`
	Cores    int       `json:"cores"`
	Warnings []string  `json:"warnings"`
}

// Undecided reports whether the session failed at its purpose: to decide between
// two sides, or to measure every benchmark of one. The command then exits with 3,
// not 0.
func (r *Report) Undecided() bool {
	if len(r.Sides) == 2 {
		return r.Verdict == verify.Inconclusive
	}
	for _, m := range r.Missing {
		if m.Failed {
			return true
		}
	}
	return r.Rounds == 0
}

// Commit is git's description of the only side or side b; zero outside of git.
func (r *Report) Commit(ctx context.Context) revision.Commit {
	if len(r.Sides) == 0 {
		return revision.Commit{}
	}
	side := r.Sides[len(r.Sides)-1]
	if side.Commit == "" {
		return revision.Commit{} // outside of git
	}
	c := revision.Describe(ctx, side.Commit)
	c.Dirty = side.Dirty
	return c
}

// SideReport describes a side.
type SideReport struct {
	Name   string `json:"name"`   // "a" or "b"
	Source string `json:"source"` // revision or "work tree", and names of variables
	Commit string `json:"commit"` // empty outside of git
	Dirty  bool   `json:"dirty"`
	// Environment names the variables that the side was given of its own.
	Environment []string `json:"environment"`
}

// Benchmark is one benchmark's part of a Report.
type Benchmark struct {
	Package string `json:"package"`
	Name    string `json:"name"`  // without "Benchmark", with GOMAXPROCS where --cpu chose it
	Procs   int    `json:"procs"` // GOMAXPROCS it ran with
	// Iterations are the median of b.N over the rounds, of the side that has fewer.
	Iterations int `json:"iterations"`
	// Verdict is that of its metrics together; empty for one side alone.
	Verdict verify.Verdict `json:"verdict,omitempty"`
	Metrics []Metric       `json:"metrics"`
	Traps   []Trap         `json:"traps"`
	Profile *Profile       `json:"profile,omitempty"`
}

// Metric is one unit of a benchmark. Its Name is the unit: "sec/op", "B/op",
// "allocs/op", or a metric of the benchmark's own. A and B are the median
// rounds, in the unit.
type Metric struct {
	verify.MetricResult
	// Noise is the standard deviation of the relative difference between two
	// rounds of the same side, and Rounds how many count.
	Noise float64 `json:"noise"`
	// Spread holds, of a side measured alone, the interval of its typical round at
	// 95 %: its low and high ends in the unit; zeros if there is none.
	Spread [2]float64 `json:"spread"`
}

// Trap is a reason why a figure does not measure the work it claims to. It changes
// no verdict but one: a figure that cannot move is never passed.
type Trap struct {
	Kind     Kind   `json:"kind"`
	Side     string `json:"side,omitempty"`  // "a", "b" or "a, b"; empty when it is of no side
	Where    string `json:"where,omitempty"` // file.go:12
	Evidence string `json:"evidence"`
	Remedy   string `json:"remedy"`
}

// Kind is the sort of trap.
type Kind string

// Kinds of traps.
const (
	Dropped     Kind = "result-unused"   // the compiler may leave the work out
	SetUpBefore Kind = "set-up-timed"    // set-up before the loop is in the figure
	SetUpInside Kind = "set-up-in-loop"  // set-up takes much of every iteration
	Collecting  Kind = "gc-dominates"    // collection or allocation takes much of the CPU
	FewRuns     Kind = "few-iterations"  // b.N is small
	Drift       Kind = "drift"           // rounds get slower or faster
	Overcommit  Kind = "more-than-cores" // GOMAXPROCS above the cores
)
