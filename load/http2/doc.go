// Package http2 speaks HTTP/2 (RFC 9113) for the load package, over TLS or over
// plaintext with prior knowledge. Session is the protocol without messages:
// frames, streams, flow control and heads; Protocol and its wire put plain
// requests on it, and gRPC builds on Session as well.
//
// A request's head is built beforehand, in a form that holds for every stream
// of every connection: static table entries and literals that enter no table.
// Sending it is copying it.
//
// Answers are dropped as they arrive, so the windows announced are large and
// given back in large pieces, and the header table announced is empty: a header
// block then means the same wherever it stands, and a block seen before is known
// without being decoded. Peers that use a table all the same are decoded.
//
// It sends the plan's requests and measures the answer. A target that closes a connection
// in order (GOAWAY without an error) and has not looked at a request has it sent again on
// the next one, as a client would, while its latency keeps counting. A target that turns
// the request itself away (REFUSED_STREAM) has it fail as failure.StreamReset: sending
// that again would hide it. A head may take 64 KiB, also when it is unpacked.
//
// Rejected: indexing requests' fields in each connection's table, as other
// clients do. It sent 23 bytes less per request, and in eight runs each against
// nginx the generator's CPU per request did not differ beyond their spread. And
// the Framer of golang.org/x/net/http2: it pulls from an io.Reader, so a frame
// that has not arrived in full would block or fail for good, and it allocates a
// value per frame. Of that module, hpack is used.
//
// Priorities are ignored and server push is refused, as RFC 9113 has it. There
// is no upgrade from HTTP/1.1.
package http2
