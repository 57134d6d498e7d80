package callstack_test

import (
	"testing"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/diagnosetest"
)

// TestObserves: the observation's work is told from the service's by the innermost frame outside
// the standard library.
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
