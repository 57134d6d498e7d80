//go:build linux

package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/compare"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// windowed is how long comparing two long runs took.
type windowed struct {
	Windows int     `json:"windows"` // of each run
	Seconds float64 `json:"seconds"` // of the comparison
	Open    float64 `json:"open"`    // of reading both runs before it
}

// mostWindows is what an endurance run of some hours has.
const mostWindows = 100_000

// compareWindows compares two drawn runs, as long as runs get.
func compareWindows(kept *results, say func(string, ...any)) error {
	say("comparing two runs of %d windows", mostWindows)
	scratch, err := os.MkdirTemp("", "redline-windows-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	dirs := []string{filepath.Join(scratch, "a"), filepath.Join(scratch, "b")}
	for i, dir := range dirs {
		if err := drawRun(dir, uint64(i)); err != nil {
			return err
		}
	}
	began := time.Now()
	a, err := record.Open(dirs[0])
	if err != nil {
		return err
	}
	b, err := record.Open(dirs[1])
	if err != nil {
		return err
	}
	w := windowed{Windows: mostWindows, Open: time.Since(began).Seconds()}
	began = time.Now()
	compared := compare.Runs(a, b)
	w.Seconds = time.Since(began).Seconds()
	for _, m := range compared.Metrics {
		if !m.Known {
			return errors.New("the drawn runs lack " + m.Name + ": " + m.Why)
		}
	}
	kept.Windows = &w
	return nil
}

// drawRun writes a bundle whose series are drawn, neighbouring windows alike.
func drawRun(dir string, seed uint64) error {
	clock, err := timebase.Start()
	if err != nil {
		return err
	}
	steady := timebase.Span{To: mostWindows * timebase.DefaultWindow}
	w, err := record.Create(dir, record.Run{Clock: clock, Window: timebase.DefaultWindow, Steady: steady,
		Host: record.HostInfo(), Scenario: []byte("{}")})
	if err != nil {
		return err
	}
	rng, drift := rand.New(rand.NewPCG(seed, 5)), 0.0
	for i := range int64(mostWindows) {
		drift = 0.7*drift + 0.05*rng.NormFloat64()
		points := make([]series.Point, 0, len(drawn))
		for _, s := range drawn {
			points = append(points, series.Point{Window: i, Series: s.Series, Value: s.level * (1 + drift/10 + 0.02*rng.Float64())})
		}
		if err := w.Add(points...); err != nil {
			return errors.Join(err, w.Close(record.Aborted, "drawing"))
		}
	}
	return w.Close(record.Complete, "")
}

// drawn are the series that are compared, with a window's value.
var drawn = []struct {
	series.Series
	level float64
}{
	{series.Series{Name: series.LoadRequests, Unit: "1"}, 500},
	{series.Series{Name: series.ProcessUser, Unit: "ns"}, 6e7},
	{series.Series{Name: series.ProcessSystem, Unit: "ns"}, 3e7},
	{series.Series{Name: series.LoadLatency, Labels: series.Labels("q", "p50"), Unit: "ns"}, 1e7},
	{series.Series{Name: series.LoadLatency, Labels: series.Labels("q", "p99"), Unit: "ns"}, 4e7},
	{series.Series{Name: "/gc/heap/allocs:objects", Unit: "1"}, 2e5},
	{series.Series{Name: "/gc/heap/allocs:bytes", Unit: "bytes"}, 1e7},
	{series.Series{Name: series.ProcessRSS, Unit: "bytes"}, 1e8},
}
