package diagnosetest

import (
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
)

// Frames that several fixtures share: a repository method of the user, with
// database/sql on pgx below it.
const (
	List  = "shop/orders.(*Repository).List@orders.go:41"
	Route = "shop/orders.(*API).Query@api.go:88"
)

// Query is the inner end of a stack that waits for an answer from PostgreSQL.
func Query() []string {
	return []string{"internal/poll.runtime_pollWait", "net.(*conn).Read", "github.com/jackc/pgx/v5/pgconn.(*PgConn).peekMessage",
		"github.com/jackc/pgx/v5/pgconn.(*ResultReader).readUntilRowDescription", "github.com/jackc/pgx/v5.(*Conn).Query",
		"github.com/jackc/pgx/v5/stdlib.(*Conn).QueryContext", "database/sql.(*DB).queryDC", "database/sql.(*DB).QueryContext", List, Route}
}

// PoolWait is the inner end of a stack that waits for a connection of
// database/sql.
func PoolWait() []string {
	return []string{"runtime.selectgo", "database/sql.(*DB).conn", "database/sql.(*DB).query",
		"database/sql.(*DB).QueryContext", List, Route}
}

// IndexPlan is the plan of a statement that uses an index.
const IndexPlan = `[{"Plan":{"Node Type":"Index Scan","Relation Name":"orders","Index Name":"orders_uid",` +
	`"Index Cond":"(uid = $1)","Total Cost":8.44,"Plan Rows":10}}]`

// Healthy is a service with PostgreSQL and the generator on one host of two CPUs,
// under a closed loop that saturates them: requests queue for the CPU, for a
// connection of a bounded pool and for the database, because they have to queue
// somewhere. Nothing is wrong with it.
func Healthy() *Builder {
	b := New(64, 16*time.Millisecond).CPU(2, 1.96, 0.98, 0.26, 0.66)
	b.Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).Gauge(series.DBBackends, series.Labels("state", "active"), 3)
	b.Counter(series.DBSessions, "", 2).Gauge(series.PoolMax, "", 16).Gauge(series.PoolInUse, "", 15)
	b.Gauge(series.ProcessFDs, "", 90).Gauge(series.ProcessFDLimit, "", 1024)
	b.Statement("SELECT * FROM orders WHERE uid = $1 ORDER BY created_at DESC LIMIT 10", int64(b.Requests()),
		60*time.Microsecond, 10, 6, IndexPlan)
	b.Statement("SELECT * FROM items WHERE order_id = ANY($1)", int64(b.Requests()), 40*time.Microsecond, 20, 9, "")
	b.Wait(breakdown.StateRunning, 300*time.Microsecond, 8).Wait(breakdown.StateRunnable, 5*time.Millisecond, 8)
	b.Wait(breakdown.StateNetwork, 5*time.Millisecond, 2, Query()...).Wait(breakdown.StateSelect, 4*time.Millisecond, 0.8, PoolWait()...)
	b.Wait(breakdown.StateAssist, 100*time.Microsecond, 0.1)
	return b.Busy(9800 * time.Millisecond)
}

// Idle is the same service at a rate that it sustains easily: half of the request
// is the database's answer, and nothing is wrong.
func Idle() *Builder {
	b := New(64, 1500*time.Microsecond).Rate(400).CPU(2, 0.35, 0.15, 0.06, 0.1)
	b.Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).Counter(series.DBSessions, "", 0)
	b.Gauge(series.ProcessFDs, "", 90).Gauge(series.ProcessFDLimit, "", 1024)
	b.Statement("SELECT * FROM orders WHERE uid = $1 ORDER BY created_at DESC LIMIT 10", 4000, 60*time.Microsecond, 10, 6, IndexPlan)
	b.Wait(breakdown.StateRunning, 400*time.Microsecond, 3).Wait(breakdown.StateRunnable, 60*time.Microsecond, 3)
	b.Wait(breakdown.StateNetwork, 700*time.Microsecond, 2, Query()...)
	return b.Busy(1500 * time.Millisecond)
}

// Busy adds CPU time, spread as in healthy services of this kind.
func (b *Builder) Busy(total time.Duration) *Builder {
	part := func(percent int) time.Duration { return total * time.Duration(percent) / 100 }
	b.Sample(part(7), "encoding/json.(*encodeState).marshal", "encoding/json.Marshal", "github.com/gin-gonic/gin.(*Context).JSON", Route)
	b.Sample(part(3), "internal/poll.(*FD).Write", "os.(*File).Write", "log/slog.(*Logger).Info", "shop/web.logRequests@web.go:20")
	b.Sample(part(5), "crypto/internal/fips140/sha256.block", "crypto/hmac.(*hmac).Write",
		"github.com/golang-jwt/jwt/v5.(*Parser).Parse", "shop/web.auth@web.go:61")
	b.Sample(part(6), "fmt.(*pp).doPrintf", "fmt.Sprintf", "shop/orders.key@orders.go:12")
	b.Sample(part(28), "github.com/jackc/pgx/v5/pgtype.(*Map).Scan", "database/sql.(*Rows).Scan", List, Route)
	b.Sample(part(4), "runtime.mapaccess2", "shop/orders.total@orders.go:70", Route)
	b.Sample(part(3), "shop/web.route@web.go:33")
	b.Sample(part(18), "syscall.Syscall", "internal/poll.(*FD).Write", "net.(*conn).Write",
		"net/http.checkConnErrorWriter.Write", "bufio.(*Writer).Flush")
	b.Sample(part(6), "runtime.mallocgc", "net/http.(*Request).WithContext")
	b.Background(part(9), "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
	b.Background(part(11), "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall")
	n := int64(b.Requests())
	b.Alloc(12*n, 2200*n, "bytes.growSlice", "encoding/json.Marshal", Route)
	b.Alloc(30*n, 2600*n, "github.com/jackc/pgx/v5.(*baseRows).Scan", List, Route)
	return b.Alloc(20*n, 2400*n, "net/http.readRequest")
}
