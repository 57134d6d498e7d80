package slowest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const ms = time.Millisecond

// at is when the described request begins: in window 10 of 100 ms, and the next.
const at = 1050 * ms

// bundle is a run whose windows 10 and 11 were bad ones.
func bundle(t *testing.T) *record.Record {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(filepath.Join(t.TempDir(), "b"), record.Run{
		Clock: clock, Window: 100 * ms, Steady: timebase.Span{To: 2 * time.Second}, Target: record.Target{Module: "shop"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var points []series.Point
	add := func(window int64, name, labels string, v float64) {
		points = append(points, series.Point{Window: window, Series: series.Series{Name: name, Labels: labels}, Value: v})
	}
	for n := range int64(20) {
		p50, busy, ended := 10*float64(ms), 50*float64(ms), 20.0
		if n == 15 {
			p50, ended = 500*float64(ms), 2
		}
		if n == 10 || n == 11 {
			p50, busy = 90*float64(ms), 190*float64(ms)
			add(n, series.GCCycles, "", float64(n-10)) // in 11 alone
			add(n, series.DBBlocked, "", 3)
			add(n, series.StatementTime, series.Labels("queryid", "7"), 80*float64(ms))
			add(n, series.StatementCalls, series.Labels("queryid", "7"), 4)
		}
		add(n, series.LoadLatency, series.Labels("q", "p50"), p50)
		add(n, series.LoadLatency, series.Labels("q", "p99"), max(p50, float64(n%2)*400*float64(ms))) // the slowest request of few
		add(n, series.LoadRequests, "", ended)
		add(n, series.HostBusy, "", busy)
		add(n, series.HostCPUs, "", 2)
	}
	for _, err := range []error{
		w.Add(points...),
		w.Slow(record.SlowRequest{Intended: at - 5*ms, Sent: at - 1*ms, Done: at + 101*ms, ID: 31, Request: "order"}),
		disk.WriteJSON(w.Dir(), database.File,
			database.Statements{Statements: []database.Statement{{QueryID: "7", Text: "UPDATE stock\n SET n = n - $1"}}}),
		w.Close(record.Complete, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rec, err := record.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// anatomy has one slow request of 100 ms: a lock for 60 ms, thirty short waits
// for the database of 1 ms each with work between them, and an end too short to
// be mentioned.
func anatomy() *breakdown.Anatomy {
	lock := []code.Frame{{Function: "sync.(*Mutex).Lock", File: "/usr/local/go/src/sync/mutex.go", Line: 9},
		{Function: "shop/ledger.(*Book).Credit", File: "/src/shop/ledger.go", Line: 41}}
	query := []code.Frame{{Function: "internal/poll.runtime_pollWait"},
		{Function: "github.com/jackc/pgx/v5/pgconn.(*PgConn).peekMessage"},
		{Function: "shop/ledger.(*Book).Lines", File: "/src/shop/lines.go", Line: 12}}
	line := breakdown.Timeline{Span: timebase.Span{From: at, To: at + 100*ms}, ID: "31"}
	now := at
	add := func(state breakdown.State, site string, took time.Duration, behind ...breakdown.Link) {
		line.Segments = append(line.Segments, breakdown.Segment{State: state, Site: site, From: now, NS: int64(took), Behind: behind})
		now += took
	}
	holder := breakdown.Link{Goroutine: "net/http.(*conn).serve", Request: true, State: breakdown.StateSyscall, Site: "os.(*File).Sync"}
	add(breakdown.StateRunning, "", 2*ms)
	add(breakdown.StateLock, "lock", 20*ms, holder)
	add(breakdown.StateLock, "lock", 40*ms, holder) // the same, in two segments
	for range 30 {
		add(breakdown.StateNetwork, "query", ms)
		add(breakdown.StateRunning, "", 200*time.Microsecond)
	}
	add(breakdown.StateRunnable, "", 100*ms-(now-at))
	return &breakdown.Anatomy{
		All: []breakdown.Part{{State: breakdown.StateLock, Site: "lock", Stack: lock},
			{State: breakdown.StateNetwork, Site: "query", Stack: query}},
		Slowest: []breakdown.Timeline{{Span: timebase.Span{From: 0, To: 3 * ms}}, line},
	}
}

// TestBehindClient: a client's own goroutine is no place of the service's.
func TestBehindClient(t *testing.T) {
	const loop = "net/http.(*persistConn).readLoop"
	reader := breakdown.Link{Goroutine: loop, State: breakdown.StateNetwork, Site: loop}
	ready, worker := reader, breakdown.Link{Goroutine: "shop.work", State: breakdown.StateSelect, Site: "shop.work"}
	ready.State = breakdown.StateRunnable
	stacks := measured.New(bundle(t), anatomy()).Stacks
	for want, links := range map[string][]breakdown.Link{
		"": {reader},
		"the client's connection, which waited for a CPU":  {ready},
		"shop.work, which waited in a select at shop.work": {worker, reader},
		"another request's shop.work, which was stopped with all others by a call at shop.stats stats.go:9": {{Goroutine: "shop.work",
			Request: true, State: breakdown.StateStoppedByCall, Site: "shop.stats stats.go:9"}},
	} {
		if got := behind(links, stacks); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSlowAmongFew: of two requests, one is half of what their median says.
func TestSlowAmongFew(t *testing.T) {
	if text := newAround(bundle(t)).latency(timebase.Span{From: 1500 * ms, To: 1600 * ms}); text != "" {
		t.Error(text)
	}
}

func TestStoppedByACall(t *testing.T) {
	own, collectors := does(callstack.StopWait, breakdown.StateStoppedByCall), does(callstack.Collector, breakdown.StateSTW)
	if own == collectors || !strings.Contains(own, "the program stopped all goroutines") {
		t.Errorf("%q, and for the collector %q", own, collectors)
	}
}

func TestDescribe(t *testing.T) {
	rec := bundle(t)
	requests := Describe(rec, anatomy(), 5)
	if len(requests) != 2 || requests[0].ID != "31" || requests[1].Took != 3*ms {
		t.Fatalf("not the slowest first: %+v", requests)
	}
	reported := requests[0]
	if reported.Name != "order" || reported.Latency != 106*ms || reported.Took != 100*ms {
		t.Errorf("the load's own figures: %+v", reported)
	}
	if want := "For 60.0 ms of 100 ms (60 %) it waited for a mutex that another goroutine held at ledger.go:41."; reported.Lead != want {
		t.Errorf("lead %q, want %q", reported.Lead, want)
	}
	var texts []string
	var sum time.Duration
	for _, s := range reported.Steps {
		texts = append(texts, s.Text)
		sum += s.Took
	}
	want := []string{
		"ran on a CPU",
		"waited for a mutex that another goroutine held at ledger.go:41",
		"waited for the database's answer at lines.go:12",
		"ran on a CPU", // thirty times, between the answers
		"was ready to run, and waited for a CPU",
	}
	// The work between the answers adds up to a step of its own.
	if !slices.Equal(texts, want) || sum != 100*ms {
		t.Errorf("steps of %v: %q", sum, texts)
	}
	if s := reported.Steps[1]; s.Took != 60*ms || s.Times != 1 || s.At != 2*ms || s.Place != "ledger.(*Book).Credit" ||
		s.For != "another request's net/http.(*conn).serve, which was in a system call at os.(*File).Sync" {
		t.Errorf("the lock: %+v", s)
	}
	if s := reported.Steps[2]; s.Took != 30*ms || s.Times != 30 {
		t.Errorf("the database: %+v", s)
	}
	wantAround := []string{
		"Most requests were slow: a median of 90.0 ms against a usual 10.0 ms.",
		"The garbage collector ran in 1 of the 2 windows.",
		"The host's CPUs were 95 % busy.",
		"The database worked most on UPDATE stock SET n = n - $1 (8 calls, 160 ms).",
		"Up to 3 database sessions waited for locks.",
	}
	if !slices.Equal(reported.Meanwhile, wantAround) {
		t.Errorf("meanwhile %q", reported.Meanwhile)
	}
	if around := strings.Join(requests[1].Meanwhile,
		" "); around != "Other requests were as fast as usual: a median of 10.0 ms against a usual 10.0 ms. The host's CPUs were 25 "+
		"% busy." {
		t.Errorf("a quiet moment: %q", around)
	}
}

// TestOneWaitInPieces: a wait is divided by what those who ended it did meanwhile, and is one wait all the same.
func TestOneWaitInPieces(t *testing.T) {
	line := breakdown.Timeline{Span: timebase.Span{From: at, To: at + 42*ms}}
	for i := range 42 {
		holds := []breakdown.State{breakdown.StateSyscall, breakdown.StateRunning}[i%2]
		s := breakdown.Segment{State: breakdown.StateLock, Site: "lock", From: at + time.Duration(i)*ms, NS: int64(ms),
			Behind: []breakdown.Link{{Goroutine: "net/http.(*conn).serve", State: holds}}}
		if i == 20 { // between two waits
			s = breakdown.Segment{State: breakdown.StateRunning, From: s.From, NS: s.NS}
		}
		line.Segments = append(line.Segments, s)
	}
	steps := Describe(bundle(t), &breakdown.Anatomy{Slowest: []breakdown.Timeline{line}}, 1)[0].Steps
	if len(steps) == 0 || steps[0].State != breakdown.StateLock || steps[0].Times != 2 || steps[0].Took != 41*ms {
		t.Errorf("two waits are %+v", steps)
	}
}

func TestNothingToDescribe(t *testing.T) {
	rec := bundle(t)
	if requests := Describe(rec, nil, 5); requests != nil {
		t.Errorf("%+v", requests)
	}
	broken := &breakdown.Anatomy{Slowest: []breakdown.Timeline{{}, {Span: timebase.Span{From: 5, To: 1}}, {Span: timebase.Span{To: ms}}}}
	if requests := Describe(rec, broken, 5); len(requests) != 1 || requests[0].Lead == "" || len(requests[0].Steps) != 0 {
		t.Errorf("timelines without segments: %+v", requests)
	}
}
