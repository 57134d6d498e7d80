package server

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Functions of net/http that mark a request. Their names have not changed since Go 1.8, and the fixtures in testdata fail if one does.
const (
	connServe       = "net/http.(*conn).serve"
	connServeDefer  = "net/http.(*conn).serve.func1"
	readRequest     = "net/http.(*conn).readRequest"
	serveH2C        = "net/http.(*conn).maybeServeUnencryptedHTTP2"
	serveHandler    = "net/http.serverHandler.ServeHTTP"
	finishRequest   = "net/http.(*response).finishRequest"
	BackgroundRead  = "net/http.(*connReader).backgroundRead"
	startBackground = "net/http.(*connReader).startBackgroundRead"
	abortRead       = "net/http.(*connReader).abortPendingRead"
	hijack          = "net/http.(*conn).hijackLocked"
	peek            = "bufio.(*Reader).Peek"
)

// TraceDepth is the number of frames that the runtime records at most.
const TraceDepth = 128

// Deep is the number of frames from which a stack may have lost its outermost ones. It is less than TraceDepth, because the bound
// counts the wrappers that the compiler makes too, and the trace leaves those out: layers of an SDK that call each other through
// interfaces were cut at 121.
const Deep = 100

// Class is the part of serving that a stack belongs to.
type Class uint8

// The classes; Class.Leaves reports those seen only between requests.
const (
	ClassNone    Class = iota // no stack
	ClassForeign              // not a connection's goroutine
	ClassDeep                 // its outermost frames are lost
	ClassIdle                 // waits for a next request's first bytes
	ClassRead                 // reads a request's header
	ClassBegin                // starts the background reader, just before the handler
	ClassHandler              // below the handler
	ClassFinish               // flushes the response, drains the body
	ClassEnd                  // stops the background reader, after the flush
	ClassHijack               // stops it because the handler takes the connection over
	ClassOutside              // handshake, hooks: between requests
	ClassClose                // closes the connection, whose goroutine serves no more
	ClassHTTP2                // serves HTTP/2, whose requests have goroutines of their own
	ClassBody                 // reads a request's body before the handler
	ClassAccept               // waits for the next connection, or the next call
	ClassStream               // serves one request and ends
)

// classifyHTTP looks for net/http's own frames, the most specific first. The order
// matters: a panicking handler's stack holds the deferred function of serve above the
// handler, and a body's end may start the background reader anywhere below the handler
// or in finishRequest.
func classifyHTTP(frames []code.Frame) Class {
	at := map[string]int{}
	serve := -1
	for i, f := range frames {
		if strings.HasSuffix(f.Function, "erverConn).serve") && http2(f.Function) {
			return ClassHTTP2 // perhaps inside a handler that took the connection over
		}
		switch f.Function {
		case connServe:
			serve = i
		case connServeDefer, readRequest, serveH2C, serveHandler, finishRequest, startBackground, abortRead, hijack:
			if _, seen := at[f.Function]; !seen {
				at[f.Function] = i
			}
		}
	}
	has := func(function string) bool { _, ok := at[function]; return ok }
	switch {
	case serve < 0 && len(frames) >= Deep:
		return ClassDeep
	case serve < 0:
		return ClassForeign
	case has(abortRead) && has(hijack):
		return ClassHijack
	case has(abortRead):
		return ClassEnd
	case has(connServeDefer):
		return ClassClose
	case has(serveHandler):
		return ClassHandler
	case has(finishRequest):
		return ClassFinish
	case has(startBackground):
		return ClassBegin
	case has(readRequest), has(serveH2C):
		return ClassRead
	case serve == 0:
		return ClassNone // it was preempted there, which says nothing
	case frames[serve-1].Function == peek:
		return ClassIdle
	case strings.HasPrefix(frames[serve-1].Function, "runtime."):
		return ClassNone // memory, or a preemption: neither says where in serve it is
	case http2(frames[serve-1].Function):
		return ClassHTTP2
	}
	return ClassOutside
}

// http2 reports whether a function belongs to an HTTP/2 implementation: the
// bundled one of net/http, its later internal package, or golang.org/x/net.
func http2(function string) bool {
	return strings.HasPrefix(function, "net/http.http2") || strings.HasPrefix(function, "net/http.(*http2") ||
		strings.HasPrefix(function, "net/http/internal/http2.") || strings.HasPrefix(function, "golang.org/x/net/http2.")
}

// Leaves reports whether a class is seen only while no request is served.
func (k Class) Leaves() bool {
	return k == ClassIdle || k == ClassRead || k == ClassEnd || k == ClassOutside || k == ClassClose || k == ClassAccept
}
