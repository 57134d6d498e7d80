package reporttest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Options says what a synthetic bundle holds. The zero value is a run of
// 30 s with everything.
type Options struct {
	Windows int    // zero means 300
	Killed  bool   // no Close, no summary, no findings: the run was killed
	Bare    bool   // only load
	Evil    string // goes into every string that comes from elsewhere
	Extra   int    // further series
	Stacks  int    // further distinct stacks in each profile; zero is Stacks alone
	Parts   int    // CPU profiles one after the other; zero means two
	Twice   bool   // twice as many requests in each window
	Timed   bool   // two traces, the earlier one of faster requests, and goroutines at both ends
}

// Bundle writes the synthetic record of a service that waits for database
// connections, with a bad second in the middle, and opens it.
func Bundle(t testing.TB, o Options) *record.Record {
	t.Helper()
	if o.Windows == 0 {
		o.Windows = 300
	}
	dir := filepath.Join(t.TempDir(), "20261121-042000-gateway")
	width := timebase.DefaultWindow
	end := time.Duration(o.Windows) * width
	steady := timebase.Span{From: end / 6 / width * width, To: end - width}
	w, err := record.Create(dir, record.Run{
		Redline: "0.1.0", Window: width, Steady: steady, Scenario: json.RawMessage(`{"name":"gateway","load":{"connections":64}}`),
		Clock: timebase.Clock{EpochWall: time.Date(2026, 11, 21, 4, 20, 0, 0, time.UTC)},
		Host:  record.Host{OS: "linux", Arch: "amd64", Kernel: "6.18.0", CPUModel: "EPYC" + o.Evil, CPUs: 2, Memory: 24 << 30},
		Target: record.Target{How: "build", URL: "http://127.0.0.1:8080/api/v1/order" + o.Evil, Command: []string{"./gateway",
			o.Evil}, GoVersion: "go1.26.8", Module: "example.org/gateway", GOMAXPROCS: 2, Probe: true, Revision: "0123456789abcdef"},
	})
	must(t, err)
	writeSeries(t, w, o)
	writeLatency(t, w, o)
	if !o.Killed {
		if !o.Bare {
			writeFiles(t, w, o, steady)
		}
		s := Sick()
		if o.Evil != "" {
			poison(s, o.Evil)
		}
		s.Run = dir
		must(t, disk.WriteJSON(dir, record.SummaryFile, s))
		must(t, w.Close(record.Complete, ""))
	} else {
		// A killed run leaves what its journal and logs hold; closing as running
		// stands in for the kill and keeps the test quick.
		must(t, w.Close(record.Aborted, "killed"))
	}
	rec, err := record.Open(dir)
	must(t, err)
	return rec
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func poison(s *record.Summary, evil string) {
	f := &s.Findings[0]
	f.Title, f.Remedy, f.Cause, f.ShareOf = f.Title+evil, f.Remedy+evil, f.Cause+evil, f.ShareOf+evil
	f.Where = findings.Where{Function: evil, File: evil, Line: 1, SQL: evil, Detail: evil}
	f.Evidence[0].Text, f.Evidence[0].Source, f.Rejected[0].Why = evil, evil, evil
	s.Warnings, s.Sources[0].Why, s.NotJudged[0].Why = []string{evil}, evil, evil
	s.Thresholds[0].Expr, s.Load.ErrorKinds[evil], s.Load.Failures[0].Text = evil, 1, evil
}

// slump is the share of a bad second in the middle of the run, 0 to 1.
func slump(i, n int) float64 {
	d := float64(i-n*6/10) / 8
	return math.Exp(-d * d)
}

func writeSeries(t testing.TB, w *record.Writer, o Options) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func(v, part float64) float64 { return math.Max(0, v*(1+part*(rng.Float64()-0.5))) }
	ms := float64(time.Millisecond)
	live := 20.0
	for i := range o.Windows {
		bad, ramp := slump(i, o.Windows), math.Min(1, float64(i+5)/40)
		var points []series.Point
		add := func(unit, name, labels string, v float64) {
			points = append(points, series.Point{Window: int64(i), Series: series.Series{Name: name, Labels: labels, Unit: unit}, Value: v})
		}
		requests := o.times() * math.Round(noise(207*ramp*(1-0.7*bad), 0.1))
		addLoad(add, noise, requests, bad)
		if o.Bare {
			must(t, w.Add(points...))
			continue
		}
		add("ns", series.ProcessUser, "", noise(70*ms*ramp*(1-0.5*bad), 0.1))
		add("ns", series.ProcessSystem, "", noise(22*ms*ramp, 0.2))
		add("ns", series.ProcessRunDelay, "", noise(8*ms, 0.5))
		add("ns", series.DBCPU, "", noise(33*ms, 0.3))
		add("ns", series.HostBusy, "", noise(150*ms, 0.05))
		add("ns", series.HostSteal, "", 0)
		add("1", series.HostCPUs, "", 2)
		add("bytes", series.ProcessRSS, "", 48e6+float64(i)*2e4)
		add("1", "/sched/goroutines:goroutines", "", noise(140+300*bad, 0.05))
		if live += 0.9; live > 46 {
			live = 20
			add("1", "/gc/cycles/total:gc-cycles", "", 1)
			add("ns", "/sched/pauses/total/gc:seconds", "q=max", noise(0.2*ms, 0.8))
		} else {
			add("1", "/gc/cycles/total:gc-cycles", "", 0)
		}
		add("bytes", "/gc/heap/live:bytes", "", 20e6)
		add("bytes", "/memory/classes/heap/objects:bytes", "", live*1e6)
		add("bytes", "/gc/heap/goal:bytes", "", 46e6)
		add("bytes", "/gc/heap/allocs:bytes", "", noise(9e6*ramp, 0.1))
		add("ns", "/sched/latencies:seconds", "q=p50", noise(0.006*ms, 0.3))
		add("ns", "/sched/latencies:seconds", "q=p99", noise(1.4*ms*(1+3*bad), 0.4))
		for k, v := range []float64{30, 12, 6, 3, 2, 1, 0.4} {
			add("ns", series.StatementTime, fmt.Sprintf("queryid=%d", 100+k), noise(v*ms*ramp, 0.3))
			add("1", series.StatementCalls, fmt.Sprintf("queryid=%d", 100+k), float64(10*(7-k)))
		}
		add("1", series.DBSessions, "", math.Round(noise(4, 1)))
		add("1", series.DBCommits, "", requests)
		add("1", series.DBBackends, "state=active", math.Round(noise(6, 0.5)))
		add("1", series.DBBackends, "state=idle", math.Round(noise(3, 0.9)))
		if bad > 0.2 {
			add("1", series.DBWaits, "event=Lock:transactionid"+o.Evil, math.Round(5*bad))
		}
		add("1", series.PoolInUse, "", 10)
		add("1", series.PoolMax, "", 10)
		for k := range o.Extra {
			add("1", fmt.Sprintf("/godebug/non-default-behavior/setting%d:events", k), "", noise(1000, 1))
		}
		must(t, w.Add(points...))
	}
}

// times is how often the requests of the zero value come.
func (o Options) times() float64 {
	if o.Twice {
		return 2
	}
	return 1
}

// addLoad adds a window's series of the load, with bad the part of a slump that it is in.
func addLoad(add func(unit, name, labels string, v float64), noise func(v, part float64) float64, requests, bad float64) {
	ms := float64(time.Millisecond)
	add("1", series.LoadRequests, "", requests)
	if bad > 0.5 {
		add("1", series.LoadErrors, "kind=timeout", 3)
	}
	add("1", series.LoadSent, "", requests)
	add("1", series.LoadInFlight, "", 64)
	add("1", series.LoadConnections, "", 64)
	for q, v := range map[string]float64{"p50": 28, "p90": 49, "p99": 91, "max": 160} {
		add("ns", series.LoadLatency, "q="+q, noise(v*ms*(1+5*bad), 0.2))
		add("ns", series.LoadLag, "q="+q, noise(v*ms/400, 0.6))
	}
	add("ns", series.GeneratorCPU, "", noise(14*ms, 0.2))
}

func writeLatency(t testing.TB, w *record.Writer, o Options) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := 0; i < o.Windows; i += 10 { // the log's intervals are of a second
		if o.Bare && i > 100 {
			break
		}
		span := timebase.WindowSpan(int64(i/10), 10*timebase.DefaultWindow)
		bad := slump(i, o.Windows)
		latency, service := histogram.New(), histogram.New() // of the request "query"
		order, failed := histogram.New(), histogram.New()    // of "order": every fourth, and its failures
		for n := range 800 {
			v := 26e6 * math.Exp(0.35*rng.NormFloat64()) * (1 + 5*bad*rng.Float64())
			if rng.IntN(200) == 0 {
				v *= 4
			}
			must(t, service.RecordValue(int64(v)))
			into := latency
			if n%4 == 0 {
				into = order
			}
			must(t, into.RecordValue(int64(v*(1+bad))))
		}
		for range int(20 * bad) {
			must(t, failed.RecordValue(10e9))
		}
		must(t, w.Histogram("query", histogram.Latency, span, latency))
		must(t, w.Histogram("order", histogram.Latency, span, order))
		must(t, w.Histogram("query", histogram.Service, span, service))
		if failed.TotalCount() > 0 {
			must(t, w.Histogram("order", histogram.ErrorLatency, span, failed))
		}
	}
}

func writeFiles(t testing.TB, w *record.Writer, o Options, steady timebase.Span) {
	dir := w.Dir()
	trace := timebase.Span{From: steady.From + steady.Len()/2, To: steady.From + steady.Len()/2 + 2*time.Second}
	must(t, w.Trace(record.Trace{Span: trace, Data: []byte("go 1.26 trace\x00\x00\x00")}))
	for i := range 30 {
		due := steady.From + time.Duration(i)*steady.Len()/31
		took := time.Duration(900-20*i) * time.Millisecond
		must(t, w.Slow(record.SlowRequest{Intended: due, Sent: due + took/10, FirstByte: due + took*9/10, Done: due + took,
			Request: "query" + o.Evil, Connection: i, ID: int64(i), Status: 200}))
	}
	a := anatomy(o, trace)
	if o.Timed {
		early := timebase.Span{From: steady.From + time.Second, To: steady.From + 2*time.Second}
		must(t, w.Trace(record.Trace{Span: early, Data: []byte("go 1.26 trace\x00\x00\x00")}))
		a.During = []breakdown.During{during(&a, early, 1000, 0.1), during(&a, trace, 3102, 4002.0/3102)}
	}
	must(t, disk.WriteJSON(dir, breakdown.File, a))
	writeProfiles(t, w, o, steady)
	st := database.Statements{Database: "orders", Server: "PostgreSQL 17.2"}
	for k, text := range []string{"SELECT * FROM orders WHERE uid = $1 ORDER BY created_at DESC LIMIT $2",
		"SELECT * FROM order_items WHERE order_id = $1", "INSERT INTO events (order_id, kind) VALUES ($1, $2)",
		"UPDATE balance SET cents = cents + $1 WHERE uid = $2", "BEGIN", "COMMIT" + o.Evil} {
		st.Statements = append(st.Statements, database.Statement{QueryID: fmt.Sprint(100 + k), Text: text,
			Calls: 62000 / int64(k+1), Time: time.Duration(30-5*k) * time.Second / 10, Rows: 200000})
	}
	st.Statements[0].Plan = json.RawMessage(`[{"Plan":{"Node Type":"Limit","Plans":[{"Node Type":"Seq Scan","Relation Name":"orders"}]}}]`)
	st.Statements[4].PlanError = "a utility statement has no plan"
	must(t, disk.WriteJSON(dir, database.File, st))
}

// during is a trace whose requests take so many times what all take.
func during(a *breakdown.Anatomy, span timebase.Span, requests int, times float64) breakdown.During {
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * times) }
	d := breakdown.During{Span: span, Requests: requests, MeanNS: scaled(a.MeanNS), MedianNS: scaled(a.MedianNS), TailNS: scaled(a.TailNS)}
	for band, parts := range map[*[]breakdown.Piece][]breakdown.Part{&d.All: a.All, &d.Median: a.Median, &d.Tail: a.Tail} {
		for i, p := range parts { // the same parts in the same order
			*band = append(*band, breakdown.Piece{Part: i, NS: int64(float64(p.NS) * times), Times: p.Times})
		}
	}
	return d
}

// named is a request of the mix that takes so many times what all take.
func named(a *breakdown.Anatomy, name string, requests int, times float64) breakdown.Named {
	d := during(a, timebase.Span{}, requests, times)
	return breakdown.Named{Name: name, Requests: requests, MeanNS: d.MeanNS, MedianNS: d.MedianNS, TailNS: d.TailNS,
		All: d.All, Median: d.Median, Tail: d.Tail[:4]}
}

func anatomy(o Options, trace timebase.Span) breakdown.Anatomy {
	stack := []code.Frame{{Function: "database/sql.(*DB).conn", File: "/usr/local/go/src/database/sql/sql.go",
		Line: 1369}, {Function: "example.org/gateway/store.(*Store).Orders", File: "/src/gateway/store/orders.go", Line: 112}}
	part := func(state breakdown.State, site string, ns, of int64, stack []code.Frame) breakdown.Part {
		return breakdown.Part{State: state, Site: site, NS: ns, Share: float64(ns) / float64(of), Times: 1.2, Stack: stack}
	}
	band := func(scale float64, wait int64) ([]breakdown.Part, int64) {
		at := func(v float64) int64 { return int64(v * scale * 1e6) }
		parts := []breakdown.Part{
			part(breakdown.StateSelect, "database/sql.(*DB).conn < store.(*Store).Orders orders.go:112"+o.Evil, wait, 1, stack),
			part(breakdown.StateNetwork, "pgconn.(*PgConn).peekMessage < store.(*Store).Orders orders.go:118", at(2.4), 1, stack[1:]),
			part(breakdown.StateRunning, "", at(1.1), 1, nil), part(breakdown.StateRunnable, "", at(0.9), 1, nil),
			part(breakdown.StateLock, "log.(*Logger).output < main.access access.go:20", at(0.7), 1, stack[1:]),
			part(breakdown.StateAssist, "", at(0.4), 1, nil), part(breakdown.StateSyscall,
				"os.(*File).Write < main.access access.go:20", at(0.3), 1, stack[1:]),
			part(breakdown.StateSTW, "", at(0.03), 1, nil), part(breakdown.StateOther, "(other sites)", at(0.02), 1, nil),
		}
		var sum int64
		for _, p := range parts {
			sum += p.NS
		}
		for i := range parts {
			parts[i].Share = float64(parts[i].NS) / float64(sum)
		}
		parts[0].Behind = []breakdown.Chain{{NS: wait / 2, Share: parts[0].Share / 2, Links: []breakdown.Link{
			{Goroutine: "net/http.(*conn).serve", Request: true, State: breakdown.StateLock, Site: "store.(*Store).Lock orders.go:9"},
			{Goroutine: "example.org/gateway/store.flush" + o.Evil, State: breakdown.StateNetwork, Site: "pgconn.(*PgConn).Exec < store.flush orders.go:120" + o.Evil, Stack: stack},
		}}}
		return parts, sum
	}
	var a breakdown.Anatomy
	var median, tail, all int64
	a.Median, median = band(1, 24_700_000)
	a.Tail, tail = band(2.1, 78_000_000)
	a.All, all = band(1.1, 27_000_000)
	a.MedianNS, a.TailNS, a.MeanNS = time.Duration(median), time.Duration(tail), time.Duration(all)
	a.Requests, a.Cut, a.Merged, a.Coverage, a.Traced = 4102, 61, 3, 0.997, trace.Len()
	a.Served = []breakdown.Served{{Server: breakdown.ServerHTTP, Requests: 4000, Cut: 60},
		{Server: breakdown.ServerGRPC, Requests: 102, Cut: 1}}
	a.CPU = &breakdown.CPUProfile{All: 900, Median: 200, Tail: 40, Functions: []breakdown.CPUFunction{
		{Function: "encoding/json.(*encodeState).marshal", Caller: "store.(*Store).Orders orders.go:130" +
			o.Evil, All: 0.2, Median: 0.1, Tail: 0.6},
	}}
	for i := range 12 {
		at := trace.From + time.Duration(i)*100*time.Millisecond
		line := breakdown.Timeline{Span: timebase.Span{From: at}, Goroutine: int64(100 + i)}
		for k, p := range a.Tail {
			for range 1 + k%3 {
				ns := p.NS / int64(1+k%3) * int64(12-i) / 12
				line.Segments = append(line.Segments, breakdown.Segment{State: p.State, Site: p.Site, From: at, NS: ns})
				at += time.Duration(ns)
			}
		}
		line.To = at
		a.Slowest = append(a.Slowest, line)
	}
	a.Named = []breakdown.Named{named(&a, "query", 150, 0.9), named(&a, "order", 40, 1.3)}
	return a
}
