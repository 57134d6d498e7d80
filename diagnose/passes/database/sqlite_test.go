package database_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	step   = "modernc.org/sqlite/lib.Xsqlite3_step"
	listAt = "shop/store.(*Store).List@store.go:40"
	sales  = "SELECT cents FROM sales WHERE stall = ? ORDER BY id DESC LIMIT ?"
	book   = "INSERT INTO receipts VALUES (?)"
	pooled = "database/sql.(*DB).conn"
)

// sqliteStack is the inner end of a stack inside SQLite.
func sqliteStack(place string) []string {
	return []string{step, "modernc.org/sqlite.(*conn).step", "database/sql.ctxDriverStmtQuery",
		"database/sql.(*DB).queryDC", "database/sql.(*DB).QueryContext", place}
}

// TestSQLiteWithoutTraces: a relay for WebSockets has no requests in its traces. Its connections show that nobody on this host works
// for it, so that the CPU of others is not its own, and a scan that takes all of its CPU is worth all of that.
func TestSQLiteWithoutTraces(t *testing.T) {
	scan := operation.SQLiteScan{Table: "sales", Rows: 30000, Columns: []string{"stall"}, Equal: []string{"stall"}}
	found := func(unseen float64) findings.Finding {
		b := New(8, 400*ms).CPU(2, 1.99, 0.8, 0.1, -1).NoAnatomy().Gauge(series.PeersUnseen, "", unseen)
		b.Sample(9900*ms, sqliteStack(listAt)...)
		n := int64(b.Requests())
		b.Asks(operation.Query, sales, n, 390*ms, 1, Caller(1, 390*ms, sqliteStack(listAt)...)).SQLite("wal").
			Plan([]string{"SCAN sales"}, scan)
		return ExpectFirst(t, suite.All(), b, "db-slow-query").Findings[0]
	}
	if f := found(0); f.GainCeiling < 5 || !has(f, "390 ms each") {
		t.Errorf("worth %.2fx: %+v", f.GainCeiling, f.Evidence)
	}
	if f := found(1); f.GainCeiling > 2 {
		t.Errorf("what it asks may run on this host, and it is worth %.2fx", f.GainCeiling)
	}
}

// onePool is a service whose requests queue for the one connection of SQLite, within
// which the service works: 92 % of its CPU is there.
func onePool() *Builder {
	b := New(8, 32*ms).CPU(2, 1.15, 1, 0.1, -1)
	b.Sample(9200*ms, sqliteStack(listAt)...).Sample(800*ms, "encoding/json.Marshal", "shop/web.Show@web.go:12")
	return b.Wait(breakdown.StateRunning, 4*ms, 3).Wait(breakdown.StateSelect, 27*ms, 1, "runtime.selectgo", pooled,
		"database/sql.(*DB).QueryContext", listAt).
		Wait(breakdown.StateRunnable, ms, 2)
}

// TestSQLiteScan: the statement that holds the one connection is named, with the index; the advice
// is not to enlarge the pool.
func TestSQLiteScan(t *testing.T) {
	scan := operation.SQLiteScan{Table: "sales", Rows: 30000, Columns: []string{"stall"}, Equal: []string{"stall"}}
	b := onePool()
	n := int64(b.Requests())
	b.Asks(operation.Query, sales, n, 31*ms, 20, Caller(1, 31*ms, sqliteStack(listAt)...)).
		Within(3800*us, 0, 1).SQLite("wal").Plan([]string{"SCAN sales"}, scan)
	found := ExpectFirst(t, suite.All(), b, "db-slow-query").Findings
	if f := found[0]; f.Where.Line != 40 || f.Share < 0.85 || f.GainCeiling < 1.5 || !strings.Contains(f.Remedy,
		"CREATE INDEX sales_stall ON sales (stall)") || !has(f, "SCAN sales") {
		t.Errorf("%+v", f)
	}
	for _, f := range found {
		if strings.Contains(f.Remedy, "Raise the pool") || f.Cause == "db-pool-wait" {
			t.Errorf("a pool of one is to be raised: %s %s", f.Cause, f.Remedy)
		}
	}
	// A condition that keeps most rows, and an order that no index has.
	shuffled := strings.Replace(sales, "ORDER BY id DESC", "ORDER BY random() asc", 1)
	found = Expect(t, slow.Query, onePool().Asks(operation.Query, shuffled, n, 31*ms, 20, Caller(1, 31*ms, sqliteStack(listAt)...)).
		Within(3800*us, 0, 1).SQLite("wal").Plan([]string{"SCAN sales", "USE TEMP B-TREE FOR ORDER BY"}, scan),
		"db-slow-query at store.go:40")
	if len(found) == 1 && (strings.Contains(found[0].Remedy, "CREATE INDEX") || !strings.Contains(found[0].Remedy, "random")) {
		t.Errorf("an index for a random order: %s", found[0].Remedy)
	}
	count := Expect(t, slow.Query, onePool().Asks(operation.Query, "SELECT count(*) FROM sales WHERE ?=?", n, 31*ms, 1,
		Caller(1, 31*ms, sqliteStack(listAt)...)).Within(3800*us, 0, 1).SQLite("wal").
		Plan([]string{"SCAN sales"}, operation.SQLiteScan{Table: "sales", Rows: 30000}), "db-slow-query at store.go:40")
	if len(count) == 1 && !strings.Contains(count[0].Remedy, "Count less often") {
		t.Errorf("advice for a count of all rows: %s", count[0].Remedy)
	}
	few := operation.SQLiteScan{Table: "sales", Rows: 200, Columns: []string{"stall"}}
	small := onePool().Asks(operation.Query, sales, n, 31*ms, 20, Caller(1, 31*ms, sqliteStack(listAt)...)).
		Within(3800*us, 0, 1).SQLite("wal").Plan([]string{"SCAN sales"}, few)
	Expect(t, slow.Query, small)
	pool := Expect(t, database.PoolWait, small, "db-pool-wait at store.go:40")
	if len(pool) == 1 && (strings.Contains(pool[0].Remedy, "Raise") || !strings.Contains(pool[0].Remedy, "one writer")) {
		t.Error(pool[0].Remedy)
	}
}

// TestSQLiteIndexInWords: names that are words of SQL need quotes, and an index that lacks a condition's column does not lead to the
// rows alone.
func TestSQLiteIndexInWords(t *testing.T) {
	for _, c := range []struct {
		scan   operation.SQLiteScan
		remedy string
	}{
		{operation.SQLiteScan{Table: "order", Rows: 30000, Columns: []string{"stall"}, Equal: []string{"stall"}},
			`CREATE INDEX order_stall ON "order" (stall); then the statement reads only the rows it returns.`},
		{operation.SQLiteScan{Table: "sales", Rows: 30000, Columns: []string{"group", "cents", "day"}, Equal: []string{"group"}},
			`CREATE INDEX sales_group_cents ON sales ("group", cents); then the statement reads far fewer rows.`},
	} {
		b := onePool()
		b.Asks(operation.Query, sales, int64(b.Requests()), 31*ms, 20, Caller(1, 31*ms, sqliteStack(listAt)...)).
			Within(3800*us, 0, 1).SQLite("wal").Plan([]string{"SCAN " + c.scan.Table}, c.scan)
		found := Expect(t, slow.Query, b, "db-slow-query at store.go:40")
		if len(found) == 1 && found[0].Remedy != c.remedy {
			t.Errorf("%s\nwant %s", found[0].Remedy, c.remedy)
		}
	}
}

// TestSQLiteRanks: no index answers a condition on the number that a window function gives each row.
func TestSQLiteRanks(t *testing.T) {
	const text = "WITH s AS (SELECT v, ROW_NUMBER() OVER (PARTITION BY stat ORDER BY at DESC) AS n FROM stats WHERE at <= ?) " +
		"SELECT v FROM s WHERE n = ?"
	b := onePool()
	b.Asks(operation.Query, text, int64(b.Requests()), 31*ms, 20, Caller(1, 31*ms, sqliteStack(listAt)...)).Within(3800*us, 0, 1).
		SQLite("wal").Plan([]string{"CO-ROUTINE s", "SCAN stats USING INDEX stats_at", "SCAN s"},
		operation.SQLiteScan{Table: "stats", Rows: 30000})
	found := Expect(t, slow.Query, b, "db-slow-query at store.go:40")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "columns of PARTITION BY and then ORDER BY") {
		t.Error(found[0].Remedy)
	}
}

// TestSQLiteReturnsMany: what a mapper makes of a thousand rows goes with them, and its allocation follows from them. A statement that
// returns a page's rows promises only what the database takes.
func TestSQLiteReturnsMany(t *testing.T) {
	gain := func(rows float64) (float64, string) {
		b := New(8, 40*ms).CPU(2, 1.98, 1.8, 0.1, -1).Wait(breakdown.StateRunning, 36*ms, 3).Wait(breakdown.StateRunnable, 4*ms, 2)
		n := int64(b.Requests())
		b.Sample(6*time.Second, sqliteStack(listAt)...).Sample(9*time.Second, "gorm.io/gorm.Scan", listAt).
			Sample(3*time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12")
		b.Asks(operation.Query, sales, n, 30*ms, rows, Caller(1, 30*ms, sqliteStack(listAt)...)).Within(30*ms, 0, 1).SQLite("wal")
		f := Expect(t, slow.Query, b, "db-slow-query at store.go:40")
		if len(f) == 0 {
			t.FailNow()
		}
		return f[0].GainCeiling, f[0].Remedy
	}
	many, remedy := gain(2400)
	few, look := gain(20)
	if many < 1.5*few || !strings.Contains(remedy, "It returns 2,400 rows per call") || !strings.Contains(look, "EXPLAIN QUERY PLAN") {
		t.Errorf("many: %.2f, %s\nfew: %.2f, %s", many, remedy, few, look)
	}
}

// TestSQLiteSearchesLess: an index that leaves a sort is too short where a range of the order, or its beginning, is wanted.
func TestSQLiteSearchesLess(t *testing.T) {
	for text, create := range map[string]bool{
		"SELECT * FROM `records` WHERE client = ? AND time >= ? AND time <= ? ORDER BY time ASC": true,
		"SELECT * FROM records WHERE client = ? ORDER BY time DESC LIMIT ?":                      true,
		"SELECT * FROM records WHERE client = ? ORDER BY time":                                   false,
	} {
		b := New(8, 40*ms).CPU(2, 1.98, 1.8, 0.1, -1).Wait(breakdown.StateRunning, 36*ms, 3).Sample(9*time.Second, sqliteStack(listAt)...)
		b.Asks(operation.Query, text, int64(b.Requests()), 30*ms, 2, Caller(1, 30*ms, sqliteStack(listAt)...)).Within(30*ms, 0, 1).
			SQLite("wal").Plan([]string{"SEARCH records USING INDEX by_client (client=?)", "USE TEMP B-TREE FOR ORDER BY"})
		const want = "CREATE INDEX records_client_time ON records (client, time): at present SQLite searches by_client by (client=?) alone"
		found := Expect(t, slow.Query, b, "db-slow-query at store.go:40")
		if len(found) == 1 && strings.HasPrefix(found[0].Remedy, want) != create {
			t.Errorf("%s: %s", text, found[0].Remedy)
		}
	}
}

// TestSQLiteReadsMore: what a function then asks for the rows, in batches, goes with them; a statement for each row does not.
func TestSQLiteReadsMore(t *testing.T) {
	const tagsAt = "shop/store.(*Store).List@store.go:48"
	gain := func(batches int64) float64 {
		b := New(8, 40*ms).CPU(2, 1.98, 1.8, 0.1, -1).Wait(breakdown.StateRunning, 36*ms, 3).Wait(breakdown.StateRunnable, 4*ms, 2)
		n := int64(b.Requests())
		b.Sample(6*time.Second, sqliteStack(listAt)...).Sample(9*time.Second, "gorm.io/gorm.Scan", tagsAt).
			Sample(3*time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12")
		b.Asks(operation.Query, sales, n, 30*ms, 2400, Caller(1, 30*ms, sqliteStack(listAt)...)).Within(30*ms, 0, 1).SQLite("wal")
		b.Asks(operation.Query, "SELECT * FROM tags WHERE sale IN (?)", batches*n, time.Duration(int64(3*ms)/batches),
			2400/float64(batches), Caller(1, 3*ms, sqliteStack(tagsAt)...))
		f := Expect(t, slow.Query, b, "db-slow-query at store.go:40")
		if len(f) == 0 {
			t.FailNow()
		}
		return f[0].GainCeiling
	}
	if batched, each := gain(24), gain(2400); batched < 1.5*each {
		t.Errorf("batches of 100: %.2f, a statement for each row: %.2f", batched, each)
	}
}

// TestSQLiteLongerThanTraces: a statement of seconds begins and ends outside of each
// trace, so that none of its calls is joined there; the hooks counted them all the same.
func TestSQLiteLongerThanTraces(t *testing.T) {
	const notes = "SELECT b.id, n.body FROM books b LEFT JOIN notes n ON n.book = b.id ORDER BY b.id DESC LIMIT ?"
	b := New(16, 5*time.Second).CPU(2, 1.9, 1.7, 0.1, -1).Sample(19*time.Second, sqliteStack(listAt)...)
	b.Wait(breakdown.StateRunning, 500*ms, 20, sqliteStack(listAt)...).Wait(breakdown.StateRunnable, 4500*ms, 20, sqliteStack(listAt)...)
	b.Asks(operation.Query, notes, int64(b.Requests()), 4900*ms, 30, Caller(1, 4900*ms, sqliteStack(listAt)...)).SQLite("wal")
	b.Plan([]string{"SCAN b", "SCAN n VIRTUAL TABLE INDEX 0: LEFT-JOIN"},
		operation.SQLiteScan{Table: "notes", Rows: 2000, Inner: true, Virtual: true})
	f := ExpectFirst(t, suite.All(), b, "db-slow-query").Findings[0]
	if f.Where.Line != 40 || f.Share < 0.9 || f.GainCeiling < 5 ||
		!strings.Contains(f.Title, "2,000 rows of notes again for each row") || strings.Contains(f.Remedy, "CREATE INDEX") {
		t.Errorf("%+v", f)
	}
}

// TestSQLiteWithoutHooks: for a target that redline did not build, the function is named
// below which SQLite works, and nothing is said about the size of its pool.
func TestSQLiteWithoutHooks(t *testing.T) {
	found := ExpectFirst(t, suite.All(), onePool(), "db-slow-query").Findings
	if f := found[0]; f.Where.Line != 40 || f.Confidence == findings.High || !strings.HasPrefix(f.Title,
		"92 % of the service's CPU is spent in SQLite below store.(*Store).List at store.go:40") || !has(f, "inferred") {
		t.Errorf("%+v", f)
	}
	for _, f := range found {
		if strings.Contains(f.Remedy, "Raise the pool") {
			t.Errorf("%s: %s", f.Cause, f.Remedy)
		}
	}
	ExpectUnjudged(t, database.NPlusOne, onePool(), "db-unbatched-write", "db-n-plus-one")
	b := onePool().Sample(20*time.Second, "modernc.org/sqlite/lib.Xsqlite3_prepare_v2",
		"modernc.org/sqlite.(*conn).prepareV2", "database/sql.(*DB).QueryContext", listAt)
	Expect(t, slow.Query, b, "db-n-plus-one at store.go:40")
}

// TestSQLiteRepeats: a statement for each row of another is counted; a write for each row
// is reported as one.
func TestSQLiteRepeats(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT title FROM tracks WHERE album = ?": "db-n-plus-one at store.go:40",
		book: "db-unbatched-write at store.go:40",
	} {
		b := onePool()
		b.Asks(operation.Query, text, 40*int64(b.Requests()), 90*us, 8, Caller(1, 90*us, sqliteStack(listAt)...)).
			Within(3600*us, 0, 40).SQLite("wal")
		found := Expect(t, database.NPlusOne, b, want)
		// 39 of 40 calls go, but the calls are 92 % of the CPU, and the one that remains
		// handles all rows.
		if len(found) == 1 && found[0].GainCeiling > 11 {
			t.Errorf("worth %.2fx", found[0].GainCeiling)
		}
		once := onePool()
		once.Asks(operation.Query, text, int64(once.Requests()), 3600*us, 8,
			Caller(1, 90*us, sqliteStack(listAt)...)).Within(3600*us, 0, 1).SQLite("wal")
		Expect(t, database.NPlusOne, once)
	}
}

// TestJoinedRowsAreStillRead: one statement for all keys reads the same rows.
func TestJoinedRowsAreStillRead(t *testing.T) {
	scan := []string{"database/sql.convertAssign", "database/sql.(*Rows).Scan", listAt}
	b := New(8, 10*ms).CPU(2, 1.95, 1.2, 0.05, 0.7).Sample(4*time.Second, scan...).
		Sample(4*time.Second, "syscall.write", "database/sql.(*DB).QueryContext", listAt).
		Sample(2*time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12")
	b.Wait(breakdown.StateNetwork, 200*us, 40, "internal/poll.(*FD).Read", "github.com/lib/pq.(*conn).query",
		"database/sql.(*DB).QueryContext", listAt).Wait(breakdown.StateRunning, 2*ms, 3)
	b.Asks(operation.Query, "SELECT title FROM tracks WHERE album = $1", 40*int64(b.Requests()), 200*us, 8,
		Caller(1, 200*us, "database/sql.(*DB).QueryContext", listAt))
	// Of the service's 1.2 CPUs 0.48 read rows and 0.24 do the rest; of the database's 0.02 stay.
	if found := Expect(t, database.NPlusOne, b, "db-n-plus-one at store.go:40"); len(found) == 1 &&
		(found[0].GainCeiling < 2.2 || found[0].GainCeiling > 2.7) {
		t.Errorf("worth %.2fx", found[0].GainCeiling)
	}
}

// TestSQLiteStepsAreExecution: SQLite finds a row while the service asks for it, at another line than the statement's. How much of
// that a join saves is not known: at least the call that finds no more rows, at most all.
func TestSQLiteStepsAreExecution(t *testing.T) {
	const next = "shop/store.(*Store).List@store.go:48"
	worth := func(rows float64) findings.Finding {
		b := New(8, 10*ms).CPU(2, 1.95, 1.8, 0.05, -1).Sample(time.Second, sqliteStack(listAt)...).
			Sample(6*time.Second, step, "modernc.org/sqlite.(*rows).Next", "database/sql.(*Rows).Next", next).
			Sample(3*time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, 10*ms, 3)
		b.Asks(operation.Query, "SELECT title FROM tracks WHERE album = ?", 40*int64(b.Requests()), 90*us, rows, Caller(1, 90*us,
			sqliteStack(listAt)...)).Within(7*ms, 0, 40).SQLite("wal")
		found := Expect(t, database.NPlusOne, b, "db-n-plus-one at store.go:40")
		if len(found) == 0 {
			t.FailNow()
		}
		return found[0]
	}
	one, many := worth(1), worth(20)
	if one.Share < 0.65 || one.GainLow < 1.3 || one.GainHigh < 1.5*one.GainLow || one.GainCeiling < one.GainLow ||
		one.GainCeiling > one.GainHigh {
		t.Errorf("one row: %.2f of the CPU, worth %.2fx, %.2f to %.2f", one.Share, one.GainCeiling, one.GainLow, one.GainHigh)
	}
	if many.GainLow > 1.25 || many.GainLow >= one.GainLow {
		t.Errorf("twenty rows: at least %.2fx, one row %.2fx", many.GainLow, one.GainLow)
	}
}

// TestBatchedRowsAreStillWritten: one transaction saves SQLite's work per statement; each row
// is written as before.
func TestBatchedRowsAreStillWritten(t *testing.T) {
	commit := append([]string{"modernc.org/sqlite/lib._vdbeCommit", "modernc.org/sqlite/lib._sqlite3VdbeHalt"}, sqliteStack(listAt)...)
	b := New(8, 32*ms).CPU(2, 1.1, 1, 0.1, -1).Sample(4*time.Second, commit...).Sample(5*time.Second, sqliteStack(listAt)...).
		Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12")
	b.Wait(breakdown.StateRunning, 4*ms, 3).
		Wait(breakdown.StateSelect, 28*ms, 1, "runtime.selectgo", pooled, "database/sql.(*DB).QueryContext", listAt)
	b.Asks(operation.Exec, book, 40*int64(b.Requests()), 90*us, 1, Caller(1, 90*us, sqliteStack(listAt)...)).
		Within(3600*us, 0, 40).SQLite("wal")
	// 39 of 40 commits go, which are 40 % of the CPU: 1/(1-0.39) of a service that does nothing else at a time.
	if found := Expect(t, database.NPlusOne, b, "db-unbatched-write at store.go:40"); len(found) == 1 &&
		(found[0].GainCeiling < 1.5 || found[0].GainCeiling > 1.7) {
		t.Errorf("worth %.2fx", found[0].GainCeiling)
	}
}

// TestCommitsOfRows: a transaction for each row waits for the disk at its end. The hooks count that with the transaction's
// beginning, but nobody else has the lock.
func TestCommitsOfRows(t *testing.T) {
	const addAt = "shop/store.(*Store).Add@store.go:44"
	b := New(1, 66*ms).CPU(2, 0.3, 0.2, 0.1, -1).Sample(2*time.Second, sqliteStack(listAt)...).Wait(breakdown.StateRunning, 4*ms, 60).
		Wait(breakdown.StateSyscall, 60*ms, 30, "modernc.org/libc.Xfsync", "modernc.org/sqlite.(*tx).Commit",
			"database/sql.(*Tx).Commit", addAt)
	n := 30 * int64(b.Requests())
	b.Asks(operation.Transaction, "", n, 2*ms, 0, Caller(1, 2*ms, "database/sql.(*DB).BeginTx", addAt)).Within(0, 61*ms, 30).
		Asks(operation.Exec, book, n, 60*us, 1, Caller(1, 60*us, sqliteStack(listAt)...)).Within(ms, ms, 30).SQLite("rollback")
	Expect(t, database.WriterLock, b)
	if found := Expect(t, database.NPlusOne, b, "db-unbatched-write at store.go:40"); len(found) == 1 &&
		(found[0].Share < 0.85 || found[0].GainCeiling < 5 || !strings.Contains(found[0].Title, "with its commits")) {
		t.Errorf("%.2f of a request, worth %.2fx: %s", found[0].Share, found[0].GainCeiling, found[0].Title)
	}
	// A request that repeats reads, and commits something else once, does not save the commit.
	reads := onePool().Wait(breakdown.StateSyscall, 2*ms, 1, "modernc.org/libc.Xfsync", "database/sql.(*Tx).Commit", addAt)
	reads.Asks(operation.Transaction, "", int64(reads.Requests()), 2*ms, 0).Within(0, 2*ms, 1).
		Asks(operation.Query, sales, 30*int64(reads.Requests()), ms, 1, Caller(1, ms, sqliteStack(listAt)...)).
		Within(30*ms, 0, 30).SQLite("wal")
	if found := Expect(t, database.NPlusOne, reads, "db-n-plus-one at store.go:40"); len(found) == 1 &&
		strings.Contains(found[0].Title, "commits") {
		t.Error(found[0].Title)
	}
}

// TestWriterLock: more requests within writing statements than SQLite lets write.
func TestWriterLock(t *testing.T) {
	writers := func(connections int, within time.Duration, journal string) *Builder {
		b := New(connections, within+2*ms).CPU(2, 0.5, 0.3, 0.1, -1).Sample(2*time.Second, sqliteStack(listAt)...).
			Wait(breakdown.StateRunning, 2*ms, 3)
		b.Wait(breakdown.StateSleep, within, 3, sqliteStack(listAt)...)
		return b.Asks(operation.Exec, book, int64(b.Requests()), within, 1,
			Caller(1, within, sqliteStack(listAt)...)).Within(ms, within-ms, 1).SQLite(journal)
	}
	found := Expect(t, database.WriterLock, writers(16, 30*ms, "rollback"), "db-writer-lock at store.go:40")
	if len(found) == 1 && (!strings.Contains(found[0].Remedy, "journal_mode=WAL") || found[0].Share < 0.8 || found[0].GainCeiling < 3) {
		t.Errorf("%+v", found[0])
	}
	found = Expect(t, database.WriterLock, writers(16, 30*ms, "wal"), "db-writer-lock at store.go:40")
	if len(found) == 1 && strings.Contains(found[0].Remedy, "journal_mode") {
		t.Error(found[0].Remedy)
	}
	// CPUs carry less than the wait would allow, but rows that are committed together share
	// the CPU time of the commit.
	commits := append([]string{"modernc.org/sqlite.(*tx).Commit", "database/sql.(*Tx).Commit"}, listAt)
	half := func() *Builder { return writers(16, 30*ms, "wal").CPU(2, 1, 0.9, 0.1, -1) }
	plain := Expect(t, database.WriterLock, half(), "db-writer-lock")
	shared := Expect(t, database.WriterLock, half().Sample(2*time.Second, commits...), "db-writer-lock")
	if len(plain) == 1 && len(shared) == 1 && (plain[0].GainCeiling > 2.1 || shared[0].GainCeiling < 3.3) {
		t.Errorf("worth %.2fx, with commits to share %.2fx", plain[0].GainCeiling, shared[0].GainCeiling)
	}
	Expect(t, database.WriterLock, writers(1, 30*ms, "rollback")) // one writes, and nobody waits
	Expect(t, database.WriterLock, idle())                        // another database
	// The busy handler is seen to sleep, in whatever state the trace has it, though no
	// statement that writes takes long: the transaction begins with the lock.
	polls := append([]string{"modernc.org/libc.sleepSyscall", "modernc.org/sqlite/lib._sqliteDefaultBusyCallback",
		"modernc.org/sqlite/lib._sqlite3InvokeBusyHandler"}, sqliteStack(listAt)...)
	begins := New(16, 32*ms).CPU(2, 0.5, 0.3, 0.1, -1).Sample(2*time.Second, sqliteStack(listAt)...).Wait(breakdown.StateRunning, 2*ms, 3).
		Wait(breakdown.StateSyscall, 30*ms, 1, polls...)
	begins.Asks(operation.Exec, book, int64(begins.Requests()), ms, 1, Caller(1, ms, sqliteStack(listAt)...)).
		Within(ms, 0, 1).SQLite("wal")
	found = Expect(t, database.WriterLock, begins, "db-writer-lock at store.go:40")
	if len(found) == 1 && (found[0].Share < 0.8 || !has(found[0], "busy handler")) {
		t.Errorf("%+v", found[0])
	}
}

// TestWritesThatFail: a write meets another writer no more often than there is one. Where more fail, such as for a name that is taken,
// the lock is not why.
func TestWritesThatFail(t *testing.T) {
	failing := func(rate float64) *Builder {
		b := New(16, 12*ms).Rate(rate).CPU(2, 0.5, 0.3, 0.1, -1).Sample(2*time.Second, sqliteStack(listAt)...).
			Wait(breakdown.StateRunning, 12*ms, 3)
		return b.Asks(operation.Exec, book, int64(b.Requests()), ms, 1, Caller(1, ms, sqliteStack(listAt)...)).Failing(0.05).
			Within(ms, 0, 1).SQLite("wal")
	}
	Expect(t, database.WriterLock, failing(20)) // 0.02 writers at a time
	found := Expect(t, database.WriterLock, failing(400), "db-writer-lock at store.go:40")
	if len(found) == 1 && !strings.HasPrefix(found[0].Title, "5.0 % of the statements that write fail") {
		t.Error(found[0].Title)
	}
}

// TestWriterLockInC: a driver in C sleeps where no stack shows it. The wait is in the
// beginning of a transaction, which takes microseconds if the lock is free.
func TestWriterLockInC(t *testing.T) {
	service := func(connections int, begin time.Duration) *Builder {
		b := New(connections, begin+6*ms).CPU(2, 0.3, 0.1, 0.1, -1).
			Sample(2*time.Second, sqliteStack(listAt)...).Wait(breakdown.StateRunning, ms, 3)
		b.Wait(breakdown.StateSyscall, begin, 1, "github.com/mattn/go-sqlite3._Cfunc__sqlite3_step_row_internal",
			"github.com/mattn/go-sqlite3.(*SQLiteStmt).exec.func1")
		b.Asks(operation.Exec, book, int64(b.Requests()), ms, 1, Caller(1, ms, sqliteStack(listAt)...)).Within(ms/2, ms/2, 1)
		return b.Asks(operation.Transaction, "", int64(b.Requests()), begin, 0,
			Caller(1, begin, sqliteStack(listAt)...)).Within(0, begin, 1).SQLite("wal")
	}
	found := Expect(t, database.WriterLock, service(16, 20*ms), "db-writer-lock at store.go:40")
	if len(found) == 1 && (found[0].Where.SQL != "BEGIN" || found[0].Share < 0.7 || !has(found[0], "transaction to begin")) {
		t.Errorf("%+v", found[0])
	}
	Expect(t, database.WriterLock, service(2, 50*us)) // the lock is free
}

// TestWriterLockInGeneratedCode: who calls generated code for a statement is who writes.
func TestWriterLockInGeneratedCode(t *testing.T) {
	const query, record = "shop/store.(*Queries).Insert@query.sql.go:3023", "shop/app.record@record.go:26"
	b := New(16, 32*ms).CPU(2, 0.5, 0.3, 0.1, -1).Sample(2*time.Second, sqliteStack(query)...).Wait(breakdown.StateRunning, 2*ms, 3)
	b.Wait(breakdown.StateSleep, 30*ms, 3, append(sqliteStack(query), record)...).Asks(operation.Exec, book, int64(b.Requests()), 30*ms, 1,
		Caller(1, 30*ms, append(sqliteStack(query), record)...)).Within(ms, 29*ms, 1).SQLite("wal")
	rec, body := b.Open(t)
	generated := code.Compiler{Generated: []code.Frame{{Function: "shop/store.(*Queries).Insert", File: "query.sql.go", Line: 3023}}}
	if err := disk.WriteJSON(rec.Dir, code.File, generated); err != nil {
		t.Fatal(err)
	}
	out, err := diagnose.Run(rec, body, []diagnose.Analyzer{database.WriterLock})
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Where.Function != "shop/app.record" {
		t.Errorf("%+v, %v", out.Findings, err)
	}
}

// TestWriterLockAtThePool: with one connection, writers queue in the pool instead of SQLite's busy handler. If whoever has it mostly
// commits, that is the cause, and no larger pool helps.
func TestWriterLockAtThePool(t *testing.T) {
	service := func(commit, reads time.Duration) *Builder {
		inC := "github.com/mattn/go-sqlite3._Cfunc__sqlite3_step_row_internal"
		b := New(8, commit+reads+22*ms).CPU(2, 0.4, 0.1, 0.1, -1).Sample(2*time.Second, sqliteStack(listAt)...).
			Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateSelect, 20*ms, 1, "runtime.selectgo", "database/sql.(*DB).conn", listAt).
			Wait(breakdown.StateSyscall, commit, 1, inC, "github.com/mattn/go-sqlite3.(*SQLiteTx).Commit", "database/sql.(*Tx).Commit",
				"shop/store.(*Store).Touch@store.go:52")
		if reads > 0 {
			b.Wait(breakdown.StateSyscall, reads, 1, inC, "github.com/mattn/go-sqlite3.(*SQLiteRows).Next",
				"database/sql.(*Rows).Next", listAt)
		}
		return b.Asks(operation.Exec, book, int64(b.Requests()), ms/10, 1, Caller(1, ms/10, sqliteStack(listAt)...)).
			Within(0, ms/10, 1).SQLite("rollback").Gauge(series.PoolMax, "", 1)
	}
	found := Expect(t, database.WriterLock, service(3*ms, 0), "db-writer-lock at store.go:52")
	if len(found) == 1 && (found[0].Share < 0.8 || found[0].Where.SQL != "COMMIT" || strings.Contains(found[0].Remedy, "SetMaxOpenConns")) {
		t.Errorf("%+v", found[0])
	}
	Expect(t, database.WriterLock, service(ms, 5*ms)) // reading holds the connection
}

// TestWriterLockBehindAPool: who has one of the pool's connections sleeps for the writer's lock most of the time, and the queue for
// them is the lock's, whatever the pool's size; not where most of the time they read.
func TestWriterLockBehindAPool(t *testing.T) {
	const touch = "shop/store.(*Store).Touch@store.go:52"
	service := func(polls, reads time.Duration) *Builder {
		handler := append([]string{"modernc.org/libc.sleepSyscall", "modernc.org/sqlite/lib._sqliteDefaultBusyCallback",
			"modernc.org/sqlite/lib._sqlite3InvokeBusyHandler"}, sqliteStack(touch)...)
		b := New(16, polls+reads+10*ms).CPU(2, 0.5, 0.3, 0.1, -1).Sample(2*time.Second, sqliteStack(listAt)...).
			Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateSyscall, polls, 1, handler...).
			Wait(breakdown.StateSyscall, reads, 1, append([]string{"syscall.Pread"}, sqliteStack(listAt)...)...).
			Wait(breakdown.StateSelect, 8*ms, 1, "runtime.selectgo", pooled, "database/sql.(*DB).QueryContext", listAt)
		return b.Asks(operation.Exec, book, int64(b.Requests()), ms, 1, Caller(1, ms, sqliteStack(touch)...)).
			Within(ms, 0, 1).SQLite("wal").Gauge(series.PoolMax, "", 5)
	}
	found := Expect(t, database.WriterLock, service(4*ms, ms), "db-writer-lock at store.go:52")
	if len(found) == 1 && (found[0].Share < 0.6 || !has(found[0], "while those that have one sleep there")) {
		t.Errorf("%+v", found[0])
	}
	found = Expect(t, database.WriterLock, service(4*ms, 6*ms), "db-writer-lock at store.go:52")
	if len(found) == 1 && (found[0].Share > 0.3 || has(found[0], "while those that have one sleep there")) {
		t.Errorf("%+v", found[0])
	}
}

// TestScanUnderALock: requests wait for a lock whose holder reads a table in full. An index ends the queue too; a statement that
// reads only what it returns leaves it to the lock.
func TestScanUnderALock(t *testing.T) {
	const updateAt = "shop/store.(*Store).Update@store.go:60"
	service := func(scans ...operation.SQLiteScan) *Builder {
		b := New(8, 100*ms).CPU(2, 1.1, 1, 0.1, -1).Sample(9*time.Second, sqliteStack(updateAt)...).
			Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateSyscall, 12*ms, 1, sqliteStack(updateAt)...).
			Wait(breakdown.StateLock, 86*ms, 1, "sync.(*Mutex).Lock", updateAt)
		b.Behind(breakdown.Chain{NS: int64(86 * ms), Links: []breakdown.Link{{Goroutine: "net/http.(*conn).serve", Request: true,
			State: breakdown.StateSyscall, Stack: Stack(append(sqliteStack(updateAt), "net/http.(*conn).serve")...)}}})
		return b.Asks(operation.Exec, "UPDATE txt SET value = ? WHERE sub = ?", int64(b.Requests()), 12*ms, 1,
			Caller(1, 12*ms, sqliteStack(updateAt)...)).Within(0, 12*ms, 1).SQLite("wal").Plan([]string{"SCAN txt"}, scans...)
	}
	scan := operation.SQLiteScan{Table: "txt", Rows: 30000, Columns: []string{"sub"}, Equal: []string{"sub"}}
	if f := ExpectFirst(t, suite.All(), service(scan), "db-slow-query").Findings[0]; f.Share < 0.9 ||
		!strings.Contains(f.Title, ", so requests wait for a lock") {
		t.Errorf("%.2f: %s", f.Share, f.Title)
	}
	ExpectFirst(t, suite.All(), service(), "lock-contention")
}

// TestScanByAWorker: a goroutine of its own runs the statements that requests hand to it. Traces join none of them to a request.
func TestScanByAWorker(t *testing.T) {
	const browse, worker = "shop/store.(*Store).Browse.func1@store.go:70", "shop/store.(*Store).work"
	service := func(scans ...operation.SQLiteScan) *Builder {
		b := New(8, 100*ms).CPU(2, 1.1, 1, 0.1, -1).Sample(9*time.Second, append(sqliteStack(browse), worker)...).
			Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateChannel, 98*ms, 1, "runtime.chanrecv1", "shop/store.(*Store).Do@store.go:30").Waker(worker)
		b.Behind(breakdown.Chain{NS: int64(96 * ms), Links: []breakdown.Link{{Goroutine: worker,
			State: breakdown.StateSyscall, Stack: Stack(append(sqliteStack(browse), worker)...)}}})
		b.Path(nil, breakdown.Serial{Goroutine: worker, ServiceNS: int64(12 * ms), Utilization: 0.99})
		return b.Asks(operation.Query, "SELECT * FROM tracks WHERE artist = ?", int64(b.Requests()), 12*ms, 1,
			Caller(1, 12*ms, append(sqliteStack(browse), worker)...)).SQLite("wal").Plan([]string{"SCAN tracks"}, scans...)
	}
	scan := operation.SQLiteScan{Table: "tracks", Rows: 30000, Columns: []string{"artist"}, Equal: []string{"artist"}}
	if f := ExpectFirst(t, suite.All(), service(scan), "db-slow-query").Findings[0]; f.Share < 0.9 ||
		!strings.Contains(f.Title, ", so requests wait for a channel") {
		t.Errorf("%.2f: %s", f.Share, f.Title)
	}
	ExpectFirst(t, suite.All(), service(), "channel-bottleneck")
}

// TestScanByOneGoroutine: a goroutine runs what it is given, so that traces show where it took that, and not which statement runs.
func TestScanByOneGoroutine(t *testing.T) {
	const browse, worker = "shop/store.(*Store).Browse.func1@store.go:70", "shop/store.(*Store).work"
	service := func(behind float64) *Builder {
		b := New(8, 100*ms).CPU(2, 1.1, 1, 0.1, -1).Sample(9*time.Second, append(sqliteStack(browse), worker)...).
			Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateChannel, 98*ms, 1, "runtime.chanrecv1", "shop/store.(*Store).Do@store.go:30").Waker(worker)
		b.Behind(breakdown.Chain{NS: int64(96 * ms), Links: []breakdown.Link{{Goroutine: worker, State: breakdown.StateRunning}}})
		b.Path([]breakdown.PathNode{{Kind: breakdown.PathGoroutine, Function: worker, Share: behind}},
			breakdown.Serial{Goroutine: worker, Goroutines: 1, ServiceNS: int64(12 * ms), Utilization: 0.99})
		by := Caller(1, 12*ms)
		by.Stack = Stack(append(sqliteStack(browse), worker, "runtime.goexit")...)
		return b.Asks(operation.Query, "SELECT * FROM tracks WHERE artist = ?", int64(b.Requests()), 12*ms, 1, by).SQLite("wal").Plan(
			[]string{"SCAN tracks"},
			operation.SQLiteScan{Table: "tracks", Rows: 30000, Columns: []string{"artist"}, Equal: []string{"artist"}})
	}
	if f := Expect(t, slow.Query, service(0.97), "db-slow-query at store.go:70"); len(f) == 1 && (f[0].Share < 0.9 || f[0].Share > 0.98) {
		t.Errorf("%.2f: %s", f[0].Share, f[0].Title)
	}
	Expect(t, slow.Query, service(0.1)) // nobody waits for it
}

// TestScanInAFlight: one request's statement serves all that wait for it in a single-flight group, which runs it on a goroutine of
// its own.
func TestScanInAFlight(t *testing.T) {
	const head, flight = "shop/store.(*Store).Head@store.go:70", "golang.org/x/sync/singleflight.(*Group).doCall"
	service := func(scans ...operation.SQLiteScan) *Builder {
		b := New(8, 100*ms).CPU(2, 1.1, 1, 0.1, -1).Sample(9*time.Second, append(sqliteStack(head), flight)...).
			Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateSync, 98*ms, 1, "sync.(*WaitGroup).Wait", "golang.org/x/sync/singleflight.(*Group).Do",
				"shop/web.Show@web.go:30")
		b.Behind(breakdown.Chain{NS: int64(96 * ms), Links: []breakdown.Link{{Goroutine: flight,
			State: breakdown.StateSyscall, Stack: Stack(append(sqliteStack(head), flight)...)}}})
		return b.Asks(operation.Query, "SELECT id FROM snapshots WHERE tenant = ?", int64(b.Requests()/8), 96*ms, 1,
			Caller(1, 96*ms, append(sqliteStack(head), flight)...)).SQLite("wal").Plan([]string{"SCAN snapshots"}, scans...)
	}
	scan := operation.SQLiteScan{Table: "snapshots", Rows: 30000, Columns: []string{"tenant"}, Equal: []string{"tenant"}}
	if f := ExpectFirst(t, suite.All(), service(scan), "db-slow-query").Findings[0]; f.Share < 0.9 ||
		!strings.Contains(f.Title, ", so requests wait for one computation in flight") {
		t.Errorf("%.2f: %s", f.Share, f.Title)
	}
}

// TestOneIndexForTwo: a page's count and its rows read the table for the same column. Either's index alone leaves half of the time.
func TestOneIndexForTwo(t *testing.T) {
	const count = "SELECT count(*) FROM sales WHERE stall = ?"
	run := func(column string) findings.Finding {
		b := New(8, 32*ms).CPU(2, 1.9, 1.8, 0.1, -1).Sample(9*time.Second, sqliteStack(listAt)...).
			Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, 32*ms, 3)
		n := int64(b.Requests())
		b.Asks(operation.Query, count, n, 16*ms, 1, Caller(1, 16*ms, sqliteStack(listAt)...)).Within(16*ms, 0, 1).SQLite("wal").
			Plan([]string{"SCAN sales"}, operation.SQLiteScan{Table: "sales", Rows: 30000, Columns: []string{"stall"},
				Equal: []string{"stall"}})
		b.Asks(operation.Query, sales, n, 15*ms, 20, Caller(1, 15*ms, sqliteStack("shop/store.(*Store).Page@store.go:70")...)).
			Within(15*ms, 0, 1).Plan([]string{"SCAN sales", "USE TEMP B-TREE FOR ORDER BY"},
			operation.SQLiteScan{Table: "sales", Rows: 30000,
				Columns: []string{column}, Equal: []string{column}, Sorts: []string{"id"}})
		found := Expect(t, slow.Query, b, "db-slow-query at store.go:40")
		if len(found) == 0 {
			t.FailNow()
		}
		return found[0]
	}
	both, one := run("stall"), run("owner")
	if both.Share < 0.9 || !strings.Contains(both.Remedy, "ON sales (stall, id)") || !has(both, "at store.go:70") {
		t.Errorf("one column: %.2f, %s", both.Share, both.Remedy)
	}
	if one.Share > 0.6 || !strings.Contains(one.Remedy, "ON sales (stall)") || one.GainCeiling >= both.GainCeiling {
		t.Errorf("two columns: %.2f, %s, %.2fx beside %.2fx", one.Share, one.Remedy, one.GainCeiling, both.GainCeiling)
	}
}

// Traces cut the longest waits, so the latency that the load sees beyond theirs is the wait of the
// slowest. Saturated CPUs make requests longer for the generator, too.
func TestWriterLockThatTracesCut(t *testing.T) {
	service := func(busy float64, cut int) *Builder {
		b := New(16, 20*ms).CPU(2, busy, 0.2, 0.1, -1).Sample(2*time.Second, sqliteStack(listAt)...).Wait(breakdown.StateRunning, 6*ms, 3)
		b.Wait(breakdown.StateSleep, 14*ms, 1, sqliteStack(listAt)...).Slow(breakdown.StateSleep, 900*ms, sqliteStack(listAt)...)
		b.Cut(cut).Late(900*ms, 0.05)
		return b.Asks(operation.Exec, book, int64(b.Requests()), 14*ms, 1, Caller(1, 14*ms, sqliteStack(listAt)...)).
			Within(ms, 22*ms, 1).SQLite("wal")
	}
	whole := Expect(t, database.WriterLock, service(0.4, 0), "db-writer-lock")
	missing := Expect(t, database.WriterLock, service(0.4, 30), "db-writer-lock")
	if len(whole) == 1 && len(missing) == 1 &&
		(!(missing[0].GainCeiling > 1.5*whole[0].GainCeiling) || !has(missing[0], "cut off the longest")) {
		t.Errorf("worth %.2fx, where traces cut the longest %.2fx: %+v", whole[0].GainCeiling, missing[0].GainCeiling, missing[0].Evidence)
	}
}

// TestUnpreparedSQLite: SQLite's parser takes the CPU.
func TestUnpreparedSQLite(t *testing.T) {
	b := onePool().Sample(6*time.Second, "modernc.org/sqlite/lib.Xsqlite3_prepare_v2",
		"modernc.org/sqlite.(*conn).prepareV2", "database/sql.(*DB).QueryContext", listAt)
	Expect(t, database.Unprepared, b, "db-unprepared at store.go:40")
	Expect(t, database.Unprepared, onePool())
}

// TestSortedByAnExpression: all rows are read to sort them by an expression. An index of the columns after it would change nothing.
func TestSortedByAnExpression(t *testing.T) {
	const list = "SELECT * FROM scans ORDER BY CASE status WHEN ? THEN ? ELSE ? END, id DESC LIMIT ?"
	b := New(8, 32*ms).CPU(2, 1.9, 1.8, 0.1, -1).Sample(9*time.Second, sqliteStack(listAt)...).
		Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, 32*ms, 3)
	b.Asks(operation.Query, list, int64(b.Requests()), 28*ms, 20, Caller(1, 28*ms, sqliteStack(listAt)...)).Within(28*ms, 0, 1).
		SQLite("wal").Plan([]string{"SCAN scans", "USE TEMP B-TREE FOR ORDER BY"},
		operation.SQLiteScan{Table: "scans", Rows: 15000, SortsBy: "CASE status WHEN ? THEN ? ELSE ? END"})
	if found := Expect(t, slow.Query, b, "db-slow-query at store.go:40"); len(found) == 1 &&
		(strings.Contains(found[0].Remedy, "CREATE INDEX") || !strings.Contains(found[0].Remedy, "a column of scans, written with")) {
		t.Error(found[0].Remedy)
	}
}

// TestSQLiteSums: three statements that sum up one table in a request have one remedy, though none of them takes most of the time.
func TestSQLiteSums(t *testing.T) {
	sums := func(each time.Duration, rows int64, tables ...string) *Builder {
		b := New(8, 32*ms).CPU(2, 1.9, 1.8, 0.1, -1).Sample(9*time.Second, sqliteStack(listAt)...).
			Sample(time.Second, "encoding/json.Marshal", "shop/web.Show@web.go:12").Wait(breakdown.StateRunning, 32*ms, 3)
		for i, table := range tables {
			column := string(rune('a' + i))
			b.Asks(operation.Query, "SELECT "+column+", count(*) FROM "+table+" GROUP BY "+column, int64(b.Requests()), each, 4,
				Caller(1, each, sqliteStack(fmt.Sprintf("shop/store.(*Store).List@store.go:4%d", i))...)).Within(each, 0, 1).SQLite("wal").
				Plan([]string{"SCAN " + table, "USE TEMP B-TREE FOR GROUP BY"}, operation.SQLiteScan{Table: table, Rows: rows})
		}
		return b
	}
	found := Expect(t, slow.Query, sums(10*ms, 30000, "sales", "sales", "sales"), "db-slow-query at store.go:40")
	if len(found) == 1 && (found[0].Share < 0.8 || !strings.HasPrefix(found[0].Title, "Summing up all 30,000 rows of sales") ||
		!strings.Contains(found[0].Remedy, "keep the sums") || !has(found[0], "another statement sums up the same table, at store.go:42")) {
		t.Errorf("%+v", found[0])
	}
	Expect(t, slow.Query, sums(10*ms, 30000, "sales", "stalls", "crates"))
	Expect(t, slow.Query, sums(10*ms, 300, "sales", "sales", "sales"))
	Expect(t, slow.Query, sums(4*ms, 30000, "sales", "sales", "sales"))
}
