package session

import (
	"cmp"
	"debug/buildinfo"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify/baseline"
)

// Surroundings returns the circumstances in which a launcher measures a side. Call
// it before any load runs, because the load uses threads. The error is for a plan
// without a fingerprint.
func Surroundings(plan *scenario.Plan, s Side, l *Launcher) (baseline.Circumstances, error) {
	c := baseline.Circumstances{
		Host: record.HostInfo(), GOMAXPROCS: runtime.GOMAXPROCS(0), Go: goVersion(s), Scenario: plan.Name,
		Duration: cmp.Or(max(0, l.Duration), blockDuration), Warmup: cmp.Or(max(0, l.Warmup), blockWarmup),
	}
	if n, err := strconv.Atoi(s.Plan.Target.Env["GOMAXPROCS"]); err == nil && n > 0 {
		c.GOMAXPROCS = n
	}
	var err error
	c.Hash, err = baseline.ScenarioHash(plan.Redacted(), c.Duration)
	return c, err
}

// goVersion returns the version of Go that a side's binary was built with; "" if
// unknown.
func goVersion(s Side) string {
	path := s.Binary
	if path == "" && len(s.Plan.Target.Exec) > 0 {
		path, _ = exec.LookPath(s.Plan.Target.Exec[0])
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	return info.GoVersion
}
