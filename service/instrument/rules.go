package instrument

import "strings"

// rules are the packages that are instrumented, by import path. The kinds and flags are
// those of probe/operations, which the wrappers cannot import: a test compares the
// numbers with its constants.
var rules = map[string]rule{
	"database/sql":                    sqlRule,
	"github.com/jackc/pgx/v5":         pgxRule("baseRows"),
	"github.com/jackc/pgx/v5/pgxpool": pgxpoolRule,
	"net/http":                        httpRule,
	"google.golang.org/grpc":          grpcRule,
	"github.com/redis/go-redis/v9":    redisRule,
	"github.com/jackc/pgx/v4":         pgxRule("connRows"),
	"github.com/jackc/pgx/v4/pgxpool": pgxpoolRule,
	"github.com/redis/go-redis/v8":    redisRule,
	"github.com/go-redis/redis/v8":    redisRule,

	"github.com/cloudwego/hertz/pkg/route": hertzRule,
}

// sqlRule is database/sql, and so all of its drivers. The text of a statement is known
// where its connection is, in queryDC and execDC, and in Stmt. A statement that returns
// rows lasts until they are closed.
var sqlRule = rule{
	name: "sql", imports: []string{"sync/atomic", "time"}, extra: sqlExtra, pool: "sql", identifies: true,
	edits: []edit{
		{structure: "Rows", fields: "redline redlineSpan"},
		{structure: "Tx", fields: "redline redlineSpan"},
		{structure: "driverConn", fields: "redline redlineSpan"},
		{receiver: "*DB", function: "conn", types: map[string]string{"$r1": "*driverConn", "$r2": "error"}, body: `
			op, start := redlineStart(4, "", "")
			before := redlineClock(op)
			$call
			redlineAcquired($r1, $r2, op, start, before)`},
		{receiver: "*driverConn", function: "releaseConn", body: `
			op, held, _ := $recv.redline.take()
			$call
			redlineStop(op, held, 0, 8)`},
		{receiver: "*DB", function: "queryDC", types: map[string]string{"$5": "string", "$6": "[]any", "$r1": "*Rows", "$r2": "error"}, body: `
			op, start := redlineStart(1, $5, "")
			op = redlineCall(op, $5, $6)
			$call
			redlineOpen($r1, $r2, op, start)`},
		{receiver: "*DB", function: "execDC", types: map[string]string{"$4": "string", "$r2": "error"}, body: `
			op, start := redlineStart(2, $4, "")
			$call
			redlineStop(op, start, 0, redlineFailed($r2))`},
		{receiver: "*DB", function: "prepareDC", types: map[string]string{"$5": "string", "$r2": "error"}, body: `
			op, start := redlineStart(3, $5, "")
			$call
			redlineStop(op, start, 0, redlineFailed($r2))`},
		{receiver: "*Stmt", function: "QueryContext", types: map[string]string{"$2": "...any", "$r1": "*Rows", "$r2": "error"}, body: `
			op, start := redlineStart(1, $recv.query, "")
			op = redlineCall(op, $recv.query, $2)
			$call
			redlineOpen($r1, $r2, op, start)`},
		{receiver: "*Stmt", function: "ExecContext", types: map[string]string{"$r2": "error"}, body: `
			op, start := redlineStart(2, $recv.query, "")
			$call
			redlineStop(op, start, 0, redlineFailed($r2))`},
		{receiver: "*Rows", function: "Next", types: map[string]string{"$r1": "bool"}, body: `
			$call
			if $r1 {
				$recv.redline.rows.Add(1)
			}`},
		{receiver: "*Rows", function: "close", types: map[string]string{"$1": "error"}, body: `
			$call
			op, start, rows := $recv.redline.take()
			redlineStop(op, start, rows, redlineFailed($1))`},
		{receiver: "*DB", function: "beginDC", types: map[string]string{"$r1": "*Tx", "$r2": "error"}, body: `
			op, start := redlineStart(5, "", "")
			$call
			if $r2 != nil {
				redlineStop(op, start, 0, 1)
			} else {
				$r1.redline.set(op, start)
			}`},
		{receiver: "*Tx", function: "close", types: map[string]string{"$1": "error"}, body: `
			$call
			op, start, _ := $recv.redline.take()
			redlineStop(op, start, 0, redlineFailed($1))`},
		{structure: "DB", fields: "redlineShown redlineShown"},
		{function: "OpenDB", types: map[string]string{"$r1": "*DB"}, body: `
			$call
			$r1.redlineShown.show($r1.redlineFigures)`},
		{receiver: "*DB", function: "Close", body: `
			$recv.redlineShown.hide()
			$call`},
	},
}

const sqlExtra = `
// redlineSpan is an operation that continues beyond the call that began it. Another
// goroutine may end it: the one that waits for the context's end.
type redlineSpan struct {
	op, start, rows atomic.Int64
}

func (s *redlineSpan) set(op uint64, start int64) {
	s.start.Store(start)
	s.op.Store(int64(op))
}

func (s *redlineSpan) take() (op uint64, start, rows int64) {
	op = uint64(s.op.Swap(0))
	return op, s.start.Load(), s.rows.Load()
}

func redlineClock(op uint64) time.Time {
	if op == 0 {
		return time.Time{}
	}
	return nowFunc()
}

// redlineFigures leaves out how many connections were acquired: the pool does not count them.
func (db *DB) redlineFigures(f *[7]float64) {
	s := db.Stats()
	f[0], f[1], f[2] = float64(s.InUse), float64(s.Idle), float64(s.MaxOpenConnections)
	f[4], f[5] = float64(s.WaitCount), float64(s.WaitDuration)
	f[6] = float64(s.MaxIdleClosed + s.MaxIdleTimeClosed + s.MaxLifetimeClosed)
}

// redlineAcquired ends the wait for a connection, and begins its holding.
func redlineAcquired(dc *driverConn, err error, op uint64, start int64, before time.Time) {
	if op == 0 {
		return
	}
	flags := redlineFailed(err)
	if err == nil && !dc.createdAt.Before(before) {
		flags |= 2
	}
	redlineStop(op, start, 0, flags)
	if err == nil {
		_, now := redlineStart(0, "", "")
		dc.redline.set(op, now)
	}
}

func redlineOpen(rows *Rows, err error, op uint64, start int64) {
	if err != nil {
		redlineStop(op, start, 0, 1)
		return
	}
	rows.redline.set(op, start)
}
`

// pgxRule is pgx by itself, whose rows have a type of another name in each version. Below database/sql (pgx/stdlib)
// the probe ignores it.
func pgxRule(rows string) rule {
	return rule{name: "pgx", identifies: true, edits: []edit{
		{structure: rows, fields: "redlineOp uint64; redlineAt int64"},
		{receiver: "*Conn", function: "Query",
			types: map[string]string{"$2": "string", "$3": "...any", "$r1": "Rows", "$r2": "error"}, body: `
			op, start := redlineStart(1, $2, "")
			op = redlineCall(op, $2, $3)
			$call
			if rows, ok := $r1.(*` + rows + `); ok && $r2 == nil && !rows.closed {
				rows.redlineOp, rows.redlineAt = op, start
			} else {
				redlineStop(op, start, 0, redlineFailed($r2))
			}`},
		{receiver: "*" + rows, function: "Close", body: `
			$call
			op := $recv.redlineOp
			$recv.redlineOp = 0
			redlineStop(op, $recv.redlineAt, int64($recv.rowCount), redlineFailed($recv.err))`},
		{receiver: "*Conn", function: "Exec", types: map[string]string{"$2": "string", "$r2": "error"}, body: `
			op, start := redlineStart(2, $2, "")
			$call
			redlineStop(op, start, $r1.RowsAffected(), redlineFailed($r2))`},
		{receiver: "*Conn", function: "Prepare", types: map[string]string{"$3": "string", "$r2": "error"}, body: `
			op, start := redlineStart(3, $3, "")
			$call
			redlineStop(op, start, 0, redlineFailed($r2))`},
		{receiver: "*Conn", function: "SendBatch", types: map[string]string{"$2": "*Batch"}, body: `
			op, start := redlineStart(7, "batch", "")
			$call
			redlineStop(op, start, 0, 0)`, optional: true},
		{receiver: "*Conn", function: "CopyFrom", types: map[string]string{"$2": "Identifier", "$r1": "int64", "$r2": "error"}, body: `
			op, start := redlineStart(8, "COPY ", $2.Sanitize())
			$call
			redlineStop(op, start, $r1, redlineFailed($r2))`, optional: true},
	}}
}

var pgxpoolRule = rule{
	name: "pgxpool", imports: []string{"time"}, pool: "pgxpool", extra: `
// redlineFigures counts the acquisitions that found no idle connection as waits, and the
// time of all as theirs: the pool reports no other.
func (p *Pool) redlineFigures(f *[7]float64) {
	s := p.Stat()
	f[0], f[1], f[2] = float64(s.AcquiredConns()), float64(s.IdleConns()), float64(s.MaxConns())
	f[3], f[4], f[5] = float64(s.AcquireCount()), float64(s.EmptyAcquireCount()), float64(s.AcquireDuration())
}

func redlineClock(op uint64) time.Time {
	if op == 0 {
		return time.Time{}
	}
	return time.Now()
}

func redlineAcquired(c *Conn, err error, op uint64, start int64, before time.Time) {
	if op == 0 {
		return
	}
	flags := redlineFailed(err)
	if err == nil && !c.res.CreationTime().Before(before) {
		flags |= 2
	}
	redlineStop(op, start, 0, flags)
	if err == nil {
		c.redlineOp = op
		_, c.redlineAt = redlineStart(0, "", "")
	}
}
`,
	edits: []edit{
		{structure: "Conn", fields: "redlineOp uint64; redlineAt int64"},
		{structure: "Pool", fields: "redlineShown redlineShown"},
		// v5, then v4
		{function: "NewWithConfig", types: map[string]string{"$r1": "*Pool", "$r2": "error"}, body: poolMade, optional: true},
		{function: "ConnectConfig", types: map[string]string{"$r1": "*Pool", "$r2": "error"}, body: poolMade, optional: true},
		{receiver: "*Pool", function: "Close", body: `
			$recv.redlineShown.hide()
			$call`},
		{receiver: "*Pool", function: "Acquire", types: map[string]string{"$r1": "*Conn", "$r2": "error"}, body: `
			op, start := redlineStart(4, "", "")
			before := redlineClock(op)
			$call
			redlineAcquired($r1, $r2, op, start, before)`},
		{receiver: "*Conn", function: "Release", body: `
			op := $recv.redlineOp
			$recv.redlineOp = 0
			held := $recv.redlineAt
			$call
			redlineStop(op, held, 0, 8)`},
	},
}

// poolMade shows a pool from its constructor on.
const poolMade = `
	$call
	if $r2 == nil {
		$r1.redlineShown.show($r1.redlineFigures)
	}`

// httpRule is the client's transport: an outgoing call lasts until the answer's header. In the server it wraps the function
// that calls every handler, over HTTP/1.1 and HTTP/2: there a request that redline sampled is marked in the execution trace,
// as by package request of the probe, but only by X-Redline-Request. The handler gets the request that the server read, not
// one with the task's context, because the server removes the files of a form only from its own request. A test compares
// names and bound with the probe's.
var httpRule = rule{
	name: "http", imports: []string{"context", "runtime/trace"}, identifies: true, extra: taskExtra + `
func redlineMarked(r *Request) *trace.Task {
	if !trace.IsEnabled() {
		return nil
	}
	id := r.Header.Get("X-Redline-Request")
	if id == "" {
		return nil
	}
	return redlineTask(id)
}

func redlineRequest(r *Request) (op uint64, start int64) {
	if redlineBegin == nil || r == nil || r.URL == nil {
		return 0, 0
	}
	path := r.URL.Path
	if r.URL.RawQuery != "" {
		path += "?" // that there is one: what it asks stays in the process
	}
	op, start = redlineBegin(9, r.Method+" "+r.URL.Host, path)
	return redlineSameAnswer(op, r), start
}

// redlineSameAnswer identifies a call that would get the same answer as another to its URL: one that reads, for the same user.
func redlineSameAnswer(op uint64, r *Request) uint64 {
	if op == 0 || redlineIdentify == nil || r.Method != "" && r.Method != "GET" || r.Body != nil && r.Body != NoBody ||
		r.Header.Get("Range") != "" || r.Header.Get("Cookie") != "" {
		return op
	}
	return redlineIdentify(op, r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"), nil)
}

func redlineAnswered(r *Request, answer *Response, err error, op uint64, start int64) {
	if op == 0 {
		return
	}
	flags := redlineFailed(err)
	if _, ok := r.Context().Deadline(); !ok {
		flags |= 4
	}
	if err == nil && answer.StatusCode >= 500 {
		flags |= 1
	}
	redlineEnd(op, start, 0, flags)
}

func redlineDialled(host string, pc *persistConn, err error, op uint64, start int64) {
	if op == 0 {
		return
	}
	flags := redlineFailed(err)
	if err == nil && !pc.isReused() {
		flags |= 2
	}
	redlineEnd(op, start, 0, flags)
}
`,
	edits: []edit{
		{receiver: "*Transport", function: "roundTrip", types: map[string]string{"$1": "*Request", "$r1": "*Response", "$r2": "error"}, body: `
			op, start := redlineRequest($1)
			$call
			redlineAnswered($1, $r1, $r2, op, start)`},
		{receiver: "*Transport", function: "getConn",
			types: map[string]string{"$2": "connectMethod", "$r1": "*persistConn", "$r2": "error"}, body: `
			op, start := redlineStart(10, $2.targetAddr, "")
			$call
			redlineDialled($2.targetAddr, $r1, $r2, op, start)`},
		{receiver: "*Transport", function: "dialConn", types: map[string]string{"$2": "connectMethod", "$r2": "error"}, body: `
			op, start := redlineStart(13, $2.targetAddr, "")
			$call
			redlineStop(op, start, 0, redlineFailed($r2))`, optional: true},
		{receiver: "serverHandler", function: "ServeHTTP", types: map[string]string{"$2": "*Request"}, body: `
			if task := redlineMarked($2); task != nil {
				defer task.End() // also when the handler panics, as it does to cut a connection
			}
			$call`, optional: true},
	},
}

var grpcRule = rule{
	name: "grpc", imports: []string{"context"}, extra: `
func redlineDeadline(ctx context.Context) uint32 {
	if _, ok := ctx.Deadline(); ok {
		return 0
	}
	return 4
}
`,
	edits: []edit{
		{receiver: "*ClientConn", function: "Invoke", types: map[string]string{"$1": "context.Context", "$2": "string", "$r1": "error"}, body: `
			op, start := redlineStart(11, $2, "")
			$call
			redlineStop(op, start, 0, redlineFailed($r1)|redlineDeadline($1))`},
		{receiver: "*ClientConn", function: "NewStream",
			types: map[string]string{"$1": "context.Context", "$3": "string", "$r2": "error"}, body: `
			op, start := redlineStart(11, $3, "")
			$call
			redlineStop(op, start, 0, redlineFailed($r2)|redlineDeadline($1))`, optional: true},
	},
}

var redisRule = rule{
	name: "redis",
	edits: []edit{
		{receiver: "*baseClient", function: "process", types: map[string]string{"$2": "Cmder", "$r1": "error"}, body: `
			op, start := redlineStart(12, $2.Name(), "")
			$call
			failed := $r1
			if failed == Nil {
				failed = nil
			}
			redlineStop(op, start, 0, redlineFailed(failed))`},
		{receiver: "*baseClient", function: "processPipeline", types: map[string]string{"$r1": "error"}, body: `
			op, start := redlineStart(12, "pipeline", "")
			$call
			redlineStop(op, start, 0, redlineFailed($r1))`, optional: true},
	},
}

// BelowSQL returns those of the known packages that also serve as drivers of
// database/sql in a program: their calls belong to the outer operation.
func BelowSQL(deps []Package) []string {
	var below []string
	for _, dep := range deps {
		switch dep.ImportPath {
		case "github.com/jackc/pgx/v5/stdlib", "github.com/jackc/pgx/v4/stdlib":
			base := strings.TrimSuffix(dep.ImportPath, "/stdlib")
			below = append(below, base, base+"/pgxpool")
		}
	}
	return below
}
