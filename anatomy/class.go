package anatomy

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Functions of net/http that mark a request; their names have stood since
// Go 1.8, and the fixtures in testdata fail when one moves.
const (
	connServe       = "net/http.(*conn).serve"
	connServeDefer  = "net/http.(*conn).serve.func1"
	readRequest     = "net/http.(*conn).readRequest"
	serveH2C        = "net/http.(*conn).maybeServeUnencryptedHTTP2"
	serveHandler    = "net/http.serverHandler.ServeHTTP"
	finishRequest   = "net/http.(*response).finishRequest"
	backgroundRead  = "net/http.(*connReader).backgroundRead"
	startBackground = "net/http.(*connReader).startBackgroundRead"
	abortRead       = "net/http.(*connReader).abortPendingRead"
	hijack          = "net/http.(*conn).hijackLocked"
	peek            = "bufio.(*Reader).Peek"
)

// class says which part of serving a stack belongs to.
type class uint8

const (
	classNone    class = iota // no stack
	classForeign              // not a connection's goroutine
	classDeep                 // its outermost frames are lost
	classIdle                 // waits for a next request's first bytes
	classRead                 // reads a request's header
	classBegin                // starts the background reader, just before the handler
	classHandler              // below the handler
	classFinish               // flushes the response, drains the body
	classEnd                  // stops the background reader, after the flush
	classHijack               // stops it because the handler takes the connection over
	classOutside              // handshake, hooks, closing: between requests
	classHTTP2                // serves HTTP/2, whose requests have goroutines of their own
	classBody                 // reads a request's body before the handler
	classAccept               // waits for the next connection, or the next call
	classStream               // serves one request and ends
)

// classifyHTTP looks for net/http's own frames, from the most telling on. The
// order matters: a panicking handler's stack holds the deferred function of serve
// above the handler, and a body's end may start the background reader anywhere
// below the handler or in finishRequest.
func classifyHTTP(frames []code.Frame) class {
	at := map[string]int{}
	serve := -1
	for i, f := range frames {
		if strings.HasSuffix(f.Function, "erverConn).serve") && http2(f.Function) {
			return classHTTP2 // perhaps inside a handler that took the connection over
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
	case serve < 0 && len(frames) >= traceDepth:
		return classDeep
	case serve < 0:
		return classForeign
	case has(abortRead) && has(hijack):
		return classHijack
	case has(abortRead):
		return classEnd
	case has(connServeDefer):
		return classOutside
	case has(serveHandler):
		return classHandler
	case has(finishRequest):
		return classFinish
	case has(startBackground):
		return classBegin
	case has(readRequest), has(serveH2C):
		return classRead
	case serve == 0:
		return classNone // it was preempted there, which says nothing
	case frames[serve-1].Function == peek:
		return classIdle
	case http2(frames[serve-1].Function):
		return classHTTP2
	}
	return classOutside
}

// http2 reports whether a function belongs to an HTTP/2 implementation: the
// bundled one of net/http, its later internal package, or golang.org/x/net.
func http2(function string) bool {
	return strings.HasPrefix(function, "net/http.http2") || strings.HasPrefix(function, "net/http.(*http2") ||
		strings.HasPrefix(function, "net/http/internal/http2.") || strings.HasPrefix(function, "golang.org/x/net/http2.")
}
