package machine

import (
	"context"
	"math/rand/v2"
	"time"
)

// Dimensions of a figure.
const (
	Compute   = "compute"
	HTTPPath  = "HTTP path"
	Memory    = "memory and GC"
	Scheduler = "scheduler"
	Kernel    = "kernel"
	Disk      = "disk"
	Database  = "database"
)

const bytesPerSecond = "B/s"

// figure is one thing that is measured.
type figure struct {
	name      string
	dimension string
	unit      string // "ns" or "1/s", as notation.Quantity takes it, or bytesPerSecond
	higher    bool   // more is better
	// measure returns one value, from about the given time of work.
	measure func(ctx context.Context, in *input, d time.Duration) (float64, error)
	// share of a round's time, relative to others; 0 means 1.
	share float64
	// needs says which input a figure takes; nil is none.
	needs func(Options) bool
}

// input is what figures of one round share.
type input struct {
	Options
	rng *rand.Rand
}

// figures in the order of the report. Names are part of stored baselines: a figure that
// measures something else gets another name.
var figures = []figure{
	{name: "fibonacci(32)", dimension: Compute, unit: "ns", measure: fibonacciOne},
	{name: "all CPUs, fibonacci(20)", dimension: Compute, unit: "1/s", higher: true, measure: fibonacciAll, share: 5},
	{name: "sha256", dimension: Compute, unit: bytesPerSecond, higher: true, measure: hashing},
	{name: "json, both ways", dimension: Compute, unit: bytesPerSecond, higher: true, measure: encoding},
	{name: "http, one connection", dimension: HTTPPath, unit: "ns", measure: httpRoundTrip, share: 2},
	{name: "http, 8 connections", dimension: HTTPPath, unit: "1/s", higher: true, measure: httpThroughput, share: 4},
	{name: "http, new connections", dimension: HTTPPath, unit: "ns", measure: httpFresh, share: 2},
	{name: "copy of 64 MiB", dimension: Memory, unit: bytesPerSecond, higher: true, measure: copying},
	{name: "load from 64 MiB", dimension: Memory, unit: "ns", measure: chasing},
	{name: "allocation of 64 B", dimension: Memory, unit: "ns", measure: allocating},
	{name: "allocation of 10 MB", dimension: Memory, unit: "ns", measure: allocatingLarge},
	{name: "GC cycle of 32 MiB", dimension: Memory, unit: "ns", measure: collecting, share: 2},
	{name: "channel, there and back", dimension: Scheduler, unit: "ns", measure: handingOver},
	{name: "goroutine of 10,000", dimension: Scheduler, unit: "ns", measure: spawning},
	{name: "timer of 1 ms, late by", dimension: Scheduler, unit: "ns", measure: waking},
	{name: "system call", dimension: Kernel, unit: "ns", measure: calling},
	{name: "pipe, there and back", dimension: Kernel, unit: "ns", measure: piping},
	{name: "4 KiB to disk", dimension: Disk, unit: "ns", measure: syncing, share: 2,
		needs: func(o Options) bool { return o.Disk != "" }},
	{name: "statement", dimension: Database, unit: "ns", measure: querying, share: 2,
		needs: func(o Options) bool { return o.Postgres != "" }},
}

// repeated calls work, which does n pieces, until the time is over, and returns the
// nanoseconds of one piece: of the faster half of the calls, because interruptions only make
// one longer.
func repeated(d time.Duration, n int, work func()) float64 {
	var times []float64
	for begun := time.Now(); time.Since(begun) < d || len(times) < 2; {
		before := time.Now()
		work()
		times = append(times, float64(time.Since(before))/float64(n))
	}
	return lowerMean(times)
}
