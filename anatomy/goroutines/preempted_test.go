package goroutines

import (
	"slices"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/record/code"
)

// TestFastHTTPPreempted lets one request over a connection of fasthttp be preempted in
// whatever its goroutine calls around the handler, as a busy host does: that must not
// split it in two.
func TestFastHTTPPreempted(t *testing.T) {
	const own = "github.com/valyala/fasthttp."
	type place struct {
		callee string
		in     string // the function of fasthttp that calls it
	}
	serve := server.FastServeConn + "Counted"
	// In the order of fasthttp 1.73; the steps that are not preempted are those without
	// which there is no request.
	walk := []struct {
		place
		preempted bool
	}{
		{place{own + "nextConnID", serve}, true},
		{place{"sync/atomic.(*Int32).Add", serve}, true},
		{place{own + "acquireByteReader", serve}, false}, // waits
		{place{"sync/atomic.(*Int64).Store", serve}, true},
		{place{own + "(*RequestHeader).Read", serve}, false},
		{place{own + "(*Request).readLimitBody", serve}, true},
		{place{own + "(*Request).MayContinue", serve}, true},
		{place{own + "(*RequestHeader).ConnectionClose", serve}, true},
		{place{own + "(*ResponseHeader).SetServer", serve}, true},
		{place{"main.handle", serve}, false},
		{place{own + "(*RequestHeader).IsHTTP11", serve}, true},
		{place{own + "(*ResponseHeader).ConnectionClose", serve}, true},
		{place{own + "writeResponse", serve}, false},
		{place{"bufio.(*Reader).Buffered", serve}, true},
		{place{"bufio.(*Writer).Flush", serve}, false},
		{place{own + "releaseWriter", serve}, true},
		{place{"sync/atomic.(*Int64).Store", serve}, true},
		{place{own + "(*Request).Reset", serve}, true},
		{place{own + "(*Response).Reset", serve}, true},
		{place{own + "acquireByteReader", serve}, false}, // the connection's end
		{place{"internal/runtime/maps.(*Map).Delete", serve}, true},
		{place{"sync/atomic.(*Int32).Add", server.FastServeConn + "Cleanup"}, true},
		{place{"net.(*conn).Close", server.FastWorker}, false},
	}
	for n, at := range walk {
		if !at.preempted {
			continue
		}
		c, ended := Conn{Server: server.FastHTTP, Phase: PhaseNew, Based: true}, []string(nil)
		for i, step := range walk {
			if step.preempted && i != n {
				continue
			}
			frames := []code.Frame{{Function: step.callee}, {Function: step.in}, {Function: server.FastWorker}}
			if step.in == server.FastWorker {
				frames = frames[:2]
			}
			k, s := server.Classify(frames)
			if s != server.FastHTTP {
				t.Fatalf("%s is of server %d", step.callee, s)
			}
			now := trace.Time(10 * (i + 1))
			for {
				end, over := c.See(k, now)
				if !over {
					break
				}
				ended = append(ended, step.callee)
				c.Take(end)
				if k.Leaves() {
					break
				}
			}
			if k == server.ClassIdle {
				c.Woken(k, false, now+5)
			}
		}
		if !slices.Equal(ended, []string{own + "acquireByteReader"}) {
			t.Errorf("preempted in %s of %s: requests ended at %q", at.callee, at.in, ended)
		}
	}
}

// TestPanicPreempted preempts a connection's goroutine once more after a panicking handler's
// connection is closed: gopanic, and the handler below it, are still on the stack then.
func TestPanicPreempted(t *testing.T) {
	const serve, handler = "net/http.(*conn).serve", "net/http.serverHandler.ServeHTTP"
	stacks := [][]string{
		{"net/http.(*connReader).startBackgroundRead", serve},
		{"main.handle", handler, serve},
		{"net/http.(*connReader).abortPendingRead", "net/http.(*conn).serve.func1", "runtime.gopanic", "main.handle", handler, serve},
		{"net.(*conn).Close", "net/http.(*conn).serve.func1", "runtime.gopanic", "main.handle", handler, serve},
		{"runtime.gopanic", "main.handle", handler, serve},
	}
	c, ended := Conn{Server: server.HTTP, Phase: PhaseIdle, Based: true}, 0
	for i, functions := range stacks {
		var frames []code.Frame
		for _, f := range functions {
			frames = append(frames, code.Frame{Function: f})
		}
		k, _ := server.Classify(frames)
		if _, over := c.See(k, trace.Time(10*(i+1))); over {
			ended++
		}
	}
	if ended != 1 || c.Phase != PhaseGone {
		t.Errorf("%d requests ended, phase %d; want 1 and %d", ended, c.Phase, PhaseGone)
	}
}

// TestPreemptedInItself: what is seen of a server's goroutine when it is preempted in its own
// function, or that allocates, neither begins a request nor ends one.
func TestPreemptedInItself(t *testing.T) {
	for _, entry := range []struct {
		function string
		server   server.Kind
	}{
		{"net/http.(*conn).serve", server.HTTP},
		{"google.golang.org/grpc.(*Server).serverWorker", server.GRPC},
		{server.FastWorker, server.FastHTTP},
	} {
		for _, callee := range []string{"", "runtime.asyncPreempt", "runtime.newobject"} {
			frames := []code.Frame{{Function: callee}, {Function: entry.function}}
			if callee == "" {
				frames = frames[1:]
			}
			k, _ := server.Classify(frames)
			for _, phase := range []Phase{PhaseNew, PhaseIdle, PhaseActive, PhaseEnded} {
				c := Conn{Server: entry.server, Phase: phase, Based: true}
				if _, ended := c.See(k, 10); ended || c.Phase != phase {
					t.Errorf("%q in %s: phase %d became %d", callee, entry.function, phase, c.Phase)
				}
			}
		}
	}
}
