// Package anatomy takes requests apart: from Go execution traces of a server it finds
// each request and divides its time into running, waiting for a processor, GC assist,
// stop-the-world, locks, channels, sleep, network and system calls, each with the stack
// that waited, and with what the goroutine that it waited for was doing. The server needs
// to import only net/http/pprof.
//
// # Where a request begins and ends
//
// On net/http with HTTP/1 (and so gin, echo, chi, or anything else above it) a
// connection's goroutine (net/http.(*conn).serve) serves its requests one
// after another, and waiting alone does not separate them: when the bytes of
// the next request are already there, the goroutine does not block between the
// two. What net/http does around every request decides:
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
// The other servers are found by the functions that their goroutines begin in:
//
//   - HTTP/2, of net/http or golang.org/x/net, has a goroutine per stream, whose
//     life is the request. The last frame of the response is written within it;
//     what the connection's goroutines did before they started it is not.
//   - gRPC-go has one per call, or, with NumStreamWorkers, workers that each call
//     wakes: their channel has no buffer. A stream is one request, however many
//     messages it carries. The response is handed to the connection's writer and
//     not waited for. Served through net/http, the stream's goroutine is the
//     request.
//   - fasthttp's goroutines serve connection after connection. A request begins
//     like one of net/http, with its first bytes, and ends with the last flush
//     before the next read. Requests that came in one read (pipelining) leave no
//     sign between them and count as one, which the trace does not reveal.
//
// The probe's markers (a task of type breakdown.RequestTask around the handler) give a
// request the id that the load half sent. If a goroutine shows a second task, the end of
// the first separates two requests that looked like one; if the goroutine belongs to no
// known server, the task is the request. A marker in a goroutine that a request started
// marks that request.
//
// Requests that an edge of the trace cuts are left out and counted, and so are
// hijacked connections. A request that shows two background readers is two
// merged; it is left out and counted too, and lowers Coverage.
//
// # What the states mean
//
// A state is what the request's own goroutine was doing. Every system call that the
// runtime traces is "syscall", even a short one; calls that bypass the scheduler count as
// running. Time from the start to the end of a mark assist is "gc-assist", whether the
// goroutine marked or waited for credit. Time ready but stopped is "stop-the-world", and
// so is the time of a goroutine that stops the world itself. If the program calls for the
// stop (runtime.ReadMemStats, a stack dump of all goroutines, runtime.GC), all of that is
// "stopped-by-call" instead, with the stack of the call, and so is a wait for the turn to
// stop the world. The runtime's own stops, such as those that end the phases of a due
// collection, are not, nor are those for a trace or a profile that the probe or
// net/http/pprof takes. The server's own wait in
// abortPendingRead, which only a request that follows without a pause can contain, is
// "runnable": all it waits for is that the background reader gets a processor.
//
// The kernel's part before the runtime polled the network is not in the trace.
//
// # What a wait waited for
//
// A goroutine of the same process ends a wait for a lock, a channel or another primitive
// of package sync, and the request waited for whatever that goroutine did meanwhile: it
// ran, or waited for the network, or for a third goroutine. So the wait is divided by the
// past of the goroutine that ended it, and its waits in turn, as chains of up to five
// links. A goroutine that was started during the wait is followed to the one that started
// it. One that waited in the same queue (started in the same function, waiting at the
// same site) is skipped in favour of the one that held it up. The pieces of a wait add up
// to it; a piece without a link was not followed, because a past was forgotten (each
// goroutine's last 512 stretches are kept, or 2,048 while there is room, and 4,096
// goroutines that ended) or a bound was hit: of a queue of hundreds, the last 192 that
// held a wait up are reported. Links are kept apart by the target's functions that led to
// the wait, and each counts how often it was come to.
//
// The goroutine that ends a wait is not always the cause: whoever finishes next may give
// back a semaphore's slot. System calls shorter than 20 us between two runs count as
// running there.
//
// A worker that gathers requests until a timer fires is woken by each that comes meanwhile, and
// none of them needs the next. So each wait also says whether a timer or a request set off the
// goroutine that ended it.
//
// # The critical path
//
// Path sums the same pieces over requests: below each chain what its last goroutine did
// and, from CPU samples that fell into the piece, what it ran. Another request is not a
// node itself; what it held is. A wait that the trace's end cuts off has no end: it is
// followed to the goroutine that works for the request (the only one that it started, or
// one that began in a closure of the function that waits), else to the one that ended all
// other waits in that function, if that was always the same. Serial are the goroutines that
// several requests waited for, with the part of the time in which they worked or were
// waited for.
//
// # Designs rejected
//
// Splitting at waits alone merged requests (a mean of 23.6 ms; the true one was 11 ms).
// Keeping every event of every goroutine takes memory in proportion to the trace; a
// bounded past gives the same result for all but the longest waits. Following wakers at
// the end of every wait, even those of no request, costs the square of a lock's queue;
// following on demand costs only what requests waited for.
package anatomy
