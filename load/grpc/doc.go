// Package grpc speaks gRPC (grpc/doc/PROTOCOL-HTTP2.md) for the load package:
// calls of all four kinds over the sessions of package http2. Messages are
// written as JSON in the plan and are encoded by the schema of the service, which
// comes from the plan's descriptor set or from the server by reflection.
//
// Parts that no data goes into are encoded once, head and messages, so that a call
// costs as much as an HTTP/2 request. Data goes into messages field by field,
// without an allocation. Two kinds of messages are instead made from JSON for each
// request, which costs some twenty times as much: those with data within a
// google.protobuf message (a Timestamp) or an extension, and those where data stands
// for more than a value (a placeholder without quotes for a string or an object).
//
// A call sends all of its messages at once and closes its side; answers are read
// to their trailers. Their messages are counted, and of any size, unless the
// request has checks that look at them: then the answer is decoded to JSON, a
// list of messages where the method streams, and may take 4 MiB
// (as JSON, the bound of package check); the checks of a longer one fail.
//
// A status other than the one that the plan expects (0, which is OK) is a
// failure.Status failure, DEADLINE_EXCEEDED after the plan's timeout a
// failure.Timeout. No compression is offered, calls are not sent again, and service
// configs are not looked up.
//
// Rejected: google.golang.org/grpc as the client (the generator would be what
// is measured), and for reflection alone (4.9 MB in the binary); generated code
// or .proto files as the source of schemas (a compiler at run time).
package grpc
