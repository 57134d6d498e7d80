package suite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

func TestValid(t *testing.T) {
	if err := diagnose.Validate(suite.All()); err != nil {
		t.Fatal(err)
	}
}

const (
	ms      = time.Millisecond
	us      = time.Microsecond
	seqPlan = `[{"Plan":{"Node Type":"Limit","Total Cost":5400,"Plan Rows":10,"Plans":[{"Node Type":"Sort","Sort Key":["created_at DESC"],"Total Cost":5390,"Plan Rows":10,
		"Plans":[{"Node Type":"Seq Scan","Relation Name":"orders","Filter":"(uid = $1)","Total Cost":5380,"Plan Rows":10}]}]}}]`
	orders = "SELECT * FROM orders WHERE uid = $1 ORDER BY created_at DESC LIMIT 10"
)

// waiting is a service that leaves CPUs idle because its requests wait.
func waiting(share float64) *Builder {
	b := New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.2)
	b.Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).Counter(series.DBSessions, "", 2)
	b.Statement(orders, int64(b.Requests()), 60*us, 10, 6, IndexPlan)
	rest := time.Duration((1 - share) * float64(40*ms))
	return b.Wait(breakdown.StateRunning, rest/4, 3).Wait(breakdown.StateNetwork, rest*3/4, 1, Query()...)
}

// slowQuery saturates the host by a statement that scans.
func slowQuery() *Builder {
	b := New(64, 320*ms).CPU(2, 1.96, 0.1, 0.03, 1.8)
	b.Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).Counter(series.DBSessions, "", 2)
	b.Statement(orders, int64(b.Requests()), 12*ms, 10, 2600, seqPlan)
	b.Statement("SELECT * FROM items WHERE order_id = ANY($1)", int64(b.Requests()), 60*us, 20, 9, "")
	b.Wait(breakdown.StateRunning, 300*us, 3).Wait(breakdown.StateRunnable, 400*us, 3)
	return b.Wait(breakdown.StateNetwork, 250*ms, 2, Query()...).Busy(time.Second)
}

// nPlusOne reads each item separately, with a fast statement.
func nPlusOne() *Builder {
	b := New(64, 60*ms).CPU(2, 1.96, 0.9, 0.06, 0.98)
	b.Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).Counter(series.DBSessions, "", 2)
	b.Statement(orders, int64(b.Requests()), 60*us, 10, 6, IndexPlan)
	b.Statement("SELECT * FROM items WHERE order_id = $1", 10*int64(b.Requests()), 30*us, 2, 4, IndexPlan)
	b.Wait(breakdown.StateRunning, 900*us, 30).Wait(breakdown.StateRunnable, 12*ms, 30)
	return b.Wait(breakdown.StateNetwork, 40*ms, 11, Query()...).Busy(9 * time.Second)
}

// churn opens a connection for most requests.
func churn() *Builder {
	b := New(64, 60*ms).CPU(2, 1.95, 0.7, 0.06, 1.1)
	b.Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 0).Counter(series.DBSessions, "", 0.7*b.Requests())
	b.Statement(orders, int64(b.Requests()), 90*us, 10, 6, IndexPlan)
	b.Wait(breakdown.StateRunning, 900*us, 9).Wait(breakdown.StateRunnable, 8*ms, 9).Wait(breakdown.StateNetwork, 9*ms, 2, Query()...)
	b.Wait(breakdown.StateNetwork, 38*ms, 3, "internal/poll.runtime_pollWait", "net.(*conn).Read",
		"github.com/jackc/pgx/v5/pgconn.(*PgConn).peekMessage",
		"github.com/jackc/pgx/v5/pgconn.(*PgConn).scramAuth", "github.com/jackc/pgx/v5/pgconn.connectOne",
		"github.com/jackc/pgx/v5/pgconn.ConnectConfig",
		"github.com/jackc/pgx/v5.connect", "github.com/jackc/pgx/v5/stdlib.connector.Connect",
		"database/sql.(*DB).conn", "database/sql.(*DB).QueryContext", List)
	return b.Busy(7 * time.Second)
}

// rowLocks updates one row from all requests.
func rowLocks() *Builder {
	b := New(64, 200*ms).CPU(2, 0.8, 0.2, 0.1, 0.4)
	b.Gauge(series.DBMax, "", 100).Gauge(series.DBBlocked, "", 30).Gauge(series.DBBackends, series.Labels("state", "active"), 32)
	b.Gauge(series.DBWaits, series.Labels("event", "Lock:transactionid"), 29)
	b.Statement("UPDATE accounts SET balance = balance - $1 WHERE id = $2", int64(b.Requests()), 180*ms, 1, 5, "")
	b.Statement("COMMIT", int64(b.Requests()), 2*ms, 0, 0, "")
	return b.Wait(breakdown.StateRunning, 500*us, 3).Wait(breakdown.StateNetwork, 190*ms, 3, Query()...)
}

// cpuIn adds CPU outside requests to a healthy service, as a share of the whole.
func cpuIn(share float64, frames ...string) *Builder {
	return Healthy().Background(time.Duration(share/(1-share)*9.8*float64(time.Second)), frames...)
}

// cpuOn adds CPU of requests.
func cpuOn(share float64, frames ...string) *Builder {
	return Healthy().Sample(time.Duration(share/(1-share)*9.8*float64(time.Second)), frames...)
}

// allocation makes one place allocate nearly everything.
func allocation() *Builder {
	b := cpuIn(0.4, "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
	return b.Alloc(int64(b.Requests()), 300<<10*int64(b.Requests()), "bytes.growSlice", "bytes.(*Buffer).Write",
		"shop/orders.render@orders.go:130")
}

// assist makes requests help the collector, with allocations spread over the code.
func assist() *Builder {
	b := Healthy().Wait(breakdown.StateAssist, 6*ms, 2).Gauge("/gc/gogc:percent", "", 20).Counter("/gc/cycles/total:gc-cycles", "", 400)
	n := int64(b.Requests())
	for _, at := range []string{"shop/orders.a@orders.go:1", "shop/orders.b@orders.go:2", "shop/orders.c@orders.go:3"} {
		b.Alloc(n, 20<<10*n, "runtime.makeslice", at)
	}
	return b
}

// tail makes one request in a hundred wait.
func tail(state breakdown.State, frames ...string) *Builder {
	b := New(64, 3*ms).Rate(500).Late(83*ms, 0.011).CPU(2, 0.4, 0.2, 0.06, 0.1)
	b.Wait(breakdown.StateRunning, 400*us, 3).Wait(breakdown.StateNetwork, 900*us, 1, Query()...)
	return b.Slow(state, 80*ms, frames...)
}

// spread is a service without a database that uses all CPUs evenly.
func spread() *Builder {
	b := New(64, 16*ms).CPU(2, 1.98, 1.8, 0.15, -1)
	return b.Wait(breakdown.StateRunning, 500*us, 2).Wait(breakdown.StateRunnable, 15*ms, 3).Busy(18 * time.Second)
}

// TestDatabasesThatAreNotUsed: a binary may hold a driver that no request uses, or one whose server redline does not read.
func TestDatabasesThatAreNotUsed(t *testing.T) {
	b := func() *Builder {
		return New(64, 16*ms).Modules("gorm.io/gorm").CPU(2, 1.98, 1.8, 0.15, -1).Wait(breakdown.StateRunning, 500*us, 2)
	}
	asks := func(kind operation.Kind, frames ...string) *Builder {
		return b().Wait(breakdown.StateNetwork, ms, 1, frames...).Asks(kind, "get", 1000, us, 0, Caller(1, us, frames...))
	}
	const mysql = "github.com/go-sql-driver/mysql.(*mysqlConn).readPacket"
	for name, c := range map[string]struct {
		b   *Builder
		why string // of db-saturated; "" if it needs no data
	}{
		"unknown":        {b(), "they need --postgres"},
		"another server": {asks(operation.Redis, "net.(*conn).Read", "github.com/redis/go-redis/v9.(*Client).Process", List), ""},
		"MySQL":          {asks(operation.Query, "net.(*conn).Read", mysql, "database/sql.(*DB).QueryContext", List), "the service uses MySQL or MariaDB"},
	} {
		why := ""
		for _, n := range ExpectFirst(t, suite.All(), c.b, "cpu-saturated").NotJudged {
			if n.Cause == "db-saturated" {
				why = n.Why
			}
		}
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
}

// syncsUnderLock is a journal that writes and syncs under its lock, on CPUs that are half idle.
func syncsUnderLock(mutex []string) *Builder {
	fsync := []string{"syscall.Fsync", "internal/poll.(*FD).Fsync", "os.(*File).Sync", "shop/wal.(*Log).Append@wal.go:30"}
	write := []string{"syscall.write", "internal/poll.(*FD).Write", "os.(*File).Write", "shop/wal.(*Log).Append@wal.go:29"}
	held := func(ns time.Duration, state breakdown.State, stack []string) breakdown.Chain {
		link := breakdown.Link{State: state, Request: true, Stack: append(Stack(stack...), Serving()...)}
		return breakdown.Chain{NS: int64(ns), Links: []breakdown.Link{link}}
	}
	return New(16, 7500*us).CPU(2, 0.97, 0.88, 0.05, 0).Wait(breakdown.StateRunning, 30*us, 3).
		Wait(breakdown.StateSyscall, 300*us, 1, fsync...).
		Wait(breakdown.StateLock, 7100*us, 1, append(mutex, "shop/wal.(*Log).Append@wal.go:28")...).
		Behind(held(5*ms, breakdown.StateSyscall, fsync), held(2*ms, breakdown.StateRunning, write)).
		WakerRequest("sync.(*Mutex).Unlock", "shop/wal.(*Log).Append@wal.go:31").
		Sample(8*time.Second, write...).Sample(2*time.Second, Route)
}

// The whole suite over one fault at a time: the first finding must name it, and
// the near misses beside it must not be named.
func TestFirstFinding(t *testing.T) {
	mutex := []string{"sync.runtime_SemacquireMutex", "internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock"}
	cache := "shop/cache.(*Cache).Get@cache.go:41"
	for _, c := range []struct {
		name string
		b    *Builder
		want string
	}{
		{"healthy and saturated", Healthy(), ""},
		{"healthy and idle", Idle(), ""},
		{"healthy, module not known", Healthy().Module(""), ""},
		{"pool of 2, CPUs idle", waiting(0.87).Wait(breakdown.StateSelect, 35*ms, 1, PoolWait()...).Gauge(series.PoolMax, "", 2), "db-pool-wait"},
		{"pgxpool, CPUs idle", waiting(0.8).Wait(breakdown.StateSelect, 32*ms, 1, "runtime.selectgo",
			"golang.org/x/sync/semaphore.(*Weighted).Acquire",
			"github.com/jackc/puddle/v2.(*Pool[...]).acquire", "github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire",
			"github.com/jackc/pgx/v5/pgxpool.(*Pool).Query", List), "db-pool-wait"},
		{"pool queue on busy CPUs", Healthy().Wait(breakdown.StateSelect, 20*ms, 1, PoolWait()...), ""},
		{"no index", slowQuery(), "db-slow-query"},
		{"no index, pool queue", slowQuery().Wait(breakdown.StateSelect, 60*ms, 1, PoolWait()...), "db-slow-query"},
		{"n plus one", nPlusOne(), "db-n-plus-one"},
		{"churn", churn(), "db-pool-churn"},
		{"row locks", rowLocks(), "db-lock-wait"},
		{"mutex", waiting(0.8).Wait(breakdown.StateLock, 32*ms, 1, append(mutex, cache)...), "lock-contention"},
		{"readers behind a writer", waiting(0.8).Wait(breakdown.StateLock, 32*ms, 1, "sync.runtime_SemacquireRWMutexR", "sync.(*RWMutex).RLock", cache), "rwlock-writer"},
		{"mutex within a logger", waiting(0.6).Wait(breakdown.StateLock, 24*ms, 1, append(mutex, "log.(*Logger).output", "log.Printf", "shop/web.logRequests@web.go:20")...).Busy(3 * time.Second), "cpu-logging"},
		{"worker queue", waiting(0.8).Wait(breakdown.StateChannel, 32*ms, 1, "runtime.chansend1", cache).Waker("runtime.chanrecv1", "shop/cache.(*writer).loop@cache.go:90"), "channel-bottleneck"},
		{"channel as semaphore", waiting(0.8).Wait(breakdown.StateChannel, 32*ms, 1, "runtime.chansend1", cache).WakerRequest("runtime.chanrecv1", cache), "concurrency-limit"},
		{"semaphore", waiting(0.8).Wait(breakdown.StateSelect, 32*ms, 1, "runtime.selectgo", "golang.org/x/sync/semaphore.(*Weighted).Acquire", cache), "concurrency-limit"},
		{"semaphore on busy CPUs", Healthy().Wait(breakdown.StateSelect, 12*ms, 1, "runtime.selectgo", "golang.org/x/sync/semaphore.(*Weighted).Acquire", cache), ""},
		{"fan-out of its own", waiting(0.8).Wait(breakdown.StateChannel, 32*ms, 1, "runtime.chanrecv1", cache).Waker("runtime.chansend1", "shop/cache.(*Cache).Get.func1@cache.go:44"), "generator-limited"},
		{"sleep", waiting(0.8).Wait(breakdown.StateSleep, 32*ms, 1, "time.Sleep", cache), "sleep"},
		{"rate limiter", waiting(0.8).Wait(breakdown.StateSelect, 32*ms, 1, "runtime.selectgo", "golang.org/x/time/rate.(*Limiter).wait", "golang.org/x/time/rate.(*Limiter).Wait", cache), "sleep"},
		{"timer channel", waiting(0.8).Wait(breakdown.StateChannel, 32*ms, 1, "runtime.chanrecv1", cache).Waker(breakdown.WakerTimer), "sleep"},
		{"slow downstream", waiting(0.8).Wait(breakdown.StateSelect, 32*ms, 1, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Transport).roundTrip", "net/http.(*Client).Do", cache), "downstream-slow"},
		{"slow Redis", waiting(0.8).Wait(breakdown.StateNetwork, 32*ms, 1, "internal/poll.runtime_pollWait", "net.(*conn).Read", "github.com/redis/go-redis/v9/internal/proto.(*Reader).ReadLine", "github.com/redis/go-redis/v9.(*Client).Get", cache), "downstream-slow"},
		{"client without keep-alive", waiting(0.6).Wait(breakdown.StateSelect, 24*ms, 1, "runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Transport).roundTrip", "net/http.(*Client).Do", cache), "http-client-churn"},
		{"slow client", waiting(0.8).Wait(breakdown.StateNetwork, 32*ms, 1, "internal/poll.runtime_pollWait", "net.(*conn).Read", "net/http.(*connReader).Read", "net/http.(*body).Read", "io.ReadAll", cache), "generator-limited"},
		{"fsync", waiting(0.8).Wait(breakdown.StateSyscall, 32*ms, 1, "syscall.Fsync", "internal/poll.(*FD).Fsync", "os.(*File).Sync", "shop/wal.(*Log).Append@wal.go:30"), "disk-sync"},
		{"fsync under a lock", syncsUnderLock(mutex), "disk-sync"},
		{"cgo", waiting(0.8).Wait(breakdown.StateSyscall, 32*ms, 1, "runtime.cgocall", "shop/image._Cfunc_resize", "shop/image.Resize@image.go:9"), "blocking-syscall"},
		{"tail asleep", tail(breakdown.StateSleep, "time.Sleep", cache), "sleep"},
		{"throttled", Healthy().CPU(2, 0.9, 0.49, 0.2, 0.1).Gauge(series.CgroupQuota, "", 0.5).Counter(series.CgroupThrottled, "", 6e9).Counter(series.CgroupThrottles, "", 90), "cpu-throttled"},
		{"GOMAXPROCS=1", New(64, 20*ms).CPU(4, 1.6, 0.98, 0.3, 0.3).Gauge("/sched/gomaxprocs:threads", "", 1).Wait(breakdown.StateRunnable, 18*ms, 9).Wait(breakdown.StateRunning, 1*ms, 9), "gomaxprocs-mismatch"},
		{"descriptors", Healthy().Gauge(series.ProcessFDs, "", 1010), "fd-limit"},
		{"few connections", New(1, 2*ms).CPU(2, 0.5, 0.2, 0.1, 0.1).Wait(breakdown.StateRunning, 300*us, 3), "generator-limited"},
		{"regexp compiled", cpuOn(0.3, "regexp/syntax.Parse", "regexp.compile", "regexp.Compile", "regexp.MatchString", "shop/web.valid@web.go:70"), "cpu-regexp-compile"},
		{"regexp matched", cpuOn(0.3, "regexp.(*Regexp).backtrack", "regexp.(*Regexp).MatchString", "shop/web.valid@web.go:70"), "cpu-regexp-match"},
		{"JSON", cpuOn(0.3, "reflect.Value.Field", "encoding/json.structEncoder.encode", "encoding/json.Marshal", Route), "cpu-json"},
		{"logging", cpuOn(0.3, "syscall.write", "os.(*File).Write", "github.com/sirupsen/logrus.(*Entry).write", "github.com/sirupsen/logrus.Info", "shop/web.logRequests@web.go:20"), "cpu-logging"},
		{"gin's logger", cpuOn(0.3, "syscall.write", "os.(*File).Write", "fmt.Fprint", "github.com/gin-gonic/gin.LoggerWithConfig.func1", "github.com/gin-gonic/gin.(*Context).Next"), "cpu-logging"},
		{"bcrypt", cpuOn(0.4, "golang.org/x/crypto/blowfish.encryptBlock", "golang.org/x/crypto/bcrypt.CompareHashAndPassword", "shop/web.login@web.go:90"), "cpu-crypto"},
		{"gzip", cpuOn(0.4, "compress/flate.(*compressor).deflate", "compress/gzip.(*Writer).Write", "shop/web.gz@web.go:95"), "cpu-compress"},
		{"formatting", cpuOn(0.4, "fmt.(*pp).printArg", "fmt.Sprintf", "shop/orders.key@orders.go:12"), "cpu-format"},
		{"own loop", cpuOn(0.5, "shop/price.Round@price.go:17", "shop/price.Quote@price.go:44", Route), "cpu-hot-function"},
		{"allocation", allocation(), "alloc-hot"},
		{"assist", assist(), "gc-assist"},
		{"collector", cpuIn(0.5, "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker"), "gc-cpu"},
		{"goroutines", cpuOn(0.3, "runtime.malg", "runtime.newproc1", "runtime.newproc", "shop/orders.fan@orders.go:90").Spawned(50), "goroutine-churn"},
		{"background hog", cpuIn(0.6, "shop/stats.(*Ticker).aggregate@stats.go:55", "shop/stats.(*Ticker).run@stats.go:20").Wait(breakdown.StateRunnable, 20*ms, 9), "background-work"},
		{"generator's verdict", Healthy().Summary(record.Summary{Generator: record.Generator{WhyInvalid: []string{"lag"}}}), "generator-saturated"},
		{"Little's law broken", New(64, 4*ms).CPU(2, 1.9, 0.3, 1.5, 0.1).Achieved(5000), "generator-saturated"},
		{"spread over all CPUs", spread(), "cpu-saturated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ExpectFirst(t, suite.All(), c.b, c.want)
		})
	}
}
