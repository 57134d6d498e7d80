package postgres

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
)

const ms = time.Millisecond

func TestLedger(t *testing.T) {
	l := ledger{steady: timebase.Span{From: 200 * ms, To: 400 * ms}}
	l.meter.Width = 100 * ms
	row := func(user uint32, query int64) server.Entry { return server.Entry{User: user, Query: query} }
	l.read(100*ms, map[server.Entry]server.Figures{row(1, 7): {Calls: 1000, Exec: 5000}})
	l.read(200*ms, map[server.Entry]server.Figures{row(1, 7): {Calls: 1010, Exec: 5020}})
	// A second user of the same statement, and a statement that is new.
	l.read(300*ms, map[server.Entry]server.Figures{row(1, 7): {Calls: 1020, Exec: 5040},
		row(2, 7): {Calls: 5, Exec: 5}, row(1, 8): {Calls: 2, Exec: 1, Rows: 4}})
	// The first entry was dropped and came again: what it lost is not known.
	lost := l.read(400*ms, map[server.Entry]server.Figures{row(1, 7): {Calls: 3, Exec: 6},
		row(2, 7): {Calls: 5, Exec: 5}, row(1, 8): {Calls: 2, Exec: 1, Rows: 4}})
	if lost != 1 {
		t.Errorf("%d entries lost, want 1", lost)
	}
	l.blank()
	l.read(600*ms, map[server.Entry]server.Figures{row(1, 7): {Calls: 9000, Exec: 9000}})
	l.read(700*ms, map[server.Entry]server.Figures{row(1, 7): {Calls: 9001, Exec: 9003}})

	var sink observetest.Sink
	if err := l.meter.Flush(&sink); err != nil {
		t.Fatal(err)
	}
	calls := map[int64]float64{}
	for _, p := range sink.Points() {
		if p.Series.Name == series.StatementCalls && p.Series.Labels == "queryid=7" {
			calls[p.Window] = p.Value
		}
	}
	if want := map[int64]float64{1: 10, 2: 15, 6: 1}; !maps.Equal(calls, want) {
		t.Errorf("calls by window %v, want %v: the gaps stay absent", calls, want)
	}
	top := l.top(10)
	if len(top) != 2 || top[0].id != 7 || top[1].id != 8 {
		t.Fatalf("top %v", top)
	}
	if s := top[0].record(); s.Calls != 15 || s.Time != 25*ms {
		t.Errorf("steady span holds %d calls of %v, want 15 of 25ms", s.Calls, s.Time)
	}
	if s := top[1].record(); s.Calls != 2 || s.Rows != 4 {
		t.Errorf("%+v: the first window of a new statement is lost", s)
	}
	if n, _ := sink.Sum(series.StatementPlan, "*"); n != 0 {
		t.Error("planning time although it is not tracked")
	}
}

// Readings come late on a busy host; the first calls of a statement count all
// the same.
func TestLedgerCountsNewStatementsBetweenLateReadings(t *testing.T) {
	l := ledger{}
	l.meter.Width = 100 * ms
	l.read(130*ms, map[server.Entry]server.Figures{})
	l.read(240*ms, map[server.Entry]server.Figures{})
	l.read(350*ms, map[server.Entry]server.Figures{{User: 1, Query: 7}: {Calls: 11}})
	l.read(420*ms, map[server.Entry]server.Figures{{User: 1, Query: 7}: {Calls: 11}})
	var sink observetest.Sink
	if err := l.meter.Flush(&sink); err != nil {
		t.Fatal(err)
	}
	if sum, n := sink.Sum(series.StatementCalls, "*"); math.Abs(sum-11) > 1e-9 || n != 2 {
		t.Errorf("%v calls in %d windows, want 11 in 2", sum, n)
	}
}

func TestLedgerLeavesOurOwnOut(t *testing.T) {
	l := ledger{}
	l.read(100*ms, map[server.Entry]server.Figures{})
	l.read(200*ms, map[server.Entry]server.Figures{{User: 1, Query: 7}: {Calls: 10}, {User: 1, Query: 8}: {Calls: 1}})
	l.named(7, "SELECT "+server.Marker+" 1")
	l.named(8, "SELECT 1")
	if top := l.top(5); len(top) != 1 || top[0].id != 8 {
		t.Errorf("top %v, want only the target's", top)
	}
	for id := range int64(2 * maxFollowed) {
		l.follow(id+100, false)
	}
	if len(l.followed) != maxCrowd || l.follow(1, true) == nil {
		t.Errorf("%d statements followed, want %d and a place for one that takes time", len(l.followed), maxCrowd)
	}
	for id := range int64(2 * maxFollowed) {
		l.follow(id+100, true)
	}
	if len(l.followed) != maxFollowed || !l.dropped {
		t.Errorf("%d statements followed", len(l.followed))
	}
}

func TestPace(t *testing.T) {
	var p pace
	window := 100 * ms
	for range 10 {
		p.took(40*ms, window)
	}
	// Three slow readings: every 2nd window; then 40 ms of 200 is quick enough.
	if p.every != 2 || p.slowest != 2 {
		t.Errorf("every %d windows, slowest %d; want 2", p.every, p.slowest)
	}
	if p.due(3) || !p.due(4) {
		t.Error("not every second edge is due")
	}
	p.took(500*ms, window)
	p.took(ms, window)
	if p.every != 2 {
		t.Error("one hiccup changes the pace")
	}
	for range 30 {
		p.took(ms, window)
	}
	if p.every != 1 || p.slowest != 2 {
		t.Errorf("every %d windows, slowest %d; want 1 and 2", p.every, p.slowest)
	}
	for range 1000 {
		p.took(time.Hour, window)
	}
	if p.every != maxPace {
		t.Errorf("every %d windows, want the bound %d", p.every, maxPace)
	}
}

// At a slow pace the totals of the steady span are still those of that span: its ends are read.
func TestSteadySpanIsReadAtItsEnds(t *testing.T) {
	w := &watch{Source: New()}
	w.subject.Window = 100 * ms
	w.ledger.meter.Width, w.ledger.steady = w.subject.Window, timebase.Span{From: 1050 * ms, To: 2030 * ms}
	w.pace.every, w.statementPace.every = maxPace, maxPace
	var all []time.Duration
	for edge := 100 * ms; edge < 7*time.Second; edge += 100 * ms {
		due, statements := w.due(edge)
		if due != statements {
			t.Errorf("at %v a reading is due: %t, with statements: %t", edge, due, statements)
		}
		if statements {
			all = append(all, edge)
		}
	}
	if want := []time.Duration{1100 * ms, 2 * time.Second, maxPace * 100 * ms}; !slices.Equal(all, want) {
		t.Errorf("readings at %v, want %v", all, want)
	}
}

func TestServerClock(t *testing.T) {
	run, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	run.EpochError = 0
	at := func(d time.Duration) time.Time { return run.EpochWall.Add(d) }

	local := server.Clock{Run: run, Local: true}
	if local.Sandwich(10*ms, 12*ms, at(11*ms)) {
		t.Error("an honest local clock is doubted")
	}
	from, to := local.Bracket(at(11*ms), at(12*ms))
	if from != 11*ms-time.Microsecond || to != 12*ms+time.Microsecond {
		t.Errorf("bracket %v to %v", from, to)
	}
	if !local.Sandwich(20*ms, 22*ms, at(time.Second)) || local.Local {
		t.Error("a clock that was set is still believed")
	}

	// A server 5 s ahead, seen through round trips of 10 ms and then 2 ms.
	remote := server.Clock{Run: run}
	remote.Sandwich(100*ms, 110*ms, at(5*time.Second+104*ms))
	remote.Sandwich(200*ms, 202*ms, at(5*time.Second+201*ms))
	remote.Sandwich(300*ms, 310*ms, at(5*time.Second+309*ms)) // looser: ignored
	from, to = remote.Bracket(at(5*time.Second+400*ms), at(5*time.Second+401*ms))
	if from > 400*ms || to < 401*ms || to-from < 3*ms || to-from > 4*ms {
		t.Errorf("bracket %v to %v, want 400 to 401 ms widened by 1 ms on each side", from, to)
	}
	if e := remote.Bound(1200 * time.Second); e < 100*ms {
		t.Errorf("error %v after 20 minutes without a better round trip", e)
	}
}

// CPU moves from the living to the reaped when a backend ends, in coarser
// units, and the sum neither falls nor counts it twice.
func TestServerCPUCarriesOver(t *testing.T) {
	living := map[int]time.Duration{1: 100 * ms, 10: 50 * ms, 11: 33 * ms}
	reaped := 200 * ms
	c := server.CPU{
		Postmaster: 1,
		ProcessTime: func(pid int) (time.Duration, error) {
			used, ok := living[pid]
			if !ok {
				return 0, errors.New("no such process")
			}
			return used, nil
		},
		Reaped: func() (time.Duration, error) { return reaped, nil },
	}
	read := func() time.Duration {
		t.Helper()
		sum, err := c.Read([]int{10, 11})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if got := read(); got != 383*ms {
		t.Errorf("sum %v, want 383ms", got)
	}
	delete(living, 11) // ends with 33 ms, of which 30 ms are whole ticks
	reaped += 30 * ms
	if got := read(); got != 383*ms {
		t.Errorf("sum %v, want it held at 383ms", got)
	}
	living[10] += 20 * ms
	if got := read(); got != 400*ms {
		t.Errorf("sum %v, want 400ms", got)
	}
	// Reaped in the middle of a reading: it is taken again.
	calls := 0
	c.Reaped = func() (time.Duration, error) {
		if calls++; calls == 2 {
			delete(living, 10)
			reaped += 70 * ms
		}
		return reaped, nil
	}
	if got := read(); got != 400*ms {
		t.Errorf("sum %v, want 400ms: counted twice or not at all", got)
	}
	delete(living, 1)
	if _, err := c.Read(nil); err == nil {
		t.Error("a postmaster that is gone has a figure")
	}
}

func TestOwnCommitsAreTakenOut(t *testing.T) {
	var o ownCount
	// The target commits 100 per reading; ours come in lumps of three.
	var got []float64
	for i, lump := range []int64{0, 0, 0, 3, 3, 3, 6} {
		got = append(got, o.without(1000+100*int64(i)+lump, int64(i)+1))
	}
	for i := 1; i < len(got); i++ {
		if got[i] < got[i-1] {
			t.Fatalf("%v falls", got)
		}
	}
	if sum := got[6] - got[0]; math.Abs(sum-600) > 3 {
		t.Errorf("%v commits of the target, want 600", sum)
	}
}

func TestRedact(t *testing.T) {
	tests := map[string]string{
		"SELECT a FROM b WHERE c = $1": "SELECT a FROM b WHERE c = $1",
		"  select\n1":                  "  select\n1",
		"SELECT a1234, t.b FROM t WHERE pin = 4711 LIMIT 10":  "SELECT a1234, t.b FROM t WHERE pin = … LIMIT 10",
		"SELECT a /* token=hunter2 */ FROM t -- hunter2":      "SELECT a  FROM t ",
		"ALTER ROLE bob PASSWORD 'hunter2'":                   "ALTER ROLE (text not kept: it may contain secrets)",
		"/* a /* b */ c */ -- d\nCREATE USER x PASSWORD 'h'":  "CREATE USER (text not kept: it may contain secrets)",
		"COPY t FROM PROGRAM 'curl -H token'":                 "COPY T (text not kept: it may contain secrets)",
		"'hunter2'":                                           "(text not kept: it may contain secrets)",
		"":                                                    "(text not kept: it may contain secrets)",
		"/* open":                                             "(text not kept: it may contain secrets)",
		"UPDATE t SET p = 'hunter2' WHERE q = $1":             "UPDATE t SET p = '…' WHERE q = $1",
		"SELECT 'it''s', b":                                   "SELECT '…', b",
		`SELECT E'\'hunter2', 'x'`:                            "SELECT E'…'",
		`SELECT '\', 'hunter2'`:                               "SELECT '…'",
		`SELECT "a'b", 'hunter2', c`:                          `SELECT "a'b", '…', c`,
		"SELECT a -- it's\n, 'hunter2', c":                    "SELECT a \n, '…', c",
		"SELECT /* it's */ 'hunter2', c":                      "SELECT  '…', c",
		"SELECT $tag$hunter2$tag$, c":                         "SELECT '…'",
		"SELECT $1, $2 FROM a$b":                              "SELECT $1, $2 FROM a$b",
		"SELECT 'open":                                        "SELECT '…'",
		"(SELECT a) UNION (SELECT b)":                         "(SELECT a) UNION (SELECT b)",
		"BEGIN":                                               "BEGIN",
		"SET app.secret = 'hunter2'":                          "SET (text not kept: it may contain secrets)",
		"CREATE SUBSCRIPTION s CONNECTION 'password=hunter2'": "CREATE SUBSCRIPTION (text not kept: it may contain secrets)",
	}
	for text, want := range tests {
		if got := kept(text); got != want {
			t.Errorf("kept(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzRedact: a constant that follows a query's beginning is never kept,
// wherever the beginning has left quotes and comments open.
func FuzzRedact(f *testing.F) {
	for _, text := range []string{"SELECT a", `SELECT "x`, "UPDATE t SET a = 'b", `SELECT E'\'`, "SELECT /* ",
		"SELECT $a$ ", "ALTER ROLE x ", "WITH a AS ("} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || !utf8.ValidString(text) || strings.Contains(text, "…") {
			t.Skip("longer than needed, or no text")
		}
		clean, found := redact.SQL(text)
		if !found && clean != text && !strings.Contains(text, "--") && !strings.Contains(text, "/*") {
			t.Errorf("%q became %q without a constant", text, clean)
		}
		if again, _ := redact.SQL(clean); strings.Count(again, "'") > strings.Count(clean, "'") {
			t.Errorf("%q is not stable: %q", clean, again)
		}
		// A text whose quotes are all closed keeps no constant after it.
		if !strings.ContainsAny(text, "'\"$/*-\\") {
			if kept := kept(text + " 'hunter2' "); strings.Contains(kept, "hunter2") {
				t.Errorf("%q kept the constant: %q", text, kept)
			}
		}
		_ = command(text)
	})
}

func TestStatementQueriesFitTheExtension(t *testing.T) {
	tests := []struct {
		columns  string
		has, not []string
		planning bool
	}{
		{"userid dbid queryid query calls total_time rows", []string{" total_time,", "0::float8"},
			[]string{"toplevel", "total_exec_time"}, false},
		{"plans total_plan_time total_exec_time", []string{"total_exec_time, total_plan_time"}, []string{"toplevel"}, true},
		{"toplevel total_plan_time total_exec_time", []string{"AND toplevel"}, nil, true},
	}
	for _, test := range tests {
		q := server.StatementQueries(`"s"."pg_stat_statements"`, strings.Fields(test.columns))
		if q.Planning != test.planning {
			t.Errorf("%s: planning %v", test.columns, q.Planning)
		}
		for _, want := range append(slices.Clone(test.has), server.Marker, "(false)") {
			if !strings.Contains(q.Statements, want) {
				t.Errorf("%s: %q is not in %q", test.columns, want, q.Statements)
			}
		}
		for _, not := range test.not {
			if strings.Contains(q.Statements, not) {
				t.Errorf("%s: %q is in %q", test.columns, not, q.Statements)
			}
		}
	}
	if !strings.Contains(server.DatabaseSQL(130000), "NULL::bigint") || strings.Contains(server.DatabaseSQL(140000), "NULL") {
		t.Error("sessions are asked of version 13, or not of version 14")
	}
}

func TestOutages(t *testing.T) {
	var o outages
	if o.text() != "" {
		t.Error("an outage that never was")
	}
	o.begin(1200*ms, errors.New("EOF"))
	o.begin(1300*ms, errors.New("later"))
	o.end(2*time.Second, true)
	o.begin(5*time.Second, errors.New("again"))
	if want := "the server was lost from 1.20 s to 2.00 s (it was restarted), from 5.00 s to the end of the run (EOF)"; o.text() != want {
		t.Errorf("%q, want %q", o.text(), want)
	}
}

// An entry that was dropped and is met again later began anew: it counts in
// full, and only the interval of the loss is absent.
func TestLedgerCountsWhatCameBack(t *testing.T) {
	l := ledger{}
	l.meter.Width = 100 * ms
	one := func(calls float64) map[server.Entry]server.Figures {
		return map[server.Entry]server.Figures{{User: 1, Query: 7}: {Calls: calls}}
	}
	for i, rows := range []map[server.Entry]server.Figures{one(50), one(60), {}, one(4), one(6)} {
		if lost := l.read(time.Duration(i+1)*100*ms, rows); (lost == 1) != (i == 2) {
			t.Errorf("reading %d lost %d", i, lost)
		}
	}
	var sink observetest.Sink
	if err := l.meter.Flush(&sink); err != nil {
		t.Fatal(err)
	}
	calls := map[int64]float64{}
	for _, p := range sink.Points() {
		if p.Series.Name == series.StatementCalls {
			calls[p.Window] = p.Value
		}
	}
	if want := map[int64]float64{1: 10, 3: 4, 4: 2}; !maps.Equal(calls, want) {
		t.Errorf("calls by window %v, want %v", calls, want)
	}
}

func TestGapsAreJoinedAndBounded(t *testing.T) {
	s := New()
	for i := range 1000 {
		at := time.Duration(i) * 100 * ms
		s.gap(record.Gap{Span: timebase.Span{From: at, To: at + 100*ms}, Of: "statements", Why: "full"})
	}
	if len(s.gaps) != 1 || s.gaps[0].To != 100*time.Second {
		t.Errorf("%d gaps, the first %+v; want one of 100 s", len(s.gaps), s.gaps[0])
	}
	for i := range 1000 {
		at := 200*time.Second + time.Duration(i)*time.Second
		s.gap(record.Gap{Span: timebase.Span{From: at, To: at + ms}, Of: "statements", Why: "full"})
	}
	if len(s.gaps) > maxGaps || s.gaps[len(s.gaps)-1].To < 1199*time.Second {
		t.Errorf("%d gaps, the last %+v", len(s.gaps), s.gaps[len(s.gaps)-1])
	}
}

func TestChains(t *testing.T) {
	involved := map[int32]database.BlockingLink{
		1: {Text: "update t set a = ?", State: "idle in transaction", Transaction: 5 * time.Second},
		2: {Text: "update t set b = ?", State: "active", Wait: "Lock:transactionid", Statement: 2 * time.Second},
		3: {Text: "select", State: "active", Wait: "Lock:tuple", Statement: time.Second},
		4: {Text: "select", State: "active", Wait: "Lock:tuple", Statement: 3 * time.Second},
	}
	var c chains
	for _, at := range []time.Duration{ms, 2 * ms} {
		c.add(at, map[int32]int32{3: 2, 4: 2, 2: 1}, involved)
	}
	c.add(3*ms, map[int32]int32{5: 0}, involved)       // a prepared transaction blocks one that is gone
	c.add(4*ms, map[int32]int32{2: 3, 3: 2}, involved) // a deadlock
	all := c.all()
	if len(all) != 4 && len(all) != 3 {
		t.Fatalf("%d chains: %+v", len(all), all)
	}
	first := all[0]
	if len(first.Links) != 3 || first.Links[0].State != "idle in transaction" || first.Links[2].Statement != 3*time.Second ||
		first.Seen != 2 || first.First != ms || first.Last != 2*ms {
		t.Errorf("longest chain %+v", first)
	}
	if !slices.ContainsFunc(all, func(b database.Blocking) bool { return b.Links[0].State == "prepared transaction" }) {
		t.Errorf("no prepared transaction in %+v", all)
	}
	for i := range 2 * maxChains {
		involved[1] = database.BlockingLink{Text: strings.Repeat("x", i)}
		c.add(5*ms, map[int32]int32{2: 1}, involved)
	}
	if len(c.all()) != maxChains || !c.dropped {
		t.Errorf("%d chains kept", len(c.all()))
	}
}

func TestPool(t *testing.T) {
	meter := &observe.Meter{Width: 100 * ms}
	var p pool
	at := time.Unix(0, 0)
	p.deliver(meter, 100*ms, []server.Client{{PID: 1, Application: "svc", State: "idle", Started: at,
		Age: time.Second}, {PID: 2, Application: "svc", State: "active", Started: at, Age: 3 * time.Second}})
	p.deliver(meter, 200*ms, []server.Client{{PID: 1, Application: "svc", State: "idle", Started: at,
		Age: time.Second}, {PID: 2, Application: "svc", State: "idle", Started: at.Add(ms), Age: ms},
		{PID: 3, Application: "", State: "", Started: at, Age: ms}})
	crowd := []server.Client{}
	for i := range int32(100) {
		crowd = append(crowd, server.Client{PID: 10 + i, Application: strings.Repeat("n", int(i)), State: "idle", Started: at, Age: ms})
	}
	p.deliver(meter, 300*ms, crowd)
	var sink observetest.Sink
	if err := meter.Flush(&sink); err != nil {
		t.Fatal(err)
	}
	value := func(name, labels string, window int64) float64 {
		for _, point := range sink.Points() {
			if point.Series.Name == name && point.Series.Labels == labels && point.Window == window {
				return point.Value
			}
		}
		return math.NaN()
	}
	for _, want := range []struct {
		name, labels string
		window       int64
		value        float64
	}{
		{series.DBConnections, "application=svc,state=idle", 0, 1},
		{series.DBConnections, "application=svc,state=active", 1, 0},
		{series.DBConnectsSeen, "application=svc", 1, 1},
		{series.DBConnectsSeen, "application=(unnamed)", 1, 1},
		{series.DBConnectionAge, "application=svc", 0, 3e9},
		{series.DBConnections, "application=svc,state=idle", 2, 0},
	} {
		if got := value(want.name, want.labels, want.window); got != want.value {
			t.Errorf("%s{%s} in window %d is %v, want %v", want.name, want.labels, want.window, got, want.value)
		}
	}
	if !math.IsNaN(value(series.DBConnectsSeen, "application=svc", 0)) {
		t.Error("connections that were there before the run count as opened")
	}
	if len(p.states) != maxApplications+1 {
		t.Errorf("%d applications have series", len(p.states))
	}
}

func TestBlockingText(t *testing.T) {
	for text, want := range map[string]string{
		"UPDATE a SET b = 'hunter2' WHERE id = 7": "update a set b = ? where id = ?",
		"ALTER ROLE x PASSWORD 'hunter2'":         "ALTER ROLE" + notKept,
		"":                                        strings.TrimSpace(notKept),
	} {
		if got := blockingText(text); got != want {
			t.Errorf("blockingText(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestFailedReadingsAreSaidOnce: those of a busy server leave room for what else is to be said.
func TestFailedReadingsAreSaidOnce(t *testing.T) {
	s := New()
	for i := range 40 {
		s.failures.add(time.Duration(i+2)*time.Second, errors.New("canceling statement due to statement timeout"))
	}
	s.say("the CPU of the server's processes: gone")
	const want = "40 readings failed, the first 2.00 s into the run: canceling statement due to statement timeout"
	if why := s.Health().Why; strings.Count(why, "canceling") != 1 || !strings.Contains(why, want) || !strings.Contains(why, "gone") {
		t.Errorf("%q", why)
	}
}
