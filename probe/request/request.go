// Package request marks requests in execution traces, so that redline finds
// them exactly and by the id that it sent with them.
//
//	http.ListenAndServe(addr, request.Handler(mux))
//
// Each sampled request becomes a task of type "redline.request" with a log of
// category "id" (package runtime/trace). Whoever sends a request decides whether
// it is sampled: redline's own header, or a W3C traceparent whose sampled flag is
// set, says so. While no trace is taken, which is nearly always, a request costs one
// load of a flag: no header is read and nothing is allocated.
//
// Begin marks a request that is not a net/http request:
//
//	ctx, end := request.Begin(ctx, id)
//	defer end()
package request

import (
	"context"
	"net/http"
	"runtime/trace"
)

// What a marked request looks like in a trace.
const (
	// TaskType is the type of its task.
	TaskType = "redline.request"
	// Category is the category of the log that holds its id.
	Category = "id"
	// Header carries the id of a request that redline wants marked.
	Header = "X-Redline-Request"
)

// maxID bounds an id: it comes from whoever sends requests, and goes into the
// trace. A longer one is cut.
const maxID = 64

// Handler returns next with its sampled requests marked.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !trace.IsEnabled() {
			next.ServeHTTP(w, r)
			return
		}
		id, ok := ID(r.Header)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		ctx, end := Begin(r.Context(), id)
		defer end() // also when next panics, as it does to cut a connection
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Begin marks the code that runs until end is called as the request with the given
// id. end must be called once, from any goroutine.
func Begin(ctx context.Context, id string) (_ context.Context, end func()) {
	if !trace.IsEnabled() {
		return ctx, nothing
	}
	ctx, task := trace.NewTask(ctx, TaskType)
	trace.Log(ctx, Category, clean(id))
	return ctx, task.End
}

func nothing() {}

// ID returns the id under which to mark a request: that of redline's
// header, or else the trace id of its traceparent. It is false when the request
// is not sampled.
func ID(h http.Header) (id string, ok bool) {
	if id = h.Get(Header); id != "" {
		return clean(id), true
	}
	return traceID(h.Get("Traceparent"))
}

// traceID reads a W3C traceparent (Trace Context, section 3.2), as in
// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". A later version may
// be followed by more.
func traceID(parent string) (string, bool) {
	const length = 55
	if len(parent) < length || len(parent) > length && parent[length] != '-' ||
		parent[2] != '-' || parent[35] != '-' || parent[52] != '-' || parent[:2] == "ff" {
		return "", false
	}
	for i := 0; i < length; i++ {
		c := parent[i]
		if i != 2 && i != 35 && i != 52 && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	const sampled = 1
	flags := parent[54] // its lowest four bits as a digit
	if flags >= 'a' {
		flags -= 'a' - 10
	}
	id := parent[3:35]
	return id, flags&sampled != 0 && id != "00000000000000000000000000000000"
}

// clean bounds an id and removes what a terminal should not see.
func clean(id string) string {
	if len(id) > maxID {
		id = id[:maxID]
	}
	for i := 0; i < len(id); i++ {
		if id[i] <= ' ' || id[i] >= 0x7f {
			return cleaned(id)
		}
	}
	return id
}

func cleaned(id string) string {
	b := []byte(id)
	for i, c := range b {
		if c <= ' ' || c >= 0x7f {
			b[i] = '_'
		}
	}
	return string(b)
}
