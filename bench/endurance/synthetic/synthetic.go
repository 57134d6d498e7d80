// Package synthetic writes the record of a long run that was never made: the data that a
// run of many hours with every source on delivers, through the real Writer, as fast
// as that accepts them. Nothing waits; the windows are the clock.
//
// The service in it is steady, with a slow spell every ten minutes. It is for
// the bench of long runs and its test: for sizes, times and memory, not for findings.
package synthetic

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Options say how long and how dense the run is.
type Options struct {
	Length time.Duration // of the measured time, after a warm-up of 10 s
	// Rate is requests per second.
	Rate int
	// Values is about how many values of series come per second.
	Values int
	// Statements is how many statements of SQL there are, each with nine series, once a
	// second.
	Statements int
	// CPUProfile is the length of one CPU profile.
	CPUProfile time.Duration
	// Progress is called once per hour of the run, unless nil.
	Progress func(done time.Duration)
}

const (
	warmup = 10 * time.Second
	window = timebase.DefaultWindow
	second = int64(time.Second / window)
)

// Write writes the bundle into dir, which must be absent or empty.
func Write(dir string, o Options) error {
	clock, err := timebase.Start()
	if err != nil {
		return err
	}
	plan, err := json.Marshal(map[string]any{
		"name": "synthetic", "load": map[string]any{"rate": o.Rate, "warmup_ns": warmup, "duration_ns": o.Length, "connections": 64},
	})
	if err != nil {
		return err
	}
	w, err := record.Create(dir, record.Run{
		Redline: "synthetic", Clock: clock, Window: window, Host: record.HostInfo(), Scenario: plan,
		Target: record.Target{How: "build", URL: "http://127.0.0.1:8080/", Module: "example.com/shop",
			MainPkg: "example.com/shop", GoVersion: "go1.26", GOMAXPROCS: 4, Probe: true},
	})
	if err != nil {
		return err
	}
	s := &service{Options: o, w: w, rng: rand.New(rand.NewPCG(1, 2)), steady: timebase.Span{From: warmup, To: warmup + o.Length}}
	w.Pin(s.steady.From)
	err = errors.Join(s.run(), s.end())
	return errors.Join(err, w.Close(record.Complete, ""))
}

// service is the service of the run.
type service struct {
	Options
	w      *record.Writer
	rng    *rand.Rand
	steady timebase.Span

	often, seldom []line // ten times a second, and once
	points        []series.Point
	counts        histogram.Counts
	requests      int64
	all           [2]histogram.Counts // latency and service time of the steady span
}

// line is a series with its usual value.
type line struct {
	series.Series
	usual  float64
	spread float64
}

func (s *service) run() error {
	s.often, s.seldom = s.catalogue()
	p := newProfiles(s.rng)
	end := timebase.Window(s.steady.To, window)
	next := s.steady.From + s.CPUProfile
	for i := range end {
		if err := s.window(i); err != nil {
			return err
		}
		at := timebase.WindowSpan(i, window).To
		if s.CPUProfile > 0 && at >= next && next <= s.steady.To {
			span := timebase.Span{From: next - s.CPUProfile, To: next}
			if err := p.write(s.w, span); err != nil {
				return err
			}
			next += s.CPUProfile
		}
		if s.Progress != nil && at%time.Hour == 0 {
			s.Progress(at)
		}
	}
	return p.snapshots(s.w, s.steady)
}

// window writes one window: points, histograms, and its slowest request.
func (s *service) window(i int64) error {
	slow := 1.0
	if i%6000 < 30 { // three seconds in ten minutes
		slow = 5
	}
	lines := s.often
	if i%second == 0 {
		lines = append(lines[:len(lines):len(lines)], s.seldom...)
	}
	s.points = s.points[:0]
	for _, l := range lines {
		v := l.usual * (1 + l.spread*(s.rng.Float64()-0.5))
		if l.Unit == "1" && l.usual >= 10 {
			v = math.Round(v)
		}
		if l.Name == series.LoadLatency || l.Name == series.LoadService {
			v *= slow
		}
		s.points = append(s.points, series.Point{Window: i, Series: l.Series, Value: v})
	}
	if err := s.w.Add(s.points...); err != nil {
		return err
	}
	span := timebase.WindowSpan(i, window)
	for k, kind := range []histogram.Kind{histogram.Latency, histogram.Service, histogram.FirstByte, histogram.Lag} {
		s.counts.Reset()
		for range s.Rate / int(second) {
			s.counts.Add(int64(slow * (2e5 + 8e5*s.rng.ExpFloat64())))
		}
		if k < len(s.all) && span.From >= s.steady.From {
			s.all[k].Merge(&s.counts)
		}
		if err := s.w.Counts("order", kind, span, &s.counts); err != nil {
			return err
		}
	}
	s.requests += int64(s.Rate) / second
	if i > 2000 {
		return nil // as package load does: it keeps the slowest of a bounded number of windows
	}
	return s.w.Slow(record.SlowRequest{Intended: span.From, Sent: span.From, FirstByte: span.From + 5e6,
		Done: span.From + 6e6, Request: "order", ID: i, Status: 200})
}

// catalogue returns the series of the run: all of the catalogue that take no label
// or a quantile, statements, and as many of the runtime's as the requested density takes.
func (s *service) catalogue() (often, seldom []line) {
	add := func(to *[]line, name, labels string) {
		info, _ := series.Known(name)
		l := line{Series: series.Series{Name: name, Labels: labels, Unit: info.Unit}, usual: 50, spread: 0.2}
		switch {
		case info.Unit == "ns":
			l.usual = 1e6
		case info.Unit == "bytes":
			l.usual = 64 << 20
		}
		*to = append(*to, l)
	}
	for _, q := range []string{"p50", "p90", "p99", "max"} {
		for _, name := range []string{series.LoadLatency, series.LoadService, series.LoadLag} {
			add(&often, name, series.Labels("q", q))
		}
	}
	add(&often, series.LoadRequests, "") // at any density
	for _, name := range series.Names() {
		if info, _ := series.Known(name); info.Labels == "" && name != series.LoadRequests {
			add(&often, name, "")
		}
	}
	for i := range s.Statements {
		for _, name := range []string{
			series.StatementCalls, series.StatementTime, series.StatementRows, series.StatementPlan, series.StatementReads,
			series.StatementHits, series.StatementDirtied, series.StatementTemp, series.StatementWAL,
		} {
			add(&seldom, name, series.Labels("queryid", strconv.Itoa(1000+i)))
		}
	}
	for i := 0; len(often)*int(second)+len(seldom) < s.Values; i++ {
		add(&often, fmt.Sprintf("/synthetic/figure%d:events", i), "")
	}
	if most := max(20, (s.Values-len(seldom))/int(second)); most < len(often) {
		often = often[:most]
	}
	for i := range often {
		s.usual(&often[i])
	}
	return often, seldom
}

// usual sets the values that others are compared with.
func (s *service) usual(l *line) {
	for name, v := range map[string]float64{
		series.LoadRequests: float64(s.Rate) / float64(second), series.LoadSent: float64(s.Rate) / float64(second), series.LoadErrors: 0,
		series.LoadQueued: 0, series.HostCPUs: 4, series.HostBusy: 1e8, series.ProcessUser: 4e7,
		series.ProcessSystem: 1e7, series.GeneratorCPU: 2e7,
	} {
		if l.Name == name {
			l.usual, l.spread = v, 0.05
		}
	}
	if l.Name == series.LoadRequests || l.Name == series.HostCPUs {
		l.spread = 0
	}
}

// end writes the files of a run's end.
func (s *service) end() error {
	err := s.w.Update(func(r *record.Run) {
		r.Steady = s.steady
		r.Sources = []record.SourceHealth{{Name: "runtime", OK: true, Samples: int64(s.Length / window)}}
	})
	statements := database.Statements{Database: "shop", Server: "17"}
	for i := range s.Statements {
		statements.Statements = append(statements.Statements, database.Statement{
			QueryID: strconv.Itoa(1000 + i), Text: fmt.Sprintf("SELECT * FROM orders%d WHERE id = $1", i),
			Calls: 50, Time: time.Millisecond, Rows: 50,
		})
	}
	requests := int64(s.Length.Seconds()) * int64(s.Rate)
	summary := record.Summary{Schema: record.SummarySchema, Load: record.LoadSummary{
		Model: "open", Connections: 64, Duration: int64(s.Length), Requests: requests, Rate: float64(s.Rate), IntendedRate: float64(s.Rate),
		Latency: s.all[0].Quantiles(), Service: s.all[1].Quantiles(), Status: map[string]int64{"200": requests},
		ErrorKinds: map[string]int64{},
	}, Generator: record.Generator{Valid: true, WhyInvalid: []string{}}}
	return errors.Join(err, disk.WriteJSON(s.w.Dir(), database.File, statements),
		disk.WriteJSON(s.w.Dir(), record.SummaryFile, summary))
}
