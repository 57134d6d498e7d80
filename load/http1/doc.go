// Package http1 speaks HTTP/1.1 for the load package: hand-written framing
// without a socket, requests built beforehand where no data goes into them, and
// no allocation per request.
//
// It sends the plan's requests and measures the answer; it never decompresses,
// keeps cookies or pipelines. It follows redirects only where the plan says so, and
// only to hosts that the plan names. Bodies are counted and dropped, whatever their
// size, unless a check examines them. An answer's head and its trailers may each take
// 64 KiB.
//
// A request on a connection that the target closes at that very moment is sent again once
// if that does no harm (load.Idempotent), and counted. Resending more would hide that a
// target drops requests.
//
// Rejected: net/http's Transport (three goroutine switches and some 40
// allocations per request; it would measure the generator), and read buffers per
// connection (4 KiB for each of ten thousand idle ones).
package http1
