// Package anatomy takes requests apart: from Go execution traces of a server it
// finds each request that net/http served (and so gin, echo, chi, or anything
// else above it) and divides its time into running, waiting for a processor, GC
// assist, stop-the-world, locks, channels, sleep, network and system calls, each
// with the stack that waited. Nothing need be linked into the server but
// net/http/pprof.
//
// # Where a request begins and ends
//
// A connection's goroutine (net/http.(*conn).serve) serves its requests one
// after another, and waiting alone does not tell them apart: when the bytes of
// the next request are already there, the goroutine does not block between the
// two. What net/http does around every request tells:
//
//   - it reads the request's first bytes in Peek (or, on a new connection, in
//     readRequest). If it had to wait for them, the request begins when they made
//     the goroutine ready, so that the delay until it got a processor counts;
//     else it begins where the last request ended, or where the connection was
//     accepted or its TLS handshake done: the bytes may have been there since.
//   - just before the handler, or when the body has been read to its end, it
//     starts a goroutine in (*connReader).backgroundRead, which notices clients
//     that go away.
//   - after the response is flushed it stops that goroutine in
//     (*connReader).abortPendingRead and waits for it. The first sign of that is
//     the request's end.
//   - where no background reader is left to stop (the client pipelined or went
//     away, the body was never read to its end) the end is the end of the last
//     flush in (*response).finishRequest, known when the goroutine goes on to
//     read, to close, or to end.
//
// Requests that an edge of the trace cuts are left out and counted, and so are
// hijacked connections. A request that shows two background readers is two
// merged; it is left out and counted too, and lowers Coverage.
//
// # What the states mean
//
// A state is what the request's own goroutine was doing. Every system call that
// the runtime traces is "syscall", short ones too; calls that go around the
// scheduler are within running. Time from the start to the end of a mark assist
// is "gc-assist", whether the goroutine marked or waited for credit. Time ready
// but stopped is "stop-the-world", and so is the time of a goroutine that stops
// the world itself. The server's own wait in abortPendingRead, which only a
// request that follows without a pause can contain, is "runnable": all it waits
// for is that the background reader gets a processor.
//
// The kernel's part before the runtime polled the network is not in the trace.
//
// # Designs rejected
//
// Splitting at waits alone merged requests (mean 23.6 ms where 11 ms was true).
// Keeping every event of every goroutine would follow fan-out exactly, but takes
// memory in proportion to the trace; the waker of a wait, kept per part, tells
// most of it at no cost.
package anatomy
