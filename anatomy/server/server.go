// Package server knows the servers by their functions: which goroutines serve requests,
// and which part of serving a stack is in. The package comment of anatomy says where
// requests begin and end.
package server

import (
	"strings"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Kind is the server library that a goroutine belongs to, which decides how its requests
// are recognised.
type Kind uint8

// The kinds of servers.
const (
	None     Kind = iota // not a server's, as far as is known
	HTTP                 // net/http, HTTP/1: a goroutine per connection
	HTTP2                // net/http or golang.org/x/net/http2: a goroutine per stream
	GRPC                 // gRPC-go: a goroutine per call, or workers that take one after another
	FastHTTP             // fasthttp: a goroutine per connection, then for the next one
	Marked               // any other: the probe's task is the request
)

// Names are the kinds as the record names them.
var Names = [...]string{"", breakdown.ServerHTTP, breakdown.ServerHTTP2, breakdown.ServerGRPC,
	breakdown.ServerFastHTTP, breakdown.ServerMarked}

// Functions of the other servers that mark a request. Closures are numbered, and
// the numbers change between versions, so prefixes have to do.
const (
	grpcServer    = "google.golang.org/grpc.(*Server)."
	grpcStream    = grpcServer + "serveStreams."
	grpcWorker    = grpcServer + "serverWorker"
	fastServer    = "github.com/valyala/fasthttp.(*Server)."
	FastServeConn = fastServer + "serveConn" // and serveConnCounted
	fastPool      = "github.com/valyala/fasthttp.(*workerPool)."
	FastWorker    = fastPool + "workerFunc"
)

// OfEntry decides by the function that a goroutine begins in whether it
// serves requests, and whether it lives for one alone.
func OfEntry(entry string) (s Kind, single bool) {
	switch {
	case entry == connServe:
		return HTTP, false
	case strings.HasSuffix(entry, "erverConn).runHandler") && http2(entry):
		return HTTP2, true
	case strings.HasPrefix(entry, grpcStream):
		return GRPC, true
	case entry == grpcWorker:
		return GRPC, false
	case strings.HasPrefix(entry, fastPool+"getCh"), entry == FastWorker:
		return FastHTTP, false
	}
	return None, false
}

// Classify decides by a stack which server its goroutine belongs to and which
// part of serving it is in.
func Classify(frames []code.Frame) (Class, Kind) {
	if len(frames) == 0 {
		return ClassNone, None
	}
	for i, f := range frames {
		switch {
		case strings.HasPrefix(f.Function, FastServeConn):
			return classifyFast(frames[:i]), FastHTTP
		case f.Function == FastWorker:
			return classifyPool(frames[:i]), FastHTTP
		case f.Function == grpcWorker:
			return classifyWorker(frames[:i]), GRPC
		}
	}
	if s, single := OfEntry(frames[len(frames)-1].Function); single {
		return ClassStream, s
	}
	k := classifyHTTP(frames)
	if k == ClassForeign || k == ClassDeep {
		return k, None
	}
	return k, HTTP
}

// classifyFast takes the frames below fasthttp's serveConn. Its own steps are
// direct callees of that function; anything else is the handler.
//
// Hazard: a busy host preempts a goroutine in any of them, however short. If such a step
// is taken for a wait for the next request, or for the handler, one request becomes two.
func classifyFast(below []code.Frame) Class {
	if len(below) == 0 {
		return ClassNone // it was preempted there, which says nothing
	}
	callee := below[len(below)-1].Function
	for _, step := range fastSteps {
		if strings.HasPrefix(callee, step.prefix) {
			return step.class
		}
	}
	return ClassHandler
}

// fastSteps are what serveConn does around a handler. The order matters: the
// first prefix that fits decides.
var fastSteps = []struct {
	prefix string
	class  Class
}{
	{"github.com/valyala/fasthttp.acquireByteReader", ClassIdle},
	{"github.com/valyala/fasthttp.acquire", ClassNone}, // memory
	{"github.com/valyala/fasthttp.release", ClassNone},
	{"github.com/valyala/fasthttp.(*RequestCtx).", ClassNone},
	{"bufio.(*Reader).Peek", ClassIdle},
	{"bufio.(*Reader).", ClassNone}, // what is buffered
	{"github.com/valyala/fasthttp.(*RequestHeader).Read", ClassRead},
	{"github.com/valyala/fasthttp.(*RequestHeader).readLoop", ClassRead},
	{"github.com/valyala/fasthttp.(*RequestHeader).tryRead", ClassRead},
	// Called before and after the handler: whether to close, and which version.
	{"github.com/valyala/fasthttp.(*RequestHeader).", ClassNone},
	{"github.com/valyala/fasthttp.(*ResponseHeader).", ClassNone},
	{"github.com/valyala/fasthttp.nextConnID", ClassNone},
	{"github.com/valyala/fasthttp.(*Request).Reset", ClassNone}, // once it is answered
	{"github.com/valyala/fasthttp.(*Request).", ClassBody},
	{"github.com/valyala/fasthttp.writeResponse", ClassFinish},
	{"github.com/valyala/fasthttp.(*Response).", ClassFinish},
	{fastServer + "writeErrorResponse", ClassFinish},
	{"bufio.(*Writer).", ClassFinish},
	{"bufio.New", ClassNone},
	{fastServer, ClassNone}, // hooks, the handshake
	{"net.(*", ClassNone},
	{"crypto/tls.", ClassNone},
	{"sync.", ClassNone}, // its table of connections
	{"sync/atomic.", ClassNone},
	{"internal/", ClassNone}, // what sync and maps are made of
	{"time.", ClassNone},     // deadlines
	{"runtime.", ClassNone},
}

// classifyPool takes the frames below fasthttp's worker that are not in
// serveConn: the wait for the next connection, or closing the last one.
func classifyPool(below []code.Frame) Class {
	if k, own := ofWorker(below); own {
		return k
	}
	return ClassOutside
}

// classifyWorker takes the frames below a gRPC worker. Its channel has no buffer
// and its sender does not wait, so each call begins by waking it.
func classifyWorker(below []code.Frame) Class {
	if k, own := ofWorker(below); own {
		return k
	}
	return ClassHandler
}

// ofWorker returns the class of a function that takes work from a channel, by the frames
// below it, if these are its own or the runtime's: it waits for the channel, or was
// preempted, which says nothing.
func ofWorker(below []code.Frame) (k Class, own bool) {
	if len(below) == 0 {
		return ClassNone, true // it may not have begun
	}
	callee := below[len(below)-1].Function
	if strings.HasPrefix(callee, "runtime.chanrecv") {
		return ClassAccept, true
	}
	return ClassNone, strings.HasPrefix(callee, "runtime.")
}

// WakesWorker decides by the stack that woke a goroutine whether that is a gRPC worker,
// which gets a call or is made to end.
func WakesWorker(frames []code.Frame) (closes, hands bool) {
	for i, f := range frames {
		if !strings.HasPrefix(f.Function, "runtime.") {
			closes = strings.HasPrefix(f.Function, "google.golang.org/grpc.")
			hands = i > 0 && strings.HasPrefix(f.Function, grpcStream) && strings.HasPrefix(frames[i-1].Function, "runtime.selectnbsend")
			return closes && !hands, hands
		}
	}
	return false, false
}

// Many reports whether a server's goroutine serves one request after another.
func (s Kind) Many() bool { return s == HTTP || s == FastHTTP }
