// Package grpc speaks gRPC (grpc/doc/PROTOCOL-HTTP2.md) for the load package:
// calls of all four kinds over the sessions of package http2. Messages are
// written as JSON in the plan and are encoded by the schema of the service,
// which is a descriptor set of the plan or the server's by reflection.
//
// Parts that no data goes into are encoded once, head and messages, so that a call
// costs as much as an HTTP/2 request. Data goes into messages field by field,
// without an allocation. Two kinds of messages are made by way of JSON for each
// request instead, which costs some twenty times as much: those where data stands
// within a google.protobuf message (a Timestamp) or an extension, and those
// where it stands for more than a value ({{place}} without quotes for a string
// or an object).
//
// A call sends all of its messages at once and closes its side; answers are read
// to their trailers. Their messages are counted, and of any size, unless the
// request has checks that look at them: then the answer is decoded to JSON, a
// list of messages where the method streams, and may take 4 MiB
// (as JSON, the bound of package check); the checks of a longer one fail.
//
// A status other than the one that the plan expects (0, which is OK) is a
// failure.Status failure, DEADLINE_EXCEEDED after the plan's timeout a
// failure.Timeout. No compression is offered, calls are not sent again, and
// services' configurations are not looked for.
//
// Rejected: google.golang.org/grpc as the client (the generator would be what
// is measured), and for reflection alone (4.9 MB in the binary); generated code
// or .proto files as the source of schemas (a compiler at run time).
package grpc
