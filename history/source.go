package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/verify"
)

// FromRun makes a result of a recorded run. One that must not be compared (the
// generator was saturated, every request failed) is an error.
func FromRun(dir string, c verify.Commit) (Result, error) {
	rec, err := record.Open(dir)
	if err != nil {
		return Result{}, err
	}
	if rec.Run.State != record.Complete {
		return Result{}, fmt.Errorf("%s was cut short (%s): only whole runs are kept in a history", dir, rec.Run.State)
	}
	values, err := verify.RunValues(dir)
	if err != nil {
		return Result{}, err
	}
	hash, err := verify.ScenarioHash(rec.Run.Scenario, 0)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Time: rec.Run.Clock.EpochWall, Commit: c, Scenario: verify.ScenarioName(rec.Run.Scenario), Hash: hash, Machine: rec.Run.Host,
		Go: rec.Run.Target.GoVersion, Redline: rec.Run.Redline, Kind: Run, Dir: absolute(dir), Figures: figures(values),
	}, nil
}

// FromSession makes a result of what a comparison measured of its side b.
func FromSession(dir string, h verify.Header, blocks []verify.Block, metrics []verify.Metric, kind Kind) (Result, error) {
	values := verify.BlockValues(blocks, metrics)
	if len(values) == 0 {
		return Result{}, fmt.Errorf("%s: no block of side b to keep", dir)
	}
	hash, err := verify.ScenarioHash(h.Plan, h.Block)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Time: h.Begun, Commit: h.Commit, Scenario: verify.ScenarioName(h.Plan), Hash: hash, Machine: h.Host,
		Go: h.Go, Redline: h.Redline, Kind: kind, Dir: absolute(dir), Figures: figures(values),
	}, nil
}

// FromRecorded makes a result of a directory: a run's bundle, or a session of ab
// or gate. c is what to take for its commit; where that is empty, it is the one
// that was recorded.
func FromRecorded(ctx context.Context, dir string, c verify.Commit) (Result, error) {
	if filepath.Base(dir) == verify.ResultFile {
		dir = filepath.Dir(dir)
	}
	if _, err := os.Stat(filepath.Join(dir, verify.SessionFile)); err == nil {
		r, err := verify.ReadSession(dir)
		if err != nil {
			return Result{}, err
		}
		if r.Result.Verdict == verify.Invalid {
			return Result{}, fmt.Errorf("%s is invalid: %s", dir, r.Result.Why)
		}
		if c.Hash != "" {
			r.Header.Commit = c
		}
		return FromSession(dir, r.Header, r.Blocks, r.Metrics, AB)
	}
	if c.Hash == "" {
		rec, err := record.Open(dir)
		if err != nil {
			return Result{}, err
		}
		if rec.Run.Target.Revision != "" {
			c = verify.Describe(ctx, rec.Run.Target.Revision)
		}
	}
	return FromRun(dir, c)
}

func figures(values []verify.Value) []Figure {
	out := make([]Figure, len(values))
	for i, v := range values {
		out[i] = Figure{Metric: v.Name, Unit: v.Unit, Higher: v.Higher, Value: v.Value, Low: v.Low, High: v.High}
	}
	return out
}

// absolute returns the path as others find it; the one given where there is no
// working directory.
func absolute(dir string) string {
	if path, err := filepath.Abs(dir); err == nil {
		return path
	}
	return dir
}
