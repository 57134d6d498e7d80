//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/stat"
)

const (
	manyConnections = 15000
	fewConnections  = 64
	// mostPerConnection is the mark, in bytes of resident memory.
	mostPerConnection = 3 << 10
	// leastEstablished is the share of the connections that must have been
	// open on average for their memory to mean anything.
	leastEstablished = 0.98
)

// reading is a process's resident memory at one moment of its life.
type reading struct {
	At  time.Duration `json:"at_ns"` // since its start
	RSS int64         `json:"rss_bytes"`
}

// occupied is one run whose memory was watched.
type occupied struct {
	Connections int             `json:"connections"`
	Tally       generator.Tally `json:"tally"`
	Readings    []reading       `json:"readings"`
}

// memory measures the memory that an idle keep-alive connection costs in the generator,
// and its growth over time.
func (b *bench) memory(ctx context.Context) (*section, error) {
	n, err := b.startNginx()
	if err != nil {
		return nil, err
	}
	defer n.End()
	many, length := manyConnections, 30*time.Second
	if b.short {
		many, length = 1000, 3*time.Second
	}
	s := &section{
		Title: "Memory",
		About: fmt.Sprintf("Resident memory (VmRSS) over the measured part of runs at %s requests/s in all, spread over "+
			"connections that are all open from the start; nginx is the server.", thousands(idleRate)),
		Columns: []string{"connections", "established", "errors", "resident, median", "resident, highest", "growth per minute"},
		Notes: []string{"growth per minute is the slope of a line through the readings, so a heap before its first " +
			"collection also shows as growth"},
	}
	var runs []occupied
	for _, c := range []struct {
		connections int
		length      time.Duration
	}{{fewConnections, 2 * length}, {many, length}} {
		run, err := b.occupy(ctx, generator.Shape{Protocol: generator.HTTP1, Address: n.Plain, Connections: c.connections,
			Streams: 1, Duration: c.length})
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
		s.Rows = append(s.Rows, []string{
			thousands(float64(c.connections)), thousands(run.Tally.Established), fmt.Sprint(run.Tally.Errors),
			kibibytes(run.median()), kibibytes(run.highest()), kibibytes(run.slope() * 60),
		})
	}
	each := (runs[1].median() - runs[0].median()) / float64(many-fewConnections)
	m := mark{
		What: fmt.Sprintf("memory of each of %s idle keep-alive connections", thousands(float64(many))),
		Want: "at most " + kibibytes(mostPerConnection), Got: kibibytes(each), Verdict: verdict(each <= mostPerConnection),
	}
	if open := runs[1].Tally.Established; open < leastEstablished*float64(many) {
		m.Got, m.Verdict = fmt.Sprintf("only %s were open on average", thousands(open)), notMeasured
	}
	s.Marks = []mark{m}
	s.Raw, err = json.Marshal(runs)
	return s, err
}

// idleRate keeps connections alive without keeping them busy, in 1/s.
const idleRate = 750

// occupy runs redline with mostly idle connections and watches its memory.
func (b *bench) occupy(ctx context.Context, s generator.Shape) (occupied, error) {
	idle := *b.redline
	idle.Arguments = func(s generator.Shape, dir string) ([]string, bool) {
		// The last of a flag counts. The warm-up is when connections open.
		return append(generator.RedlineArguments(s, dir), "--warmup", (s.Duration / 3).String(), "--rate-per-connection",
			fmt.Sprintf("%g/s", idleRate/float64(s.Connections))), true
	}
	o := occupied{Connections: s.Connections}
	done := make(chan struct{})
	stop := make(chan struct{})
	reported, _, err := b.run(ctx, &idle, s, func(pid int) {
		go func() { defer close(done); o.watch(pid, stop) }()
	})
	close(stop)
	if err != nil {
		return o, err
	}
	<-done
	o.Tally = reported
	// The warm-up and the closing of the record do not belong to the load.
	o.Readings = between(o.Readings, s.Duration/3+time.Second, s.Duration/3+s.Duration)
	if len(o.Readings) < 2 {
		return o, fmt.Errorf("memory of redline at %d connections: %d readings are too few", s.Connections, len(o.Readings))
	}
	return o, nil
}

// watch reads a process's memory ten times a second until stop or its end.
func (o *occupied) watch(pid int, stop <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); ; {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		rss, _, err := benchmark.Resident(pid)
		if err != nil {
			return
		}
		o.Readings = append(o.Readings, reading{At: time.Since(begin), RSS: rss})
	}
}

func between(all []reading, from, to time.Duration) []reading {
	var chosen []reading
	for _, r := range all {
		if from <= r.At && r.At <= to {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

func (o occupied) values() []float64 {
	var values []float64
	for _, r := range o.Readings {
		values = append(values, float64(r.RSS))
	}
	return values
}

func (o occupied) median() float64  { return stat.Median(o.values()) }
func (o occupied) highest() float64 { return stat.Quantile(o.values(), 1) }

// slope is that of the least-squares line, in bytes per second.
func (o occupied) slope() float64 {
	var meanAt, meanRSS float64
	for _, r := range o.Readings {
		meanAt += r.At.Seconds() / float64(len(o.Readings))
		meanRSS += float64(r.RSS) / float64(len(o.Readings))
	}
	var across, along float64
	for _, r := range o.Readings {
		across += (r.At.Seconds() - meanAt) * (float64(r.RSS) - meanRSS)
		along += (r.At.Seconds() - meanAt) * (r.At.Seconds() - meanAt)
	}
	return across / along
}

func kibibytes(bytes float64) string {
	if bytes >= 10<<20 || bytes <= -10<<20 {
		return fmt.Sprintf("%.1f MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.2f KiB", bytes/(1<<10))
}
