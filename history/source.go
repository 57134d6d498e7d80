package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
	"github.com/redline-go/redline/verify/gobench"
	"github.com/redline-go/redline/verify/session"
)

// FromRun makes a result of a recorded run. One that must not be compared (the
// generator was saturated, every request failed) is an error.
func FromRun(dir string, c revision.Commit) (Result, error) {
	rec, err := record.Open(dir)
	if err != nil {
		return Result{}, err
	}
	if rec.Run.State != record.Complete {
		return Result{}, fmt.Errorf("%s was cut short (%s): a history keeps whole runs only", dir, rec.Run.State)
	}
	values, err := session.RunValues(dir)
	if err != nil {
		return Result{}, err
	}
	hash, err := baseline.ScenarioHash(rec.Run.Scenario, 0)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Time: rec.Run.Clock.EpochWall, Commit: c, Scenario: baseline.ScenarioName(rec.Run.Scenario), Hash: hash, Machine: rec.Run.Host,
		Go: rec.Run.Target.GoVersion, Redline: rec.Run.Redline, Kind: Run, Dir: absolute(dir), Figures: figures(values),
	}, nil
}

// FromSession makes a result of the measurements of a comparison's side b, by
// turns of some length or, where that is zero, alone.
func FromSession(dir string, h session.Header, blocks []verify.Block, metrics []verify.Metric, turn time.Duration,
	kind Kind) (Result, error) {
	values := verify.BlockValues(blocks, metrics)
	if len(values) == 0 {
		return Result{}, fmt.Errorf("%s: no block of side b to keep", dir)
	}
	hash, err := baseline.ScenarioHash(h.Plan, h.Block)
	if err != nil {
		return Result{}, err
	}
	if turn > 0 {
		// Short turns cost a service more per request: a series of its own.
		hash += "-" + turn.String()
	}
	return Result{
		Time: h.Begun, Commit: h.Commit, Scenario: baseline.ScenarioName(h.Plan), Hash: hash, Machine: h.Host,
		Go: h.Go, Redline: h.Redline, Kind: kind, Dir: absolute(dir), Figures: figures(values),
	}, nil
}

// FromTune makes a result of the confirmation of a tune, in the tune's directory. Each setting
// is a series of its own: two of them are two services as far as figures go.
func FromTune(dir string, r session.Recorded) (Result, error) {
	out, err := FromSession(dir, r.Header, r.Blocks, r.Metrics, r.Result.Turn, Tune)
	sum := sha256.Sum256([]byte(r.Header.B))
	out.Hash += "-" + hex.EncodeToString(sum[:4])
	return out, err
}

// FromBench makes a result of Go benchmarks on their only side, or
// on side b: a metric per benchmark and unit that has a direction,
// "example.com/codec.Encode allocs/op". Nanoseconds stand for seconds per
// operation. dir is the session's folder, and c the commit of that side.
func FromBench(dir string, r *gobench.Report, c revision.Commit) (Result, error) {
	if len(r.Sides) == 0 || len(r.Benchmarks) == 0 || r.Rounds == 0 {
		return Result{}, fmt.Errorf("%s: no round of a benchmark to keep", dir)
	}
	if len(r.Sides[len(r.Sides)-1].Environment) > 0 {
		return Result{}, fmt.Errorf("%s: the measured side has an environment of its own, unlike other results of its commit", dir)
	}
	like := sha256.Sum256([]byte("go test -bench\n" + r.BenchTime + "\n" + r.Tags))
	out := Result{
		Time: r.Begun, Commit: c, Scenario: "go benchmarks", Hash: hex.EncodeToString(like[:]), Machine: r.Host,
		Go: r.Go, Kind: Bench, Dir: absolute(dir),
	}
	for _, b := range r.Benchmarks {
		for _, m := range b.Metrics {
			if m.Advisory {
				continue
			}
			f := Figure{Unit: m.Unit, Higher: m.Higher, Value: m.B, Low: math.NaN(), High: math.NaN()}
			if m.Spread[1] > 0 {
				f.Low, f.High = m.Spread[0], m.Spread[1]
			}
			if f.Unit == "sec/op" {
				f.Unit, f.Value, f.Low, f.High = "ns/op", 1e9*f.Value, 1e9*f.Low, 1e9*f.High
			}
			f.Metric = b.Package + "." + b.Name + " " + f.Unit
			out.Figures = append(out.Figures, f)
		}
	}
	return out, nil
}

// mostReport bounds a bench.json that is read, bytes.
const mostReport = 64 << 20

// readBench reads a session of Go benchmarks.
func readBench(dir string) (*gobench.Report, error) {
	file, err := os.Open(filepath.Join(dir, gobench.ReportFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var r gobench.Report
	if err := json.NewDecoder(io.LimitReader(file, mostReport)).Decode(&r); err != nil {
		return nil, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	if r.Schema != gobench.Schema || r.Begun.IsZero() {
		return nil, fmt.Errorf("%s is of another version of redline (%q)", file.Name(), r.Schema)
	}
	return &r, nil
}

// FromRecorded makes a result of a directory: a run's bundle, or a session of ab,
// gate or bench. c is the commit to assume; where that is empty, it is the one
// that was recorded.
func FromRecorded(ctx context.Context, dir string, c revision.Commit) (Result, error) {
	if filepath.Base(dir) == session.ResultFile {
		dir = filepath.Dir(dir)
	}
	if _, err := os.Stat(filepath.Join(dir, session.File)); err == nil {
		r, err := session.ReadSession(dir)
		if err != nil {
			return Result{}, err
		}
		if r.Result.Verdict == verify.Invalid {
			return Result{}, fmt.Errorf("%s is invalid: %s", dir, r.Result.Why)
		}
		if r.Header.OwnEnv {
			return Result{}, fmt.Errorf("%s: side b has an environment of its own, unlike other results of its commit", dir)
		}
		if c.Hash != "" {
			r.Header.Commit = c
		}
		return FromSession(dir, r.Header, r.Blocks, r.Metrics, r.Result.Turn, AB)
	}
	if _, err := os.Stat(filepath.Join(dir, gobench.ReportFile)); err == nil {
		r, err := readBench(dir)
		if err != nil {
			return Result{}, err
		}
		if c.Hash == "" {
			c = r.Commit(ctx)
		}
		return FromBench(dir, r, c)
	}
	if c.Hash == "" {
		rec, err := record.Open(dir)
		if err != nil {
			return Result{}, err
		}
		c = built(ctx, rec.Run.Target)
	}
	return FromRun(dir, c)
}

// built is the commit from which a run's target was built, by its build info; zero if that names none.
func built(ctx context.Context, t record.Target) (c revision.Commit) {
	if t.Revision == "" {
		return c
	}
	c = revision.Describe(ctx, t.Revision)
	c.Dirty = t.Modified
	return c
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
