// Package http2 speaks HTTP/2 (RFC 9113) for the load package, over TLS or over
// plaintext with prior knowledge. Session is the protocol without messages:
// frames, streams, flow control and heads; Protocol and its wire put plain
// requests on it, and gRPC builds on Session as well.
//
// A request's head is built beforehand, in a form that is valid for every stream of
// every connection: static table entries and literals that enter no table. Sending it
// means copying it.
//
// Answers are dropped as they arrive, so the announced windows are large and given
// back in large pieces, and the announced header table is empty: a header block then
// means the same on every stream, and a block seen before need not be decoded. Blocks
// of peers that use a table anyway are decoded.
//
// It sends the plan's requests and measures the answer. If a target closes a connection in
// order (GOAWAY without an error) and has not processed a request, that is sent again on
// the next one, as a client would, while its latency keeps counting. If it refuses the
// request itself (REFUSED_STREAM), that fails as failure.StreamReset: sending it again
// would hide the refusal. A head may take 64 KiB, also when it is unpacked.
//
// Rejected: indexing requests' fields in each connection's table, as other
// clients do. It sent 23 bytes less per request, and in eight runs each against
// nginx the generator's CPU per request did not differ beyond their spread. Also
// rejected: the Framer of golang.org/x/net/http2. It pulls from an io.Reader, so a
// frame that has not arrived in full would block or fail for good, and it allocates a
// value per frame. Of that module, hpack is used.
//
// Priorities are ignored and server push is refused, as RFC 9113 allows. There is no
// upgrade from HTTP/1.1.
package http2
