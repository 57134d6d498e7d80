package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
)

// Comparison is the difference of two recorded runs. It decides
// nothing: every change of the machine between them is in each figure.
type Comparison struct {
	Schema  string    `json:"schema"` // redline.compare/1
	Runs    [2]string `json:"runs"`
	Metrics []Metric  `json:"metrics"`
	// Parts are the places at which the mean request's time differs most, Tail
	// those at which that of the slowest hundredth does, and Functions those at
	// which the CPU per request does.
	Parts     []verify.Change `json:"parts"`
	Tail      []verify.Change `json:"tail"`
	Functions []verify.Change `json:"functions"`
	Warnings  []string        `json:"warnings"`
}

// Metric is one metric of both runs. The change is relative, of the
// second run against the first, + is worse; if Higher is better, it is that of the inverse.
type Metric struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Higher bool    `json:"higher_is_better"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	// Estimate with Low and High come from blocks of windows long enough for one
	// not to be correlated with the next; Known is false where there are too few.
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Known    bool    `json:"known"`
	Why      string  `json:"why"`
	// Block is the length of a block in windows and Lag1 the autocorrelation that
	// is left between them, of the run that has more.
	Block int     `json:"block_windows"`
	Lag1  float64 `json:"lag1"`
}

// Schema names its JSON.
const Schema = "redline.compare/1"

// Caveat names the limits of such a comparison; it is printed with each.
const Caveat = "These runs were made one after another. Every other change in between, on the machine, in the " +
	"database or in caches, is part of the differences: on a 2-core machine such comparisons reported identical binaries as " +
	"different in 10 of 21 cases. redline ab decides."

const (
	// firstBlock and mostBlocks: blocks of a second smooth a window's share of
	// a single collection; beyond 200 of them the interval does not get truer.
	firstBlock, mostBlocks, leastBlocks = 10, 200, 8
	level                               = 0.95
)

// Runs sets two recorded runs side by side over their steady spans.
func Runs(a, b *record.Record) Comparison {
	out := Comparison{Schema: Schema, Runs: [2]string{a.Dir, b.Dir}, Metrics: []Metric{}, Warnings: []string{}}
	out.Warnings = append(out.Warnings, unlike(a.Run, b.Run)...)
	for _, m := range []struct {
		verify.Metric
		of func(*record.Record) figure
	}{
		{verify.Metric{Name: "cpu_per_request", Unit: "ns"}, func(r *record.Record) figure { return per(cpuWindows(r), served(r)) }},
		{verify.Metric{Name: "throughput", Unit: "1/s", Higher: true}, func(r *record.Record) figure { return per(served(r), seconds(r)) }},
		{verify.Metric{Name: "p50", Unit: "ns"}, quantileWindows("p50")},
		{verify.Metric{Name: "p99", Unit: "ns"}, quantileWindows("p99")},
		{verify.Metric{Name: "allocs_per_request", Unit: "1"},
			func(r *record.Record) figure { return per(metricSeries(r, "/gc/heap/allocs:objects"), served(r)) }},
		{verify.Metric{Name: "bytes_per_request", Unit: "bytes"},
			func(r *record.Record) figure { return per(metricSeries(r, "/gc/heap/allocs:bytes"), served(r)) }},
		{verify.Metric{Name: "rss", Unit: "bytes"}, func(r *record.Record) figure { return of(metricSeries(r, series.ProcessRSS)) }},
	} {
		reported := windows(m.Metric, m.of(a), m.of(b))
		if m.Name == "throughput" && atARate(a.Run) && atARate(b.Run) {
			reported.Known, reported.Why = false, "the load gives it"
		}
		out.Metrics = append(out.Metrics, reported)
	}
	var costs [2]map[string]float64
	var each [2]float64
	for side, r := range []*record.Record{a, b} {
		var err error
		if costs[side], each[side], err = functions(r); err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the CPU profile of %s cannot be read: %v", r.Dir, err))
		}
	}
	meanA, tailA := parts(a)
	meanB, tailB := parts(b)
	out.Parts, out.Tail = most(changes(meanA, meanB)), most(changes(tailA, tailB))
	out.Functions = most(sampled(changes(costs[0], costs[1]), each))
	return out
}

func most(list []verify.Change) []verify.Change { return list[:min(len(list), mostChanges)] }

// windows compares the windows of a metric in both runs.
func windows(m verify.Metric, a, b figure) Metric {
	out := Metric{Name: m.Name, Unit: m.Unit, Higher: m.Higher}
	if a.windows() == 0 || b.windows() == 0 {
		out.Why = "it was not recorded in both runs"
		return out
	}
	wholeA, wholeB := a.over(0, a.windows(), stat.Median), b.over(0, b.windows(), stat.Median)
	if !finite(wholeA) || !finite(wholeB) {
		out.Why = "no request succeeded in one of the runs"
		return out
	}
	if out.A, out.B = wholeA, wholeB; !(wholeA > 0 && wholeB > 0) {
		out.Why = "it was zero in one of the runs"
		return out
	}
	// For p50 a block takes the median of its windows: a few windows of fast requests would move a mean. Counts and costs
	// add up, so they take the mean.
	sum := mean
	if m.Name == "p50" {
		sum = stat.Median
	}
	block := firstBlock
	for max(a.windows(), b.windows())/block > mostBlocks {
		block *= 2
	}
	for ; ; block *= 2 {
		la, lb := logs(a.blocks(block, sum)), logs(b.blocks(block, sum))
		if min(len(la), len(lb)) < leastBlocks {
			out.Why = fmt.Sprintf("the runs are too short: uncorrelated blocks, with a request in each, need at least %d windows "+
				"each, and there are fewer than %d blocks", block, leastBlocks)
			return out
		}
		if slices.ContainsFunc(slices.Concat(la, lb), func(v float64) bool { return !finite(v) }) {
			continue // nothing ended in a block: it is too short for this load
		}
		ra, rb := stat.Lag1(la), stat.Lag1(lb)
		out.Block, out.Lag1 = block, larger(ra, rb)
		if math.Abs(out.Lag1) <= 2/math.Sqrt(float64(min(len(la), len(lb)))) {
			estimate, low, high, ok := stat.ShiftInterval(la, lb, level)
			if m.Higher {
				estimate, low, high = -estimate, -high, -low
			}
			out.Estimate, out.Low, out.High, out.Known = math.Expm1(estimate), math.Expm1(low), math.Expm1(high), ok
			out.A, out.B = math.Exp(stat.Median(la)), math.Exp(stat.Median(lb)) // the values that the change is of
			return out
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

// larger returns the coefficient further from zero; one that is not known, of a
// constant series, is none.
func larger(a, b float64) float64 {
	if math.IsNaN(a) {
		a = 0
	}
	if math.IsNaN(b) {
		b = 0
	}
	if math.Abs(a) > math.Abs(b) {
		return a
	}
	return b
}
