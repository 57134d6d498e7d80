package gobench

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/verify"
)

// Defaults of Options.
const (
	DefaultRounds    = 20
	DefaultBenchTime = "100ms"
	DefaultMaxTime   = 5 * time.Minute
	DefaultMargin    = 0.05
	DefaultProfiles  = 10
)

// alpha is the two-sided error rate of all decisions of a session together, as in
// verify.Rules: without a change, at most 1 % of sessions report a regression.
const alpha = 0.02

// Side names the sources and environment of one side of a comparison.
type Side struct {
	Revision string   // empty is the work tree as it is
	Env      []string // K=V, besides redline's own environment
}

func (s Side) String() string {
	parts := []string{cmp.Or(s.Revision, "work tree")}
	for _, name := range s.variables() {
		parts = append(parts, name+"=...")
	}
	return strings.Join(parts, " ")
}

// variables returns the names in the side's environment, without their values,
// which may be secrets.
func (s Side) variables() []string {
	names := make([]string, len(s.Env))
	for i, pair := range s.Env {
		names[i], _, _ = strings.Cut(pair, "=")
	}
	return names
}

// Options describes a session.
type Options struct {
	Dir      string   // folder that patterns are relative to; empty is the working directory
	Patterns []string // packages as the go command names them; none is "."
	Sides    []Side   // one, or two that are compared; none is the work tree alone
	Bench    string   // as go test -bench; empty is "."
	// BenchTime of a launch, as go test -benchtime: "100ms" or "50x". Empty is
	// DefaultBenchTime.
	BenchTime string
	CPU       []int // as go test -cpu; none is each side's default
	Tags      string
	Rounds    int           // zero is DefaultRounds; fewer where the time does not suffice
	MaxTime   time.Duration // of the session, with its builds; zero is DefaultMaxTime
	Margin    float64       // relative change that is still acceptable; zero is DefaultMargin
	Profiles  int           // benchmarks that are profiled; negative is none, zero is DefaultProfiles
	Seed      uint64        // of the order
	// Out is the folder for old.txt, new.txt, bench.json and profiles; it is made.
	Out string
	// Progress receives progress, a line at a time; may be nil.
	Progress func(line string)
}

// filled returns the options with their defaults, or an error with a hint.
func (o Options) filled() (Options, error) {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"."}
	}
	if len(o.Sides) == 0 {
		o.Sides = []Side{{}}
	}
	o.Bench = cmp.Or(o.Bench, ".")
	o.BenchTime = cmp.Or(o.BenchTime, DefaultBenchTime)
	o.Rounds = cmp.Or(o.Rounds, DefaultRounds)
	o.MaxTime = cmp.Or(o.MaxTime, DefaultMaxTime)
	o.Margin = cmp.Or(o.Margin, DefaultMargin)
	// Zero is the default, so that none is a negative number.
	o.Profiles = max(0, cmp.Or(o.Profiles, DefaultProfiles))
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	switch {
	case len(o.Sides) > 2:
		return o, errors.New("more than two sides")
	// Two rounds are the least that has any noise; verdicts take more (decidable).
	case o.Rounds < 2:
		return o, fmt.Errorf("%d rounds are too few (hint: %d decide between a few benchmarks)", o.Rounds, DefaultRounds)
	case o.MaxTime < 0:
		return o, fmt.Errorf("a session of %s", o.MaxTime)
	case !(o.Margin > 0 && o.Margin < 10):
		return o, fmt.Errorf("a margin of %v (hint: 0.05 is 5 %%)", o.Margin)
	case o.Out == "":
		return o, errors.New("no folder for the results")
	}
	if !validBenchTime(o.BenchTime) {
		return o, fmt.Errorf("benchtime %q is neither a duration nor a count (hint: 100ms, or 50x)", o.BenchTime)
	}
	for _, n := range o.CPU {
		if n < 1 {
			return o, fmt.Errorf("GOMAXPROCS of %d", n)
		}
	}
	return o, o.checkSides()
}

// checkSides rejects what would be misunderstood later: a pattern that begins with
// - would be an option of the go command, an absolute path would mean the work tree
// at any revision.
func (o Options) checkSides() error {
	for _, s := range o.Sides {
		for _, pair := range s.Env {
			if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
				return fmt.Errorf("environment %q is not K=V", pair)
			}
		}
		for _, p := range o.Patterns {
			if s.Revision != "" && strings.HasPrefix(p, string(os.PathSeparator)) {
				return fmt.Errorf("package %s at a revision is named by its path in the repository (hint: ./pkg)", p)
			}
		}
	}
	for _, p := range o.Patterns {
		if strings.HasPrefix(p, "-") {
			return fmt.Errorf("%q is not a package", p)
		}
	}
	return nil
}

// validBenchTime accepts what -benchtime does: a duration above zero or a count
// with x.
func validBenchTime(text string) bool {
	if count, ok := strings.CutSuffix(text, "x"); ok {
		n, err := strconv.Atoi(count)
		return err == nil && n > 0
	}
	d, err := time.ParseDuration(text)
	return err == nil && d > 0
}

// rules are verify's rules for these options.
func (o Options) rules(metrics []verify.Metric) verify.Rules {
	return verify.Rules{Metrics: metrics, Alpha: alpha, Looks: 1, Seed: o.Seed}
}
