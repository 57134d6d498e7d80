package callstack_test

import (
	"testing"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/diagnosetest"
)

// TestObserves: the innermost frame outside the standard library separates the probe's work from
// the service's.
func TestObserves(t *testing.T) {
	const injected = "shop/internal/redlineprobe/"
	for _, c := range []struct {
		name   string
		frames []string
		want   bool
	}{
		{"probe's goroutine", []string{"runtime.memmove", injected + "ring.store", injected + "sampler.(*Loop).Run"}, true},
		{"hook in a request", []string{"runtime.mallocgc", injected + "operations.begin", "database/sql.(*DB).queryDC",
			"main.list@main.go:9"}, true},
		{"handler below the probe's middleware", []string{"runtime.mallocgc", "main.list@main.go:9",
			"github.com/redline-go/redline/probe/request.Handler.func1"}, false},
		{"event of a trace", []string{"runtime.(*traceBuf).varint", "runtime.traceLocker.GoPark", "runtime.gopark",
			"sync.(*Mutex).Lock", "main.list@main.go:9"}, true},
		{"writer of a profile", []string{"compress/flate.(*compressor).deflate", "runtime/pprof.profileWriter"}, true},
		{"asked over HTTP", []string{"compress/flate.(*compressor).deflate", "runtime/pprof.(*Profile).WriteTo",
			"net/http/pprof.handler.ServeHTTP", "main.logged@main.go:5", "net/http.(*conn).serve"}, true},
		{"stacks that the service asks for", []string{"runtime.tracebackPCs", "runtime.Callers", "main.list@main.go:9"}, false},
		{"a library's work", []string{"runtime.mallocgc", "github.com/jackc/pgx/v5.(*Conn).Query", "main.list@main.go:9"}, false},
		{"none", nil, false},
	} {
		if got := callstack.Observes(diagnosetest.Stack(c.frames...)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestPlaceBelowMiddleware: if a middleware of the user passes the request on, the place is the
// handler that it reaches, the user's or a library's.
func TestPlaceBelowMiddleware(t *testing.T) {
	x := callstack.NewIndex(callstack.Code{Module: "shop"})
	const hop, logged = "net/http.HandlerFunc.ServeHTTP", "shop/web.logged.func1@log.go:9"
	for _, c := range []struct {
		frames []string
		want   string
	}{
		{[]string{"encoding/json.Marshal", "shop/web.list@list.go:3", hop, logged, hop}, "shop/web.list"},
		{[]string{"compress/gzip.(*Writer).Write", "github.com/prometheus/client_golang/prometheus/promhttp.HandlerForTransactional.func1",
			hop, logged, hop}, "github.com/prometheus/client_golang/prometheus/promhttp.HandlerForTransactional.func1"},
		{[]string{"log.(*Logger).Output", logged, hop}, "shop/web.logged.func1"},
		{[]string{"runtime.gopark", "sync.(*Mutex).Lock", hop, logged, hop}, "shop/web.logged.func1"},
		// A handler that is a ServeHTTP itself asks; it hands on only what was made before.
		{[]string{"net.(*conn).Read", "github.com/redis/go-redis/v9.(*Client).Get", "shop/web.(*API).ServeHTTP@api.go:9", hop},
			"shop/web.(*API).ServeHTTP"},
		{[]string{"net.(*conn).Read", "github.com/acme/feed.New.func1", "shop/web.(*API).ServeHTTP@api.go:9", hop},
			"github.com/acme/feed.New.func1"},
		// A wrapper of system calls is nobody's reason for them.
		{[]string{"golang.org/x/sys/unix.Fdatasync", "github.com/cockroachdb/pebble/vfs.(*linuxFile).SyncData",
			"github.com/cockroachdb/pebble/record.NewLogWriter.func2"}, "github.com/cockroachdb/pebble/vfs.(*linuxFile).SyncData"},
		// A driver that wraps another asks for nothing; a value that scans itself is the service's work.
		{[]string{"syscall.connect", "github.com/lib/pq.Open", "shop/db.(*counted).Open", "database/sql.dsnConnector.Connect",
			"database/sql.(*DB).conn", "database/sql.(*DB).QueryContext", "shop/orders.list", hop}, "shop/orders.list"},
		{[]string{"syscall.connect", "github.com/lib/pq.Open", "shop/db.(*counted).Open", "database/sql.dsnConnector.Connect",
			"database/sql.(*DB).connectionOpener"}, "shop/db.(*counted).Open"},
		{[]string{"encoding/json.Unmarshal", "shop/orders.(*Items).Scan", "database/sql.convertAssignRows", "database/sql.(*Rows).Scan",
			"shop/orders.list", hop}, "shop/orders.(*Items).Scan"},
	} {
		if f, _ := x.Place(diagnosetest.Stack(c.frames...)); f.Function != c.want {
			t.Errorf("%v: %s, want %s", c.frames, f.Function, c.want)
		}
	}
}
