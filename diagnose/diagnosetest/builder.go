package diagnosetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// The synthetic run: one second of warm-up and ten of steady load.
const (
	warmup   = time.Second
	duration = 10 * time.Second
)

// Builder composes the record of a synthetic run. Its methods change and return it.
// Amounts are over the steady span of ten seconds. Make one with New, Healthy or
// Idle.
//
// A near miss is worth as much as a hit: most tests start from Healthy, which queues
// everywhere and must get no finding, and add one fault.
type Builder struct {
	module      string
	modules     []string
	connections int
	streams     int     // of the connections, that one of them carries
	rate        float64 // requests per second
	intended    float64 // of an open loop; 0 is closed
	latency     time.Duration
	late        time.Duration // of the requests of lateTo, and their part
	lateTo      float64
	series      map[series.Series]func(window int) float64
	profiles    map[string]*stacks
	shots       map[shot]*stacks
	early       time.Duration // before the steady span, of the first shots
	raw         []record.Profile
	statements  []database.Statement
	blocking    []database.Blocking
	scheme      string // of the target; empty is http
	tables      []database.Table
	operations  operation.Operations
	anatomy     *breakdown.Anatomy
	summary     *record.Summary
	ended       record.State
}

// New returns a run with load and nothing else observed: a closed loop of
// connections that each wait latency for an answer.
func New(connections int, latency time.Duration) *Builder {
	b := &Builder{
		module: "shop", connections: connections, latency: latency, ended: record.Complete,
		rate:     float64(connections) / latency.Seconds(),
		series:   map[series.Series]func(int) float64{},
		profiles: map[string]*stacks{},
		shots:    map[shot]*stacks{},
	}
	return b
}

// Module sets the target's main module; empty means that it is unknown.
func (b *Builder) Module(path string) *Builder { b.module = path; return b }

// Modules sets the modules of the target's binary other than its own.
func (b *Builder) Modules(paths ...string) *Builder { b.modules = paths; return b }

// Rate makes the load an open loop at a rate per second.
func (b *Builder) Rate(rate float64) *Builder {
	b.rate, b.intended = rate, rate
	return b
}

// Streams makes each connection carry n of the requests at once, so that there are n times fewer.
func (b *Builder) Streams(n int) *Builder { b.streams = n; return b }

// Achieved sets the rate that a closed loop reached, against Little's law.
func (b *Builder) Achieved(rate float64) *Builder { b.rate = rate; return b }

// Late makes a part of the requests, 0 to 1, take a time of their own, as seen
// from the load.
func (b *Builder) Late(latency time.Duration, part float64) *Builder {
	b.late, b.lateTo = latency, part
	return b
}

// Requests returns how many requests end in the steady span.
func (b *Builder) Requests() float64 { return b.rate * duration.Seconds() }

// Counter sets a series' amount over the steady span, spread evenly.
func (b *Builder) Counter(name, labels string, amount float64) *Builder {
	windows := float64(duration / timebase.DefaultWindow)
	return b.Series(name, labels, func(int) float64 { return amount / windows })
}

// Gauge sets a series to one value in all windows.
func (b *Builder) Gauge(name, labels string, value float64) *Builder {
	return b.Series(name, labels, func(int) float64 { return value })
}

// Series sets a series to f of the window, counted from the steady span's first;
// NaN leaves the window out.
func (b *Builder) Series(name, labels string, f func(window int) float64) *Builder {
	info, _ := series.Known(name)
	b.series[series.Series{Name: name, Labels: labels, Unit: info.Unit}] = f
	return b
}

// Without removes a series under all its labels.
func (b *Builder) Without(name string) *Builder {
	for s := range b.series {
		if s.Name == name {
			delete(b.series, s)
		}
	}
	return b
}

// CPU sets the users of a host's CPUs, in CPUs. A negative database is not local.
func (b *Builder) CPU(cpus, busy, target, generator, database float64) *Builder {
	seconds := duration.Seconds() * 1e9
	b.Gauge(series.HostCPUs, "", cpus).Counter(series.HostBusy, "", busy*seconds)
	b.Counter(series.ProcessUser, "", 0.8*target*seconds).Counter(series.ProcessSystem, "", 0.2*target*seconds)
	b.Counter(series.GeneratorCPU, "", generator*seconds).Gauge("/sched/gomaxprocs:threads", "", cpus)
	if database >= 0 {
		b.Counter(series.DBCPU, "", database*seconds)
	}
	return b
}

// Peer adds a program on this host that the service asks, with its CPUs.
func (b *Builder) Peer(program, port string, cpus float64) *Builder {
	return b.Counter(series.PeersCPU, series.Labels("program", program, "port", port), cpus*duration.Seconds()*1e9).
		Gauge(series.PeersUnseen, "", 0)
}

// Children sets the usage of short-lived processes that the service starts, in CPUs.
func (b *Builder) Children(cpus float64) *Builder {
	return b.Counter(series.ProcessReaped, "", cpus*duration.Seconds()*1e9)
}

// Itself sets the CPUs that the service uses itself, as the probe counts them: the rest of the target's are those of processes that
// it has started and that go on.
func (b *Builder) Itself(cpus float64) *Builder {
	return b.Counter("/process/cpu/user:cpu-seconds", "", cpus*duration.Seconds()*1e9).
		Counter("/process/cpu/system:cpu-seconds", "", 0)
}

// Aborted makes the run end before its load did, as one that still runs looks like.
func (b *Builder) Aborted() *Builder { b.ended = record.Aborted; return b }

// Summary sets the measured half of summary.json.
func (b *Builder) Summary(s record.Summary) *Builder { b.summary = &s; return b }

// Statement adds a statement with its mean time, rows and blocks per call; plan
// is EXPLAIN's JSON or empty.
func (b *Builder) Statement(text string, calls int64, mean time.Duration, rows, blocks float64, plan string) *Builder {
	s := database.Statement{
		QueryID: fmt.Sprint(1000 + len(b.statements)), Text: text, Calls: calls,
		Time: time.Duration(calls) * mean, Rows: int64(rows * float64(calls)),
	}
	if plan != "" {
		s.Plan = json.RawMessage(plan)
	}
	b.statements = append(b.statements, s)
	labels := series.Labels("queryid", s.QueryID)
	b.Counter(series.StatementCalls, labels, float64(calls)).Counter(series.StatementTime, labels, float64(s.Time))
	return b.Counter(series.StatementHits, labels, blocks*float64(calls))
}

// Compiled says in which part of the last statement's time, 0 to 1, the server compiled its plan.
func (b *Builder) Compiled(part float64) *Builder {
	s := &b.statements[len(b.statements)-1]
	s.Compiling = time.Duration(part * float64(s.Time))
	return b
}

// Tables adds the database's catalogue entries for the tables of plans, and the
// results of hypopg for the last statement.
func (b *Builder) Tables(tables []database.Table, checks ...database.IndexCheck) *Builder {
	b.tables = append(b.tables, tables...)
	if last := len(b.statements) - 1; last >= 0 {
		b.statements[last].Checks = append(b.statements[last].Checks, checks...)
	}
	return b
}

// Blocks adds that sessions running victim wait for locks of an active one that runs holder, as often as seen.
func (b *Builder) Blocks(holder, victim string, seen int64) *Builder {
	link := func(text, wait string) database.BlockingLink {
		return database.BlockingLink{Text: text, State: "active", Wait: wait}
	}
	b.blocking = append(b.blocking, database.Blocking{Seen: seen,
		Links: []database.BlockingLink{link(holder, ""), link(victim, "Lock:relation")}})
	return b
}

// Scheme makes the load that of another protocol.
func (b *Builder) Scheme(scheme string) *Builder { b.scheme = scheme; return b }

// NoStatements forgets all statements and their series.
func (b *Builder) NoStatements() *Builder {
	b.statements = nil
	for _, name := range []string{series.StatementCalls, series.StatementTime, series.StatementHits,
		series.StatementReads, series.StatementRows} {
		b.Without(name)
	}
	return b
}

// Open writes the bundle and opens it.
func (b *Builder) Open(t testing.TB) (*record.Record, *breakdown.Anatomy) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := b.write(dir); err != nil {
		t.Fatal(err)
	}
	rec, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rec, b.finish()
}

func (b *Builder) write(dir string) error {
	clock, err := timebase.Start()
	if err != nil {
		return err
	}
	steady := timebase.Span{From: warmup, To: warmup + duration}
	w, err := record.Create(dir, record.Run{
		Schema: record.RunSchema, ID: "run", Clock: clock, Window: timebase.DefaultWindow, Steady: steady,
		Scenario: json.RawMessage(fmt.Sprintf(`{"load":{"rate":%g,"connections":%d,"streams":%d}}`, b.intended,
			b.connections/max(1, b.streams), b.streams)),
		Target: record.Target{How: "build", URL: cmp.Or(b.scheme, "http") + "://127.0.0.1:8080/", Module: b.module, Modules: b.modules},
	})
	if err != nil {
		return err
	}
	if err := b.load(w, steady); err != nil {
		return err
	}
	if err := w.Add(b.points(steady)...); err != nil {
		return err
	}
	for typ, s := range b.profiles {
		data, err := s.encode()
		if err != nil {
			return err
		}
		if err := w.Profile(record.Profile{Type: typ, Span: steady, Data: data}); err != nil {
			return err
		}
	}
	if err := b.writeShots(w, steady); err != nil {
		return err
	}
	for _, p := range b.raw {
		p.Span = steady
		if err := w.Profile(p); err != nil {
			return err
		}
	}
	if err := w.Close(b.ended, ""); err != nil {
		return err
	}
	if len(b.statements) > 0 {
		if err := disk.WriteJSON(dir, database.File,
			database.Statements{Database: "shop", Statements: b.statements, Tables: b.tables, Blocking: b.blocking}); err != nil {
			return err
		}
	}
	if len(b.operations.Operations) > 0 {
		if err := disk.WriteJSON(dir, operation.File, b.operations); err != nil {
			return err
		}
	}
	if b.summary != nil {
		return disk.WriteJSON(dir, record.SummaryFile, b.summary)
	}
	return nil
}

// load writes histograms with the latency as the mean and three times that in the
// tail, as with queues.
func (b *Builder) load(w *record.Writer, steady timebase.Span) error {
	for _, kind := range []histogram.Kind{histogram.Latency, histogram.Service} {
		h := histogram.New()
		n := int64(b.Requests())
		for _, bucket := range []struct{ factor, part float64 }{{0.9, 0.85}, {1.3, 0.12}, {2.6, 0.03}} {
			value := int64(bucket.factor * float64(b.latency))
			if err := h.RecordValues(max(1, value), int64((1-b.lateTo)*bucket.part*float64(n))); err != nil {
				return err
			}
		}
		if err := h.RecordValues(max(1, int64(b.late)), int64(b.lateTo*float64(n))); err != nil {
			return err
		}
		if err := w.Histogram("", kind, steady, h); err != nil {
			return err
		}
	}
	requests := series.Series{Name: series.LoadRequests, Unit: "1"}
	if b.series[requests] == nil {
		b.Counter(series.LoadRequests, "", b.Requests())
	}
	return nil
}

func (b *Builder) points(steady timebase.Span) []series.Point {
	var points []series.Point
	first := timebase.Window(steady.From, timebase.DefaultWindow)
	for s, f := range b.series {
		for i := range int(duration / timebase.DefaultWindow) {
			if v := f(i); !math.IsNaN(v) {
				points = append(points, series.Point{Window: first + int64(i), Series: s, Value: v})
			}
		}
	}
	slices.SortFunc(points, func(a, b series.Point) int { return int(a.Window - b.Window) })
	return points
}
