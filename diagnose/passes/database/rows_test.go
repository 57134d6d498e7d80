package database_test

import (
	"math"
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// TestManyRows: what the service spends on reading the rows of a statement that returns too many is the
// statement's, and so is what it allocates for them. A page's rows are not too many, and those that OFFSET
// skips are not read by the service.
func TestManyRows(t *testing.T) {
	const (
		all  = `SELECT * FROM "orders" ORDER BY created_at`
		read = "shop/store.(*Store).Recent@read.go:51"
	)
	scan := []string{"shop/store.scan@read.go:40", read} // a helper
	reading := func(text string, rows float64) *Builder {
		b := New(8, 40*ms).CPU(2, 1.98, 1.3, 0.08, 0.6).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0)
		n := int64(b.Requests())
		b.Wait(breakdown.StateRunning, 10*ms, 3).Wait(breakdown.StateNetwork, 6*ms, 1, queryAt(read)...)
		b.Statement(text, n, 4*ms, rows, 60, "")
		b.Asks(operation.Query, text, n, 14*ms, rows, Caller(1, 14*ms, "database/sql.(*DB).QueryContext", read))
		b.Within(9*ms, 4*ms, 1)
		b.Sample(4000*ms, append([]string{"runtime.mallocgc", "database/sql.(*Rows).Scan"}, scan...)...)
		b.Sample(1000*ms, append([]string{"runtime.mallocgc", "runtime.growslice"}, scan...)...)
		b.Sample(1000*ms, "runtime.mallocgc", "runtime.growslice", read)
		b.Sample(1000*ms, "encoding/json.Marshal", "shop/web.list@list.go:9")
		b.Alloc(90_000_000, 90<<30, append([]string{"runtime.growslice"}, scan...)...)
		return b.Alloc(1000, 1<<20, "encoding/json.Marshal", "shop/web.list@list.go:9")
	}
	found := ExpectAll(t, suite.All(), reading(all, 5000), "db-slow-query at read.go:51")
	if len(found) == 1 {
		f := found[0]
		if f.Share < 0.75 || f.Share > 0.95 || f.GainCeiling < 4 || f.GainCeiling > 10 {
			t.Errorf("%.2f of %s is worth %.2fx", f.Share, f.ShareOf, f.GainCeiling)
		}
		if !has(f, "86 % of the service's CPU on reading its rows") || !strings.Contains(f.Title, "5,000 rows per call") ||
			!strings.Contains(f.Title, "allocates most") {
			t.Errorf("%s: %v", f.Title, f.Evidence)
		}
	}
	ExpectAll(t, suite.All(), reading(all, 20), "alloc-hot at read.go:40")
	ExpectAll(t, suite.All(), reading(all+" LIMIT $1 OFFSET $2", 5000), "alloc-hot at read.go:40")
}

// TestRowsOfABorrowedName: the compiler names a library's closure after the function of the service's into which what made it was inlined.
// No function of the service is on its goroutine's stack.
func TestRowsOfABorrowedName(t *testing.T) {
	const read = "shop/store.(*Store).Recent"
	b := New(8, 40*ms).CPU(2, 1.98, 1.3, 0.08, 0.6).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0)
	b.Wait(breakdown.StateRunning, 10*ms, 3).Wait(breakdown.StateNetwork, 20*ms, 1, queryAt(read+"@read.go:51")...)
	n := int64(b.Requests())
	b.Statement("SELECT * FROM orders", n, 4*ms, 5000, 60, "").Asks(operation.Query, "SELECT * FROM orders", n, 14*ms, 5000,
		Caller(1, 14*ms, "database/sql.(*DB).QueryContext", read+"@read.go:51")).Within(9*ms, 4*ms, 1)
	b.Sample(time.Second, "runtime.mallocgc", "database/sql.(*Rows).Scan", read+"@read.go:51").
		Background(time.Second, "lib.test/pump.run", read+".func1@/root/go/pkg/mod/lib.test/pump@v1.0.0/pump.go:9")
	Expect(t, slow.Query, b, "db-slow-query")
}

// TestGoroutinesOfCalls: goroutines that a driver starts for each call are the calls' consequence; those that the
// service starts elsewhere are not.
func TestGoroutinesOfCalls(t *testing.T) {
	const insert, other = "INSERT INTO events (kind) VALUES ($1)", "shop/feed.fan@feed.go:90"
	writing := func(start ...string) *Builder {
		b := New(8, 40*ms).CPU(2, 1.98, 1.1, 0.08, 0.7).Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0)
		n := int64(b.Requests())
		b.Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateRunnable, 16*ms, 90)
		b.Wait(breakdown.StateNetwork, 20*ms, 97, queryAt(List)...).Statement(insert, 97*n, 30*us, 1, 4, "")
		b.Sample(1000*ms, append([]string{"runtime.malg", "runtime.newproc1", "runtime.newproc"}, start...)...)
		b.Sample(3000*ms, "syscall.write", "database/sql.(*DB).ExecContext", List)
		return b.Spawned(100).Helper(start[0]+".func1", 100, start...)
	}
	const watch = "github.com/jackc/pgx/v5/pgconn/ctxwatch.(*ContextWatcher).Watch"
	ExpectAll(t, suite.All(), writing(watch, "database/sql.(*DB).ExecContext", List), "db-unbatched-write at orders.go:41")
	ExpectAll(t, suite.All(), writing(other), "db-unbatched-write at orders.go:41", "goroutine-churn at feed.go:90")
}

// TestPageAndItsCount: a page and the count of its rows read the same rows, on a server whose plans are not read. The page is named,
// with the index that its text asks for, unless the count takes most.
func TestPageAndItsCount(t *testing.T) {
	const (
		same  = " FROM posts WHERE blog = ? AND pinned IS NULL AND created <= NOW()"
		page  = "SELECT id, title" + same + " ORDER BY created DESC LIMIT ?"
		count = "SELECT COUNT(*)" + same
		get   = "shop/store.(*Store).Posts@posts.go:82"
		total = "shop/store.(*Store).Total@posts.go:38"
	)
	reading := func(pages, counts time.Duration) *Builder {
		b := New(8, 40*ms).CPU(2, 0.6, 0.2, 0.1, math.NaN()).Modules("github.com/go-sql-driver/mysql")
		b.Wait(breakdown.StateNetwork, pages, 1, queryAt(get)...).Wait(breakdown.StateNetwork, counts, 1, queryAt(total)...)
		n := int64(b.Requests())
		b.Asks(operation.Query, page, n, pages, 10, Caller(1, pages, "database/sql.(*DB).QueryContext", get)).Within(0, pages, 1)
		return b.Asks(operation.Query, count, n, counts, 1, Caller(1, counts, "database/sql.(*DB).QueryContext", total)).
			Within(0, counts, 1)
	}
	found := ExpectAll(t, suite.All(), reading(14*ms, 20*ms), "db-slow-query at posts.go:82")
	if len(found) == 1 {
		f := found[0]
		if f.Share < 0.8 || !strings.Contains(f.Remedy, "index of posts begins with (blog, pinned, created)") ||
			!has(f, "another statement reads the same rows, at posts.go:38") {
			t.Errorf("%.2f: %s %v", f.Share, f.Remedy, f.Evidence)
		}
	}
	ExpectAll(t, suite.All(), reading(3*ms, 30*ms), "db-slow-query at posts.go:38")
}

// TestSearchByLike: an index helps LIKE only if the pattern's beginning is known, and where the server was not read nobody saw it.
func TestSearchByLike(t *testing.T) {
	const (
		text   = "SELECT * FROM `nodes` WHERE 1 = 1 AND name LIKE ? LIMIT ?"
		search = "shop/store.(*Store).Search@nodes.go:64"
	)
	b := New(8, 40*ms).CPU(2, 0.6, 0.2, 0.1, math.NaN()).Modules("github.com/go-sql-driver/mysql").
		Wait(breakdown.StateNetwork, 36*ms, 1, queryAt(search)...)
	b.Asks(operation.Query, text, int64(b.Requests()), 36*ms, 10, Caller(1, 36*ms, "database/sql.(*DB).QueryContext", search)).
		Within(0, 36*ms, 1)
	if found := Expect(t, slow.Query, b, "db-slow-query at nodes.go:64"); len(found) == 1 &&
		!strings.Contains(found[0].Remedy, "FULLTEXT and MATCH ... AGAINST") {
		t.Error(found[0].Remedy)
	}
}

// TestCountedForEach: a count for each of many keys is one count by key.
func TestCountedForEach(t *testing.T) {
	n := int64(twoPlaces().Requests())
	b := twoPlaces().Statement("SELECT count(*) FROM scenes WHERE site = $1", 200*n, 90*us, 1, 4, "")
	if found := Expect(t, database.NPlusOne, b, "db-n-plus-one at read.go:82"); len(found) == 1 &&
		!strings.Contains(found[0].Remedy, "GROUP BY key") {
		t.Error(found[0].Remedy)
	}
}
