package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile" // the format of profiles

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/profiles"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify/session"
)

// profiled is how long the service is profiled: 100 samples per second and busy core.
const profiled = 12 * time.Second

// leastSamples is the least number of samples that shows which functions are hot.
const leastSamples = 100

// Profile runs the present build under the plan's load and writes its CPU profile to dir, for
// go build -pgo; the run is kept below scratch until then. The error is for a target that
// provides no profile.
func Profile(ctx context.Context, present session.Side, version, scratch, dir string) (path string, err error) {
	plan := *present.Plan
	plan.Load.Duration, plan.Load.Warmup, plan.Load.Stages, plan.Load.Requests = profiled, 2*time.Second, nil, 0
	plan.Export, plan.Thresholds = scenario.Export{}, nil
	bundle := filepath.Join(scratch, "profiled")
	defer os.RemoveAll(bundle)
	if err := run.Run(ctx, run.Options{Plan: &plan, Dir: bundle, Version: version,
		Binary: present.Binary}); err != nil {
		return "", fmt.Errorf("profile the service: %w", err)
	}
	rec, err := record.Open(bundle)
	if err != nil {
		return "", err
	}
	list := rec.Profiles("cpu")
	if len(list) == 0 {
		return "", errors.New("profile the service: the target provides no CPU profile (hint: let redline build it, with target.build)")
	}
	data, err := profiles.Merge(len(list), func(i int) ([]byte, error) { return rec.ReadProfile(list[i]) })
	if err != nil {
		return "", err
	}
	p, err := profiles.Parse(data)
	if err != nil {
		return "", err
	}
	if n := total(p, 0); n < leastSamples {
		return "", fmt.Errorf("profile the service: %d samples in %v are too few to show what is hot", n, profiled)
	}
	path, err = filepath.Abs(filepath.Join(dir, ProfileFile))
	if err != nil {
		return "", err
	}
	return path, disk.Write(dir, ProfileFile, data)
}

// BuildProfiled builds the plan's target with a profile into the file binary.
func BuildProfiled(ctx context.Context, plan *scenario.Plan, path, binary string) error {
	return service.Build(ctx, plan.Target.Build, binary, append(slices.Clone(plan.Target.BuildFlags), "-pgo="+path)...)
}

func total(p *profile.Profile, value int) (n int64) {
	for _, s := range p.Sample {
		n += s.Value[value]
	}
	return n
}

// mostInlined is how many calls are listed.
const mostInlined = 12

// Inlining compares what the compiler inlines with and without a profile, in the packages of the
// module in which the profile has samples, and names the calls of hot functions.
func Inlining(ctx context.Context, plan *scenario.Plan, path string) (*tune.Inlining, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := profiles.Parse(data)
	if err != nil {
		return nil, err
	}
	shares := functionShares(p)
	packages, err := compiler.List(ctx, compiler.Build{Dir: plan.Target.Build, Flags: plan.Target.BuildFlags}, ".")
	if err != nil {
		return nil, err
	}
	var hot []string
	for _, pkg := range packages {
		if hotPackage(pkg, shares) {
			hot = append(hot, pkg.ImportPath)
		}
	}
	if len(hot) == 0 {
		return &tune.Inlining{Calls: []tune.Inlined{}}, nil
	}
	without, err := compiler.Inlined(ctx, plan.Target.Build, append(slices.Clone(plan.Target.BuildFlags), "-pgo=off"),
		hot...)
	if err != nil {
		return nil, err
	}
	with, err := compiler.Inlined(ctx, plan.Target.Build, append(slices.Clone(plan.Target.BuildFlags), "-pgo="+path),
		hot...)
	if err != nil {
		return nil, err
	}
	return more(without, with, shares), nil
}

// functionShares returns the shares of a profile's CPU by function, callees included. The key
// is the name after the last slash of its path.
func functionShares(p *profile.Profile) map[string]float64 {
	value := len(p.SampleType) - 1
	all, out := float64(total(p, value)), map[string]float64{}
	for _, s := range p.Sample {
		seen := map[string]bool{}
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function != nil {
					seen[shortName(line.Function.Name)] = true
				}
			}
		}
		for name := range seen {
			out[name] += float64(s.Value[value]) / all
		}
	}
	return out
}

func shortName(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// hotShare is the share of the CPU at which a function is hot.
const hotShare = 0.005

func hotPackage(pkg compiler.Package, shares map[string]float64) bool {
	prefix := shortName(pkg.ImportPath) + "."
	if pkg.Name == "main" {
		prefix = "main."
	}
	for name, share := range shares {
		if strings.HasPrefix(name, prefix) && share >= hotShare {
			return true
		}
	}
	return false
}

// more lists the calls that only the build with the profile inlines, those of hot
// functions by their share.
func more(without, with []compiler.Call, shares map[string]float64) *tune.Inlining {
	count := map[compiler.Call]int{}
	for _, c := range without {
		count[c]++
	}
	found := map[tune.Inlined]bool{}
	out := &tune.Inlining{Calls: []tune.Inlined{}}
	for _, c := range with {
		if count[c]--; count[c] >= 0 {
			continue
		}
		out.Total++
		callee := shortName(c.Callee)
		share := shares[callee]
		if share == 0 && !strings.Contains(callee[:max(0, strings.LastIndex(callee, "."))], ".") {
			// The compiler omits the package's name for functions of the same
			// package.
			share = ownShare(callee, filepath.Base(filepath.Dir(c.Path)), shares)
		}
		one := tune.Inlined{Caller: fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(c.Path)),
			filepath.Base(c.Path), c.Line), Callee: callee, Share: share}
		if share >= hotShare {
			found[one] = true
		}
	}
	list := slices.SortedFunc(maps.Keys(found), func(a, b tune.Inlined) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Callee, b.Callee))
	})
	out.Calls = append(out.Calls, list[:min(mostInlined, len(list))]...)
	return out
}

func ownShare(callee, dir string, shares map[string]float64) float64 {
	return max(shares[dir+"."+callee], shares["main."+callee])
}
