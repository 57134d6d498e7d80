package callstack_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ function, pkg, name, short, owner, enclosing string }{
		{"main.main", "main", "main", "main.main", "main.main", "main.main"},
		{"net/http.(*conn).serve", "net/http", "(*conn).serve", "http.(*conn).serve", "net/http.(*conn)", "net/http.(*conn).serve"},
		{"shop/a.(*T).M.func1", "shop/a", "(*T).M.func1", "a.(*T).M.func1", "shop/a.(*T)", "shop/a.(*T).M"},
		{"shop/a.f.func1.2", "shop/a", "f.func1.2", "a.f.func1.2", "shop/a.f", "shop/a.f"},
		{"shop/a.f.gowrap1", "shop/a", "f.gowrap1", "a.f.gowrap1", "shop/a.f", "shop/a.f"},
		{"shop/a.T.M", "shop/a", "T.M", "a.T.M", "shop/a.T.M", "shop/a.T.M"},
		{"gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3", "Unmarshal", "yaml.v3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal"},
		{"github.com/jackc/puddle/v2.(*Pool[go.shape.*github.com/jackc/pgx/v5/pgxpool.connResource]).Acquire", "github.com/jackc/puddle/v2", "(*Pool).Acquire", "puddle.(*Pool).Acquire", "github.com/jackc/puddle/v2.(*Pool)", "github.com/jackc/puddle/v2.(*Pool).Acquire"},
		{"slices.SortFunc[...]", "slices", "SortFunc", "slices.SortFunc", "slices.SortFunc", "slices.SortFunc"},
		{"shop/a.(*T).routes.(*T).list.func1", "shop/a", "(*T).routes.(*T).list.func1", "a.(*T).list.func1", "shop/a.(*T)", "shop/a.(*T).list"},
		{"gopkg.in/a%2ev3.f.func2.T.g.func1.2", "gopkg.in/a.v3", "f.func2.T.g.func1.2", "a.v3.g.func1.2", "gopkg.in/a.v3.g", "gopkg.in/a.v3.g"},
		{"main.build.newGetter.getter.func2", "main", "build.newGetter.getter.func2", "main.getter.func2", "main.getter", "main.getter"},
		{"main.build.getter.func2", "main", "build.getter.func2", "main.build.getter.func2", "main.build.getter", "main.build.getter"},
		{"main.f-range1", "main", "f-range1", "main.f", "main.f", "main.f"},
		{"main.(*T).M.func1-range2", "main", "(*T).M.func1-range2", "main.(*T).M.func1", "main.(*T)", "main.(*T).M"},
		{"main.glob..func1", "main", "glob..func1", "main.glob..func1", "main.glob.", "main.glob."},
		{"goexit", "", "goexit", "goexit", "goexit", "goexit"},
	} {
		pkg, name := Split(c.function)
		if pkg != c.pkg || name != c.name || Short(c.function) != c.short || Owner(c.function) != c.owner ||
			Enclosing(c.function) != c.enclosing {
			t.Errorf("%s: %q %q %q %q %q", c.function, pkg, name, Short(c.function), Owner(c.function), Enclosing(c.function))
		}
	}
}

// Names come from profiles and traces from outside.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "main.main", "a/b.(*T[c/d.E]).m.func1", "[[[", "]].", "x/.", "a.b%2ec/d.e"} {
		f.Add(seed)
	}
	x := NewIndex(Code{Module: "shop"})
	f.Fuzz(func(t *testing.T, function string) {
		Split(function)
		Short(function)
		Owner(function)
		x.Role(function)
		x.User(code.Frame{Function: function, File: function})
	})
}

func TestUser(t *testing.T) {
	for _, c := range []struct {
		module, function, file string
		want                   bool
	}{
		{"shop", "shop/orders.(*API).Query", "/src/shop/orders/api.go", true},
		{"shop", "main.main", "/src/shop/cmd/shop/main.go", true},
		{"shop", "shopping/x.F", "/root/go/pkg/mod/shopping@v1.0.0/x.go", false},
		{"github.com/acme/shop", "github.com/acme/shop/orders.F", "github.com/acme/shop/orders/f.go", true},
		{"github.com/acme/shop", "github.com/acme/shop/orders.F", "", true},
		{"github.com/acme/shop", "github.com/gin-gonic/gin.(*Context).Next", "/root/go/pkg/mod/github.com/gin-gonic/gin@v1.10.0/context.go", false},
		{"github.com/acme/shop", "github.com/gin-gonic/gin.(*Context).Next", "github.com/gin-gonic/gin@v1.10.0/context.go", false},
		{"github.com/acme/shop", "github.com/acme/lib.F", "/src/acme/lib/f.go", true}, // another module of the workspace
		{"shop", "net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go", false},
		{"shop", "github.com/lib/pq.(*conn).query", "/src/shop/vendor/github.com/lib/pq/conn.go", false},
		{"shop", "main.main", "/src/shop/cmd/vendor/main.go", true},
		{"shop", "shop/internal/vendor.List", "/src/shop/internal/vendor/list.go", true},
		{"shop", "shop/orders.F", "/srv/vendor/shop/orders/f.go", true},
		{"", "shop/orders.F", "/srv/vendor/shop/orders/f.go", true},
		{"github.com/acme/shop", "github.com/acme/lib/vendor.F", "/src/acme/lib/vendor/f.go", true},
		{"", "github.com/acme/shop/orders.F", "/src/shop/orders/f.go", true},
		{"", "shop/orders.F", "/src/shop/orders/f.go", true},
		{"", "github.com/lib/pq.(*conn).query", "/root/go/pkg/mod/github.com/lib/pq@v1.10.9/conn.go", false},
		{"", "runtime.selectgo", "/usr/local/go/src/runtime/select.go", false},
		{"shop", "github.com/redline-go/redline/probe/sampler.run", "/src/redline/probe/sampler/s.go", false},
		{"shop", "goexit", "", false},
	} {
		if got := (Code{Module: c.module}).User(code.Frame{Function: c.function, File: c.file}); got != c.want {
			t.Errorf("module %q, %s in %q: user %v, want %v", c.module, c.function, c.file, got, c.want)
		}
	}
}

func stack(functions ...string) []code.Frame {
	out := make([]code.Frame, 0, len(functions)+2)
	for _, f := range append(functions, "net/http.HandlerFunc.ServeHTTP", "net/http.(*conn).serve") {
		// As -trimpath leaves them: only files of a module have a version.
		file := "x/x.go"
		if first, _, _ := strings.Cut(f, "/"); strings.Contains(first, ".") {
			file = "lib@v1.2.3/x.go"
		}
		out = append(out, code.Frame{Function: f, File: file, Line: 1})
	}
	return out
}

func TestWait(t *testing.T) {
	x := NewIndex(Code{Module: "shop"})
	const user, grpcTransport = "shop/orders.Query", "google.golang.org/grpc/internal/transport."
	for _, c := range []struct {
		name  string
		state breakdown.State
		stack []code.Frame
		want  Wait
	}{
		{"no stack", breakdown.StateRunning, nil, Busy},
		{"database/sql pool", breakdown.StateSelect, stack("runtime.selectgo", "database/sql.(*DB).conn", "database/sql.(*DB).QueryContext", user), PoolWait},
		{"a ping below the pool", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/lib/pq.(*conn).Ping", "database/sql.(*DB).conn", user), DatabaseWait},
		{"dial below the pool", breakdown.StateNetwork, stack("net.(*netFD).connect", "github.com/lib/pq.(*Connector).open", "database/sql.(*DB).conn", user), ConnectWait},
		{"mysql handshake", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/go-sql-driver/mysql.(*connector).Connect", "database/sql.(*DB).conn", user), ConnectWait},
		{"mysql query", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/go-sql-driver/mysql.(*mysqlConn).readPacket", "database/sql.(*DB).queryDC", user), DatabaseWait},
		{"prepare's own lock", breakdown.StateLock, stack("sync.(*Mutex).Lock", "database/sql.(*DB).addDep", "database/sql.(*DB).prepareDC", "database/sql.(*DB).prepare", user), PrepareWait},
		{"a lock while it prepares", breakdown.StateLock, stack("sync.(*Mutex).Lock", user, "database/sql.(*DB).prepare", user), LockWait},
		{"pq prepares", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/lib/pq.(*conn).prepareTo", "github.com/lib/pq.(*conn).query", "database/sql.(*DB).queryDC", user), PrepareWait},
		{"pgxpool", breakdown.StateSelect, stack("runtime.selectgo", "golang.org/x/sync/semaphore.(*Weighted).Acquire", "github.com/jackc/puddle/v2.(*Pool[...]).Acquire", user), PoolWait},
		{"own semaphore", breakdown.StateSelect, stack("runtime.selectgo", "golang.org/x/sync/semaphore.(*Weighted).Acquire", user), SemaphoreW},
		{"redis pool", breakdown.StateSelect, stack("runtime.selectgo", "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn", "github.com/redis/go-redis/v9.(*Client).Get", user), SemaphoreW},
		{"a name that a redis pool looks up to dial", breakdown.StateSelect, stack("runtime.selectgo", "net.(*Resolver).lookupIPAddr",
			"net.(*Dialer).DialContext", "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).dialConn",
			"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).Get", user), RPCWait},
		{"redis answer", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/redis/go-redis/v9/internal/proto.(*Reader).readLine", user), RPCWait},
		{"an answer of net/rpc", breakdown.StateChannel, stack("runtime.chanrecv1", "net/rpc.(*Client).Call", user), RPCWait},
		{"an answer of LDAP", breakdown.StateChannel, stack("runtime.chanrecv1", "github.com/go-ldap/ldap/v3.(*Conn).Search", user), RPCWait},
		{"a place in a pool", breakdown.StateSelect, stack("runtime.selectgo", "github.com/sourcegraph/conc/pool.(*Pool).Go", user), SemaphoreW},
		{"HTTP/1 client", breakdown.StateSelect, stack("runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", user), HTTPWait},
		{"HTTP/2 client", breakdown.StateSelect, stack("runtime.selectgo", "net/http.(*http2ClientConn).roundTrip", user), HTTPWait},
		{"HTTP client's connection", breakdown.StateSelect, stack("runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", user), HTTPOpen},
		{"gRPC client", breakdown.StateSelect, stack("runtime.selectgo", "google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader", "google.golang.org/grpc.(*clientStream).RecvMsg", user), RPCWait},
		{"gRPC client's connection", breakdown.StateSelect, stack("runtime.selectgo", "google.golang.org/grpc.(*pickerWrapper).pick", "google.golang.org/grpc.(*ClientConn).Invoke", user), HTTPOpen},
		{"a proxy's own call", breakdown.StateSelect, stack("runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http/httputil.(*ReverseProxy).ServeHTTP"), HTTPWait},
		{"request body", breakdown.StateNetwork, stack("net.(*conn).Read", "net/http.(*connReader).Read", "net/http.(*body).Read", user), ClientWait},
		{"a socket of its own", breakdown.StateNetwork, stack("net.(*conn).Read", user), NetworkWait},
		{"rate limiter", breakdown.StateSelect, stack("runtime.selectgo", "golang.org/x/time/rate.(*Limiter).wait", user), SleepWait},
		{"back-off", breakdown.StateSelect, stack("runtime.selectgo", "github.com/cenkalti/backoff/v4.RetryNotify", user), SleepWait},
		{"logger's mutex", breakdown.StateLock, stack("sync.(*Mutex).Lock", "go.uber.org/zap/zapcore.(*lockedWriteSyncer).Write", user), LogWait},
		{"database's own mutex", breakdown.StateLock, stack("sync.(*Mutex).Lock", "github.com/lib/pq.(*conn).x", user), LockWait},
		{"read lock", breakdown.StateLock, stack("sync.(*RWMutex).RLock", user), ReadLockWait},
		{"write lock", breakdown.StateLock, stack("sync.(*RWMutex).Lock", user), LockWait},
		{"single flight", breakdown.StateSync, stack("sync.(*WaitGroup).Wait", "golang.org/x/sync/singleflight.(*Group).Do", user), FlightWait},
		{"join", breakdown.StateSync, stack("sync.(*WaitGroup).Wait", user), JoinWait},
		{"channel", breakdown.StateChannel, stack("runtime.chanrecv1", user), ChannelWait},
		{"fsync", breakdown.StateSyscall, stack("syscall.Fsync", "os.(*File).Sync", user), SyncWait},
		{"file", breakdown.StateSyscall, stack("syscall.Read", "os.ReadFile", user), FileWait},
		{"response", breakdown.StateSyscall, stack("syscall.write", "net.(*conn).Write", "net/http.checkConnErrorWriter.Write"), ClientWait},
		{"cgo", breakdown.StateSyscall, stack("runtime.cgocall", user), SyscallWait},
		{"a file for a slow client", breakdown.StateNetwork, stack("internal/poll.SendFile", "net.sendFile", "net.(*TCPConn).ReadFrom",
			"net/http.(*response).ReadFrom", "io.Copy", "os.(*File).WriteTo", "io.Copy", user), ClientWait},
		{"a child's output for a client", breakdown.StateNetwork, stack("os.(*File).Read", "io.Copy", "net.(*TCPConn).ReadFrom",
			"net/http.(*response).ReadFrom", "io.Copy", "os.(*File).WriteTo", "io.Copy", user), ChildWait},
		{"a call within a transaction", breakdown.StateSelect, stack("runtime.selectgo", "net/http.(*Client).Do", "shop/risk.Score",
			"shop/orders.Pay.func1", "github.com/jackc/pgx/v5.beginFuncExec", "github.com/jackc/pgx/v5.BeginFunc", user), HTTPWait},
		{"a command within a transaction", breakdown.StateChannel, stack("runtime.chanrecv1", "os/exec.(*Cmd).Wait",
			"shop/orders.Pay.func1", "github.com/go-pg/pg/v10.(*DB).RunInTransaction", user), ChildWait},
		{"a statement of a transaction", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/jackc/pgx/v5.(*Conn).Query",
			"shop/orders.Pay.func1", "github.com/jackc/pgx/v5.BeginFunc", user), DatabaseWait},
		{"the begin of a transaction", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/jackc/pgx/v5.(*Conn).Exec",
			"github.com/jackc/pgx/v5.(*Conn).BeginTx", "github.com/jackc/pgx/v5.BeginFunc", user), DatabaseWait},
		{"the connection for a transaction", breakdown.StateSelect, stack("runtime.selectgo",
			"github.com/jackc/puddle/v2.(*Pool[...]).Acquire", "github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire",
			"github.com/jackc/pgx/v5/pgxpool.(*Pool).AcquireFunc", user), PoolWait},
		{"a semaphore of a group", breakdown.StateChannel, stack("runtime.chansend1", "golang.org/x/sync/errgroup.(*Group).Go", user), SemaphoreW},
		{"a lock in an attempt", breakdown.StateLock, stack("sync.(*Mutex).Lock", "shop/orders.Pay.func1",
			"github.com/avast/retry-go/v4.Do", user), LockWait},
		{"a file that an attempt syncs", breakdown.StateSyscall, stack("syscall.Fsync", "os.(*File).Sync", "shop/orders.Pay.func1",
			"github.com/cenkalti/backoff/v4.RetryNotify", user), SyncWait},
		{"a socket in an attempt", breakdown.StateNetwork, stack("net.(*conn).Read", "shop/orders.Pay.func1",
			"github.com/avast/retry-go/v4.Do", user), NetworkWait},
		{"a call in an attempt", breakdown.StateSelect, stack("runtime.selectgo", "net/http.(*Client).Do", "shop/orders.Pay.func1",
			"github.com/avast/retry-go/v4.Do", user), HTTPWait},
		{"a channel of the one that computes for others", breakdown.StateChannel, stack("runtime.chanrecv1", "shop/orders.Pay.func1",
			"golang.org/x/sync/singleflight.(*Group).Do", user), ChannelWait},
		{"a limiter in a transport of the user's", breakdown.StateSelect, stack("runtime.selectgo",
			"golang.org/x/time/rate.(*Limiter).wait", "shop/risk.(*limited).RoundTrip", "net/http.(*Client).Do", user), SleepWait},
		{"a lock in a transport of the user's", breakdown.StateLock, stack("sync.(*Mutex).Lock",
			"shop/risk.(*limited).RoundTrip", "net/http.(*Client).Do", user), LockWait},
		{"a call through a transport of the user's", breakdown.StateSelect, stack("runtime.selectgo", "net/http.(*Transport).RoundTrip",
			"shop/risk.(*limited).RoundTrip", "net/http.(*Client).Do", user), HTTPWait},
		{"a lock in a transaction of Redis", breakdown.StateLock, stack("sync.(*Mutex).Lock", "shop/orders.Pay.func1",
			"github.com/redis/go-redis/v9.(*Client).Watch", user), LockWait},
		{"Redis through a connection of the user's", breakdown.StateNetwork, stack("net.(*conn).Read", "shop/wire.(*counted).Read",
			"github.com/redis/go-redis/v9/internal/proto.(*Reader).readLine", user), RPCWait},
		{"a name that the user's dialler looks up", breakdown.StateSelect, stack("runtime.selectgo", "net.(*Resolver).lookupIPAddr",
			"shop/wire.dial", "github.com/go-sql-driver/mysql.(*connector).Connect", "database/sql.(*DB).conn", user), ConnectWait},
		{"prepared by a driver in the user's", breakdown.StateNetwork, stack("net.(*conn).Read", "github.com/lib/pq.(*conn).simpleQuery",
			"shop/traced.(*conn).PrepareContext", "database/sql.ctxDriverPrepare", user), PrepareWait},
		{"a hook of the pool", breakdown.StateLock, stack("sync.(*Mutex).Lock", "shop/orders.acquire",
			"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire", user), LockWait},
		{"a logger's writer of the user's", breakdown.StateSyscall, stack("syscall.Fsync", "os.(*File).Sync", "shop/logs.(*file).Write",
			"log/slog.(*commonHandler).handle", "log/slog.Info", user), LogWait},
		{"a logger in an attempt", breakdown.StateLock, stack("sync.(*Mutex).Lock", "shop/logs.(*file).Write", "log.(*Logger).output",
			"shop/orders.Pay.func1", "github.com/avast/retry-go/v4.Do", user), LogWait},
		{"a message to a gRPC server", breakdown.StateSelect, stack("runtime.selectgo", grpcTransport+"(*recvBufferReader).read",
			grpcTransport+"(*Stream).read", "google.golang.org/grpc.(*serverStream).RecvMsg", user), ClientWait},
		{"its header", breakdown.StateSelect, stack("runtime.selectgo", grpcTransport+"(*recvBufferReader).readMessageHeader",
			"google.golang.org/grpc.(*Server).processUnaryRPC"), ClientWait},
		{"a message of a gRPC server", breakdown.StateSelect, stack("runtime.selectgo", grpcTransport+"(*writeQuota).get",
			grpcTransport+"(*http2Server).write", "google.golang.org/grpc.(*serverStream).SendMsg", user), ClientWait},
		{"a message to a gRPC client", breakdown.StateSelect, stack("runtime.selectgo", grpcTransport+"(*recvBufferReader).readClient",
			grpcTransport+"(*recvBufferReader).Read", user), RPCWait},
		{"its header at the client", breakdown.StateSelect, stack("runtime.selectgo",
			grpcTransport+"(*recvBufferReader).readMessageHeaderClient", grpcTransport+"(*recvBufferReader).ReadMessageHeader",
			user), RPCWait},
		{"request body over HTTP/2", breakdown.StateSync, stack("sync.(*Cond).Wait", "net/http.(*http2pipe).Read",
			"net/http.(*http2requestBody).Read", user), ClientWait},
		{"a channel of a handler over HTTP/2", breakdown.StateChannel, append(stack("runtime.chanrecv1", "example.org/queue.Take"),
			code.Frame{Function: "net/http.(*http2serverConn).runHandler"}), ChannelWait},
		{"request body over HTTP/2 since Go 1.27", breakdown.StateSync, stack("sync.(*Cond).Wait", "net/http/internal/http2.(*pipe).Read",
			"net/http/internal/http2.(*requestBody).Read", user), ClientWait},
		{"a source of the response", breakdown.StateChannel, stack("runtime.chanrecv1", user, "io.Copy", "net/http.(*response).ReadFrom",
			"shop/orders.Export"), ChannelWait},
		{"the collector's stop", breakdown.StateSTW, nil, Collector},
		{"a stop by a call", breakdown.StateStoppedByCall, stack("runtime.ReadMemStats", "database/sql.(*DB).conn", user), StopWait},
	} {
		if got := x.Wait(breakdown.Part{State: c.state, Stack: c.stack}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWaitOfOtherGoroutines: the stack of a goroutine that a group or a server starts has no handler.
func TestWaitOfOtherGoroutines(t *testing.T) {
	x := NewIndex(Code{Module: "shop"})
	const fast, group = "github.com/valyala/fasthttp.", "golang.org/x/sync/errgroup.(*Group).Go.func1"
	for _, c := range []struct {
		name  string
		state breakdown.State
		stack []string
		want  Wait
	}{
		{"a lock in a group", breakdown.StateLock, []string{"sync.(*Mutex).Lock", "shop/orders.All.func1", group}, LockWait},
		{"a file in a group", breakdown.StateSyscall, []string{"syscall.Fsync", "os.(*File).Sync", "shop/orders.All.func1", group}, SyncWait},
		{"a group's work without the user's code", breakdown.StateLock, []string{"sync.(*Mutex).Lock", "example.org/feed.(*Feed).run",
			group}, LockWait},
		{"fasthttp reads a body", breakdown.StateNetwork, []string{"net.(*conn).Read", "bufio.(*Reader).Read", fast + "appendBodyFixedSize",
			fast + "(*Request).ReadBody", fast + "(*Request).ContinueReadBody", fast + "(*Server).serveConn"}, ClientWait},
		{"fasthttp writes a body", breakdown.StateNetwork, []string{"net.(*conn).Write", "bufio.(*Writer).Write",
			fast + "(*Response).Write", fast + "writeResponse", fast + "(*Server).serveConn"}, ClientWait},
		{"fasthttp flushes", breakdown.StateNetwork, []string{"net.(*conn).Write", "bufio.(*Writer).Flush", fast + "(*Server).serveConn",
			fast + "(*workerPool).workerFunc"}, ClientWait},
		{"a socket of a handler's", breakdown.StateNetwork, []string{"net.(*conn).Read", "shop/orders.Query", fast + "(*Server).serveConn"},
			NetworkWait},
		{"a socket of a library's handler", breakdown.StateNetwork, []string{"net.(*conn).Read", "example.org/feed.Serve",
			fast + "(*Server).serveConn"}, NetworkWait},
		{"a call of a handler's", breakdown.StateNetwork, []string{"net.(*conn).Read", "bufio.(*Reader).Read", fast + "appendBodyFixedSize",
			fast + "(*Response).ReadLimitBody", fast + "(*HostClient).doNonNilReqResp", "shop/orders.Query", fast + "(*Server).serveConn"},
			HTTPWait},
	} {
		var frames []code.Frame
		for _, f := range c.stack {
			frames = append(frames, code.Frame{Function: f, File: "lib@v1.2.3/x.go", Line: 1})
		}
		if got := x.Wait(breakdown.Part{State: c.state, Stack: frames}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStopOf(t *testing.T) {
	const user = "shop/orders.Query"
	for _, c := range []struct {
		stack []code.Frame
		why   Stop
		inner int
	}{
		{stack("runtime.ReadMemStats", user), Statistics, 1},
		{stack("runtime.ReadMemStats", "runtime/pprof.writeHeapInternal", "runtime/pprof.(*Profile).WriteTo", user), Statistics, 3},
		{stack("runtime.stopTheWorld", "runtime.Stack", user), Dump, 2},
		{stack("runtime.goroutineProfileWithLabelsConcurrent", "runtime/pprof.(*Profile).WriteTo", user, "runtime.main"), Dump, 2},
		{stack("runtime/debug.WriteHeapDump", user), HeapDump, 1},
		{stack("runtime.stopTheWorldGC", "runtime.SetDefaultGOMAXPROCS", user), Processors, 2},
		{stack("runtime.GC", "runtime/debug.freeOSMemory", "runtime/debug.FreeOSMemory", user), Collection, 3},
		{stack("syscall.runtime_doAllThreadsSyscall", "syscall.Setgid", user), OtherStop, 2},
		{stack(user, "runtime.ReadMemStats"), OtherStop, 0},
		{nil, OtherStop, 0},
	} {
		if why, inner := StopOf(c.stack); why != c.why || inner != c.inner {
			t.Errorf("%v: %v in %d frames, want %v in %d", c.stack, why, inner, c.why, c.inner)
		}
	}
}

// TestBookOfACodec: a type's own UnmarshalJSON that decodes its fields is part of the decoding that called it.
func TestBookOfACodec(t *testing.T) {
	x := NewIndex(Code{Module: "shop"})
	through := stack("reflect.Value.Set", "encoding/json.Unmarshal", "shop/packages.(*Package).UnmarshalJSON",
		"encoding/json.(*decodeState).value", "encoding/json.Unmarshal", "shop/packages.(*Index).Get")
	if role, at := x.Book(through); role != JSON || at != 4 {
		t.Errorf("%b from frame %d, want JSON from that of (*Index).Get's call", role, at)
	}
	const lib = "github.com/mailru/easyjson"
	generated := stack(lib+"/jwriter.(*Writer).String", "shop/packages.easyjson1aEncodeShopPackages",
		"shop/packages.Package.MarshalEasyJSON", lib+".Marshal", "shop/packages.(*Index).Get")
	if role, at := x.Book(generated); role != JSON || at != 3 {
		t.Errorf("%b from frame %d, want JSON from that of (*Index).Get's call, and not in generated code", role, at)
	}
	other := stack("encoding/json.Unmarshal", "shop/packages.(*Package).load", "encoding/gob.(*Decoder).Decode",
		"shop/packages.(*Index).Get")
	if role, at := x.Book(other); role != JSON || at != 0 {
		t.Errorf("%b from frame %d, want JSON from that of load's call", role, at)
	}
}

func TestDomain(t *testing.T) {
	x := NewIndex(Code{Module: "shop"})
	const user = "shop/orders.Query"
	for _, c := range []struct {
		name  string
		stack []code.Frame
		want  Role
	}{
		{"own", stack("shop/orders.total", user), 0},
		{"map access of its own", stack("runtime.mapaccess1", user), 0},
		{"standard JSON", stack("reflect.Value.Field", "encoding/json.Marshal", user), JSON},
		{"JSON v2", stack("encoding/json/jsontext.(*Encoder).WriteToken", "encoding/json/v2.Marshal", user), JSON},
		{"sonic", stack("github.com/bytedance/sonic/internal/encoder.Encode", "github.com/bytedance/sonic.Marshal", user), JSON},
		{"JSON of protobuf", stack("google.golang.org/protobuf/internal/encoding/json.(*Encoder).WriteString", "google.golang.org/protobuf/encoding/protojson.Marshal", user), JSON},
		{"JSON of gogo's protobuf", stack("reflect.Value.Field", "github.com/gogo/protobuf/jsonpb.(*Marshaler).Marshal", user), JSON},
		{"jsonparser", stack("github.com/buger/jsonparser.searchKeys", "github.com/buger/jsonparser.Get", user), JSON},
		{"Grafana's copy of regexp", stack("github.com/grafana/regexp/syntax.Parse", "github.com/grafana/regexp.compile", "github.com/grafana/regexp.MustCompile", user), RegexpCompile},
		{"its matching", stack("github.com/grafana/regexp.(*Regexp).doExecute", user), RegexpMatch},
		{"HTTP/2 of a client since Go 1.27", stack("net/http/internal/http2.(*ClientConn).RoundTrip", user), HTTPClient},
		{"chi's logger before its fifth version", stack("fmt.Sprintf", "github.com/go-chi/chi/middleware.RequestLogger.func1.1", "net/http.HandlerFunc.ServeHTTP"), Logging},
		{"JSON inside a logger", stack("encoding/json.Marshal", "github.com/sirupsen/logrus.(*JSONFormatter).Format", "github.com/sirupsen/logrus.Info", user), Logging},
		{"formatting inside JSON", stack("strconv.AppendFloat", "encoding/json.floatEncoder.encode", "encoding/json.Marshal", user), JSON},
		{"etcd's client", stack("go.etcd.io/etcd/client/v3.(*kv).Do", user), RPCClient},
		{"etcd's client before 3.5", stack("go.etcd.io/etcd/clientv3.(*kv).Do", user), RPCClient},
		{"etcd's server", stack("go.etcd.io/etcd/server/v3/mvcc.(*treeIndex).Revisions", user), 0},
		{"slog", stack("log/slog.(*handleState).appendAttr", "log/slog.Info", user), Logging},
		{"a handler below gin's logger", stack("encoding/json.Marshal", user, "github.com/gin-gonic/gin.(*Context).Next", "github.com/gin-gonic/gin.LoggerWithConfig.func1", "github.com/gin-gonic/gin.(*Context).Next"), JSON},
		{"gin's logger itself", stack("fmt.Sprintf", "github.com/gin-gonic/gin.LoggerWithConfig.func1", "github.com/gin-gonic/gin.(*Context).Next"), Logging},
		{"another middleware of gin's", stack("regexp/syntax.Parse", "regexp.MustCompile",
			"github.com/gin-contrib/cors.(*cors).validateOrigin", "github.com/gin-contrib/cors.New.func1",
			"github.com/gin-gonic/gin.(*Context).Next"), RegexpCompile},
		{"a logger of gin's", stack("fmt.Sprintf", "github.com/gin-contrib/logger.SetLogger.func1",
			"github.com/gin-gonic/gin.(*Context).Next"), Logging},
		{"a handler below echo's logger", stack("shop/orders.total", user, "github.com/labstack/echo/v4/middleware.LoggerWithConfig.func3.1", "github.com/labstack/echo/v4.(*Echo).ServeHTTP"), 0},
		{"echo's logger itself", stack("strconv.AppendInt", "github.com/labstack/echo/v4/middleware.LoggerWithConfig.func3.1", "github.com/labstack/echo/v4.(*Echo).ServeHTTP"), Logging},
		{"lines written to a file", stack("syscall.write", "os.(*File).Write", "fmt.Fprintf", user), FileWrite},
		{"regexp.MatchString compiles", stack("regexp/syntax.Parse", "regexp.compile", "regexp.Compile", "regexp.MatchString", user), RegexpCompile},
		{"matching", stack("regexp.(*machine).match", "regexp.(*Regexp).doExecute", "regexp.(*Regexp).MatchString", user), RegexpMatch},
		{"hashing in TLS", stack("crypto/internal/fips140/sha256.block", "crypto/tls.(*Conn).writeRecord", user), TLS},
		{"hashing to log in to the database", stack("crypto/internal/fips140/pbkdf2.Key", "github.com/jackc/pgx/v5/pgconn.(*PgConn).scramAuth", user), DBClient},
		{"HMAC", stack("crypto/internal/fips140/sha256.block", "crypto/hmac.(*hmac).Write", user), Crypto},
		{"a fallback inside reflection", stack("reflect.Value.Field", "github.com/jinzhu/copier.Copy", user), Reflect},
		{"a comparison of the user's", stack("shop/orders.less", "sort.Slice", user), Sort},
		{"metrics' own work", stack("runtime.mapaccess1", "github.com/grpc-ecosystem/go-grpc-prometheus.(*ServerMetrics).UnaryServerInterceptor.func1", user), Instrument},
		{"a handler below metrics' interceptor", stack("shop/orders.total", user, "github.com/grpc-ecosystem/go-grpc-prometheus.(*ServerMetrics).UnaryServerInterceptor.func1", "shop/web.serve.func1"), 0},
		{"a statement below metrics' interceptor", stack("runtime.cgocall", "database/sql.(*DB).QueryContext", user, "go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc.UnaryServerInterceptor.func1", "shop/web.serve.func1"), DBClient},
		{"a column that a type of the user's decodes", stack("encoding/json.(*decodeState).object", "encoding/json.Unmarshal",
			"shop/store.jsonDecoder.Scan", "database/sql.convertAssignRows", "database/sql.(*Rows).Scan", user), JSON},
		{"a column that a type of the user's parses", stack("shop/store.parse", "shop/store.Tags.Scan", "database/sql.convertAssignRows",
			"database/sql.(*Rows).Scan", user), 0},
		{"a column of JSON", stack("encoding/json.(*decodeState).object", "encoding/json.Unmarshal",
			"github.com/jackc/pgx/v5/pgtype.(*scanPlanJSONToJSONUnmarshal).Scan", "github.com/jackc/pgx/v5.(*baseRows).Scan", user), JSON},
		{"a value of the user's", stack("encoding/json.Marshal", "shop/store.Tags.Value", "database/sql.driverArgsConnLocked",
			"database/sql.(*DB).ExecContext", user), JSON},
		{"a column of the client's", stack("strconv.ParseInt", "database/sql.convertAssignRows", "database/sql.(*Rows).Scan", user), DBClient},
		{"what a transaction's function computes", stack("shop/orders.rank", "shop/orders.Pay.func1",
			"github.com/jackc/pgx/v5.beginFuncExec", "github.com/jackc/pgx/v5.BeginFunc", user), 0},
		{"a signature in a transaction's function", stack("crypto/hmac.(*hmac).Write", "shop/orders.Pay.func1",
			"github.com/jackc/pgx/v5.BeginFunc", user), Crypto},
		{"what is made of each row", stack("shop/orders.rank", "shop/orders.Pay.func1",
			"github.com/jackc/pgx/v5.AppendRows[...]", "github.com/jackc/pgx/v5.CollectRows[...]", user), 0},
		{"a row that is read there", stack("github.com/jackc/pgx/v5.(*baseRows).Scan", "shop/orders.Pay.func1",
			"github.com/jackc/pgx/v5.ForEachRow", user), DBClient},
		{"what is made of an answer of a batch", stack("shop/orders.rank", "shop/orders.Pay.func1",
			"github.com/jackc/pgx/v5.(*QueuedQuery).Query.func1", "github.com/jackc/pgx/v5.(*batchResults).Close", user), 0},
		{"what is made of SQLite's rows", stack("shop/orders.rank", "shop/orders.Pay.func1", "zombiezen.com/go/sqlite/sqlitex.exec",
			"zombiezen.com/go/sqlite/sqlitex.Execute", user), 0},
		{"what is done with a driver's connection", stack("shop/orders.rank", "shop/orders.Pay.func1", "database/sql.(*Conn).Raw",
			user), 0},
		{"a transport of the user's that scales images", stack("image/draw.Draw", "shop/images.(*scaler).RoundTrip",
			"net/http.(*Client).Do", user), 0},
		{"JSON in a transport of the user's", stack("encoding/json.Marshal", "shop/images.(*scaler).RoundTrip",
			"net/http.(*Client).Do", user), JSON},
		{"a transport of the user's on the way", stack("net/http.(*persistConn).roundTrip", "shop/images.(*scaler).RoundTrip",
			"net/http.(*Client).Do", user), HTTPClient},
		{"a marshaller of the user's", stack("shop/orders.digits", "shop/orders.Money.MarshalJSON", "encoding/json.Marshal", user), 0},
		{"formatting in a marshaller", stack("fmt.Sprintf", "shop/orders.Money.MarshalJSON", "encoding/json.Marshal", user), Format},
		{"a compressor's insides", stack("runtime.memclrNoHeapPointers", "runtime.mallocgc", "runtime.newobject", "compress/flate.NewWriter", "compress/gzip.(*Writer).Write", user), 0},
		{"making a compressor", stack("compress/flate.(*compressor).init", "compress/flate.NewWriter", user), 0},
		{"JSON into a compressor", stack("compress/flate.(*compressor).deflate", "compress/gzip.(*Writer).Write", "encoding/json.(*Encoder).Encode", user), Compress},
		{"JSON into the response", stack("syscall.write", "net.(*conn).Write", "bufio.(*Writer).Flush", "net/http.(*response).Write", "encoding/json.(*Encoder).Encode", user), 0},
		{"the response's own headers", stack("time.Time.AppendFormat", "net/http.(*chunkWriter).writeHeader", "net/http.(*response).Write", user), 0},
		{"the server's clock", []code.Frame{{Function: "time.Now"}, {Function: "net/http.(*conn).serve"}}, 0},
		{"YAML that a dependency's handler decodes", stack("reflect.Value.Set", "go.yaml.in/yaml/v2.UnmarshalStrict",
			"github.com/prometheus/exporter-toolkit/web.getConfig", "github.com/prometheus/exporter-toolkit/web.(*webHandler).ServeHTTP",
			"net/http.serverHandler.ServeHTTP", "net/http.(*conn).serve"), Reflect},
		{"reflection of the server's own", stack("reflect.Value.Set", "net/http.serverHandler.ServeHTTP", "net/http.(*conn).serve"), 0},
		{"dialling by a copy of net/http's transport", stack("net.(*Dialer).DialContext", "github.com/imroc/req/v3.(*Transport).dialConn"), HTTPClient},
		{"a handshake of uTLS", stack("crypto/internal/fips140/sha256.block",
			"github.com/refraction-networking/utls.(*UConn).HandshakeContext"), Handshake},
		{"handshake", stack("crypto/internal/fips140/sha256.block", "crypto/tls.(*Conn).serverHandshake", "crypto/tls.(*Conn).HandshakeContext"), Handshake},
		{"a handshake on the first write", stack("crypto/internal/fips140/nistec.p256Mul", "crypto/tls.(*Conn).clientHandshake",
			"crypto/tls.(*Conn).HandshakeContext", "crypto/tls.(*Conn).Write", user), Handshake},
		{"random source", stack("crypto/internal/sysrand.Read", "crypto/rand.Read", user), Clock},
		{"expressions of a router", stack("regexp.(*Regexp).doExecute", "github.com/gorilla/mux.(*Route).Match", user), Router},
		{"an expression that a router compiles", stack("regexp/syntax.Parse", "regexp.compile", "regexp.MatchString",
			"github.com/emicklei/go-restful/v3.CurlyRouter.regularMatchesPathToken"), RegexpCompile},
		{"unformatted writes to a file", stack("syscall.write", "os.(*File).Write", user), 0},
		{"mark worker", []code.Frame{{Function: "runtime.scanobject"}, {Function: "runtime.gcDrain"}, {Function: "runtime.gcBgMarkWorker.func2"}}, GCWork},
		{"idle mark worker", []code.Frame{{Function: "runtime.gcDrain"}, {Function: "runtime.gcDrainMarkWorkerIdle"}, {Function: "runtime.gcBgMarkWorker.func2"}}, GCIdle},
		{"assist in JSON", stack("runtime.gcDrainN", "runtime.gcAssistAlloc", "runtime.mallocgc", "encoding/json.Marshal", user), GCAssist},
		{"scheduler", []code.Frame{{Function: "runtime.findRunnable"}, {Function: "runtime.schedule"}, {Function: "runtime.mcall"}}, Schedule},
	} {
		if got := x.Domain(c.stack); got != c.want {
			t.Errorf("%s: %b, want %b", c.name, got, c.want)
		}
	}
}

// TestUserOfInlinedClosures: the compiler names a closure after the function that its maker was
// inlined into; its file is still the library's. A main module in the cache is the user's.
func TestUserOfInlinedClosures(t *testing.T) {
	const cache = "/root/go/pkg/mod/github.com/"
	for _, c := range []struct {
		frame  code.Frame
		module string
		want   bool
	}{
		{code.Frame{Function: "github.com/Shop/api/cmd.New.WithChain.Chain.func14.1.1", File: cache + "grpc-ecosystem/go-grpc-middleware@v1.3.0/chain.go"}, "github.com/Shop/api", false},
		{code.Frame{Function: "main.main.WithChain.func1", File: cache + "grpc-ecosystem/go-grpc-middleware@v1.3.0/chain.go"}, "github.com/Shop/api", false},
		{code.Frame{Function: "github.com/Shop/api/cmd.New", File: cache + "!shop/api@v1.3.0/cmd/new.go"}, "github.com/Shop/api", true},
		{code.Frame{Function: "main.main", File: cache + "!shop/api@v1.3.0/main.go"}, "github.com/Shop/api", true},
		{code.Frame{Function: "main.main", File: "github.com/Shop/api@v1.3.0/main.go"}, "github.com/Shop/api", true},
		{code.Frame{Function: "main.main", File: cache + "!shop/api@v1.3.0/main.go"}, "", true},
		{code.Frame{Function: "github.com/Shop/api/cmd.New", File: "/src/api/cmd/new.go"}, "github.com/Shop/api", true},
	} {
		if got := (Code{Module: c.module}).User(c.frame); got != c.want {
			t.Errorf("%s at %s, module %q: %t", c.frame.Function, c.frame.File, c.module, got)
		}
	}
}

// A function that only wraps a primitive of the same name is no place: its caller is. A
// function of another name, or without a caller in the user's code, is one.
func TestWrappersAreNoPlaces(t *testing.T) {
	c := Code{Module: "shop"}
	frames := func(functions ...string) (stack []code.Frame) {
		for _, f := range functions {
			stack = append(stack, code.Frame{Function: f})
		}
		return stack
	}
	for want, stack := range map[string][]code.Frame{
		"shop/db.(*Store).Get": frames("sync.(*Mutex).Lock", "shop/lock.(*Mutex).Lock",
			"shop/db.(*Store).Get", "net/http.HandlerFunc.ServeHTTP"),
		"shop/db.(*Store).Put":    frames("time.Sleep", "shop/delay.Sleep", "vendored.example/x.Call", "shop/db.(*Store).Put"),
		"shop/lock.(*Mutex).Lock": frames("sync.(*Mutex).Lock", "shop/lock.(*Mutex).Lock", "net/http.HandlerFunc.ServeHTTP"),
		"shop/db.(*Store).lock":   frames("sync.(*Mutex).Lock", "shop/db.(*Store).lock", "shop/db.(*Store).Get"),
		"shop/db.(*Pool).Lock":    frames("runtime.chanrecv1", "shop/db.(*Pool).Lock", "shop/db.(*Store).Get"),
	} {
		if got, _ := c.Place(stack); got.Function != want {
			t.Errorf("%v: %s, want %s", stack, got.Function, want)
		}
	}
}

// TestRelaysAreNoPlaces: a line that passes on what it is given is no place, unless nobody of the user's gave it.
func TestRelaysAreNoPlaces(t *testing.T) {
	relay := code.Frame{Function: "shop/db.(*Tx).Select", File: "db.go", Line: 9}
	x := NewIndex(Code{Module: "shop", Relays: LinesOf([]code.Frame{{Function: relay.Function, Line: 9}})})
	asks := code.Frame{Function: "shop/posts.Search", File: "posts.go", Line: 3}
	query := code.Frame{Function: "database/sql.(*Tx).QueryContext"}
	other := relay
	other.Line = 12
	for _, test := range []struct {
		stack []code.Frame
		want  code.Frame
	}{
		{[]code.Frame{query, relay, asks}, asks},
		{[]code.Frame{query, relay, {Function: "lib.test/retry.Do"}, asks}, asks},
		{[]code.Frame{query, relay, {Function: "net/http.HandlerFunc.ServeHTTP"}}, relay},
		{[]code.Frame{query, other, asks}, other},
		{[]code.Frame{query, asks, relay}, asks},
	} {
		if got, _ := x.Place(test.stack); got != test.want {
			t.Errorf("%v: %v, want %v", test.stack, got, test.want)
		}
	}
}

// TestStubsAreNoPlaces: nobody edits generated stubs of services.
func TestStubsAreNoPlaces(t *testing.T) {
	c := Code{Module: "shop"}
	stack := []code.Frame{{Function: "google.golang.org/grpc.(*ClientConn).Invoke"},
		{Function: "shop/pb.(*client).Find", File: "/src/pb/vault_grpc.pb.go"}, {Function: "shop/web.(*Desk).Show",
			File: "/src/web/desk.go"}}
	if f, ok := c.Place(stack); !ok || f.Function != "shop/web.(*Desk).Show" {
		t.Errorf("%v, %t", f, ok)
	}
	if f, ok := c.Place(stack[:2]); !ok || f.Function != "shop/pb.(*client).Find" {
		t.Errorf("without a caller: %v, %t", f, ok)
	}
}

func TestCallers(t *testing.T) {
	c := Code{Module: "shop"}
	var stack []code.Frame
	for _, f := range []string{"database/sql.(*DB).Query", "shop/db.Get", "net/http.HandlerFunc.ServeHTTP",
		"shop/a.A", "shop/b.B", "shop/c.C", "shop/d.D", "shop/e.E"} {
		stack = append(stack, code.Frame{Function: f})
	}
	var got []string
	for _, f := range c.Callers(stack, stack[1]) {
		got = append(got, f.Function)
	}
	if want := []string{"shop/a.A", "shop/b.B", "shop/c.C", "shop/d.D"}; !slices.Equal(got, want) {
		t.Errorf("callers %v, want %v", got, want)
	}
}

// TestUnit: handlers that one function makes are apart; what a function hands to what it calls is its own.
func TestUnit(t *testing.T) {
	x := NewIndex(Code{Module: "shop"})
	for _, c := range []struct {
		stack []code.Frame
		want  string
	}{
		{stack("main.main.func2"), "main.main.func2"},
		{stack("main.main.func2.1", "slices.SortFunc[...]", "main.main.func2"), "main.main.func2"},
		{stack("main.list.func1", "slices.SortFunc[...]", "main.list"), "main.list"},
		{stack("main.list-range1", "maps.Keys[...].func1", "main.list"), "main.list"},
		{stack("main.(*desk).list"), "main.(*desk).list"},
		{stack("main.routes.(*desk).list.func1"), "main.(*desk).list.func1"},
		{[]code.Frame{{Function: "main.main.func2"}, {Function: "golang.org/x/sync/errgroup.(*Group).Go.func1"}}, "main.main"},
	} {
		if got := x.Unit(c.stack, 0); got != c.want {
			t.Errorf("%s: %s, want %s", c.stack[0].Function, got, c.want)
		}
	}
}

func TestElided(t *testing.T) {
	for function, want := range map[string]string{
		"main.main": "main.main",
		"shop/pool.(*Pool[go.shape.[]uint8,go.shape.struct { ID []int }]).Do.func1": "shop/pool.(*Pool[...]).Do.func1",
		"shop/pool.New[...].func1": "shop/pool.New[...].func1",
	} {
		if got := Elided(function); got != want {
			t.Errorf("%s: %s, want %s", function, got, want)
		}
	}
}

func TestUnwrapped(t *testing.T) {
	for function, want := range map[string]string{
		"shop.(*Directory).Lookup.deferwrap1": "shop.(*Directory).Lookup",
		"main.f.func1.gowrap12":               "main.f.func1",
		"main.f.func1":                        "main.f.func1",
		"main.f.deferwrapped":                 "main.f.deferwrapped",
		"main":                                "main",
	} {
		if got := Unwrapped(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
