// Package http1 speaks HTTP/1.1 in plaintext for the load package: hand-written
// framing over net.Conn, one goroutine per connection, requests built
// beforehand where no data goes into them, and no allocation per request.
//
// It sends what the plan says and measures the answer; it never follows a
// redirect, decompresses, keeps cookies, pipelines, or sends a request twice.
// Bodies are counted and dropped, whatever their size. An answer's head and
// its trailers may each take 64 KiB.
//
// A connection that the target closed while it was idle is noticed before the
// next request and opened anew. One that the target closes at the very moment
// of sending fails its request: repeating it would hide a target that drops
// requests, and could do twice what should be done once.
//
// Rejected: net/http's Transport (three goroutine switches and some 40
// allocations per request; the generator would be what is measured), and
// resolving names per connection through the system without a cache (a target
// that closes every connection would turn the load onto the name server).
package http1
