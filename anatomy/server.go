package anatomy

import (
	"strings"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// server says which server a goroutine belongs to, and so how its requests are
// distinguished.
type server uint8

const (
	serverNone   server = iota
	serverHTTP          // net/http, HTTP/1: a goroutine per connection
	serverHTTP2         // net/http or golang.org/x/net/http2: a goroutine per stream
	serverGRPC          // gRPC-go: a goroutine per call, or workers that take one after another
	serverFast          // fasthttp: a goroutine per connection, then for the next one
	serverMarked        // any other: the probe's task is the request
)

var servers = [...]string{"", breakdown.ServerHTTP, breakdown.ServerHTTP2, breakdown.ServerGRPC,
	breakdown.ServerFastHTTP, breakdown.ServerMarked}

// Functions of the other servers that mark a request. Closures are numbered, and
// the numbers change between versions, so prefixes have to do.
const (
	grpcServer    = "google.golang.org/grpc.(*Server)."
	grpcStream    = grpcServer + "serveStreams."
	grpcWorker    = grpcServer + "serverWorker"
	fastServer    = "github.com/valyala/fasthttp.(*Server)."
	fastServeConn = fastServer + "serveConn" // and serveConnCounted
	fastPool      = "github.com/valyala/fasthttp.(*workerPool)."
	fastWorker    = fastPool + "workerFunc"
)

// entryServer decides by the function that a goroutine begins in whether it
// serves requests, and whether it lives for one alone.
func entryServer(entry string) (s server, single bool) {
	switch {
	case entry == connServe:
		return serverHTTP, false
	case strings.HasSuffix(entry, "erverConn).runHandler") && http2(entry):
		return serverHTTP2, true
	case strings.HasPrefix(entry, grpcStream):
		return serverGRPC, true
	case entry == grpcWorker:
		return serverGRPC, false
	case strings.HasPrefix(entry, fastPool+"getCh"), entry == fastWorker:
		return serverFast, false
	}
	return serverNone, false
}

// classify decides by a stack which server its goroutine belongs to and which
// part of serving it is in.
func classify(frames []code.Frame) (class, server) {
	if len(frames) == 0 {
		return classNone, serverNone
	}
	for i, f := range frames {
		switch {
		case strings.HasPrefix(f.Function, fastServeConn):
			return classifyFast(frames[:i]), serverFast
		case f.Function == fastWorker:
			return classifyPool(frames[:i]), serverFast
		case f.Function == grpcWorker:
			return classifyWorker(frames[:i]), serverGRPC
		}
	}
	if outermost := frames[len(frames)-1].Function; len(frames) < traceDepth {
		if s, single := entryServer(outermost); single {
			return classStream, s
		}
	}
	k := classifyHTTP(frames)
	if k == classForeign || k == classDeep {
		return k, serverNone
	}
	return k, serverHTTP
}

// classifyFast takes the frames below fasthttp's serveConn. Its own steps are
// direct callees of that function; anything else is the handler.
//
// Hazard: a busy host preempts a goroutine in any of them, however short. One
// that is taken for a wait for the next request, or for the handler, makes two
// requests of one.
func classifyFast(below []code.Frame) class {
	if len(below) == 0 {
		return classNone // it was preempted there, which says nothing
	}
	callee := below[len(below)-1].Function
	for _, step := range fastSteps {
		if strings.HasPrefix(callee, step.prefix) {
			return step.class
		}
	}
	return classHandler
}

// fastSteps are what serveConn does around a handler. The order matters: the
// first prefix that fits decides.
var fastSteps = []struct {
	prefix string
	class  class
}{
	{"github.com/valyala/fasthttp.acquireByteReader", classIdle},
	{"github.com/valyala/fasthttp.acquire", classNone}, // memory
	{"github.com/valyala/fasthttp.release", classNone},
	{"github.com/valyala/fasthttp.(*RequestCtx).", classNone},
	{"bufio.(*Reader).Peek", classIdle},
	{"bufio.(*Reader).", classNone}, // what is buffered
	{"github.com/valyala/fasthttp.(*RequestHeader).Read", classRead},
	{"github.com/valyala/fasthttp.(*RequestHeader).readLoop", classRead},
	{"github.com/valyala/fasthttp.(*RequestHeader).tryRead", classRead},
	// Asked of before and after the handler: whether to close, and which version.
	{"github.com/valyala/fasthttp.(*RequestHeader).", classNone},
	{"github.com/valyala/fasthttp.(*ResponseHeader).", classNone},
	{"github.com/valyala/fasthttp.nextConnID", classNone},
	{"github.com/valyala/fasthttp.(*Request).Reset", classNone}, // once it is answered
	{"github.com/valyala/fasthttp.(*Request).", classBody},
	{"github.com/valyala/fasthttp.writeResponse", classFinish},
	{"github.com/valyala/fasthttp.(*Response).", classFinish},
	{fastServer + "writeErrorResponse", classFinish},
	{"bufio.(*Writer).", classFinish},
	{"bufio.New", classNone},
	{fastServer, classNone}, // hooks, the handshake
	{"net.(*", classNone},
	{"crypto/tls.", classNone},
	{"sync.", classNone}, // its table of connections
	{"sync/atomic.", classNone},
	{"internal/", classNone}, // what sync and maps are made of
	{"time.", classNone},     // deadlines
	{"runtime.", classNone},
}

// classifyPool takes the frames below fasthttp's worker that are not in
// serveConn: the wait for the next connection, or closing the last one.
func classifyPool(below []code.Frame) class {
	if waitsForChannel(below) {
		return classAccept
	}
	return classOutside
}

// classifyWorker takes the frames below a gRPC worker. Its channel has no buffer
// and its sender does not wait, so each call begins by waking it.
func classifyWorker(below []code.Frame) class {
	if waitsForChannel(below) {
		return classAccept
	}
	return classHandler
}

// wakesWorker decides by the stack that woke a goroutine whether that is a gRPC
// worker, which is handed a call or told to end.
func wakesWorker(frames []code.Frame) (closes, hands bool) {
	for i, f := range frames {
		if !strings.HasPrefix(f.Function, "runtime.") {
			closes = strings.HasPrefix(f.Function, "google.golang.org/grpc.")
			hands = i > 0 && strings.HasPrefix(f.Function, grpcStream) && strings.HasPrefix(frames[i-1].Function, "runtime.selectnbsend")
			return closes && !hands, hands
		}
	}
	return false, false
}

// waitsForChannel reports whether a function with these frames below it, all of
// the runtime, receives from a channel.
func waitsForChannel(below []code.Frame) bool {
	for _, f := range below {
		if !strings.HasPrefix(f.Function, "runtime.") {
			return false
		}
	}
	return len(below) > 0
}
