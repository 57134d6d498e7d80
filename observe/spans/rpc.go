package spans

import (
	"context"
	"fmt"
	"net/http"

	// The gRPC protocol of one unary method: framing, compression, status. The
	// load's gRPC client links it already.
	"connectrpc.com/connect"
)

// procedure is the one method of OTLP's trace service.
const procedure = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// rpc returns the handler of exports over gRPC.
func (r *receiver) rpc() (path string, h http.Handler) {
	return procedure, connect.NewUnaryHandler(procedure,
		func(_ context.Context, q *connect.Request[message]) (*connect.Response[message], error) {
			if err := r.store.take(q.Msg.bytes, decodeProtobuf); err != nil {
				r.store.refuse(err)
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
			return connect.NewResponse(&message{}), nil
		},
		connect.WithCodec(codec{}), connect.WithReadMaxBytes(maxBody))
}

// message is a message in its own form: decoding is not left to a library, see
// the package comment.
type message struct{ bytes []byte }

// codec passes messages on as they are.
type codec struct{}

// Name is the content subtype of gRPC: application/grpc+proto.
func (codec) Name() string { return "proto" }

// Marshal encodes the only possible answer, an empty message.
func (codec) Marshal(m any) ([]byte, error) {
	if m, ok := m.(*message); ok {
		return m.bytes, nil
	}
	return nil, fmt.Errorf("%T is not a message", m)
}

// Unmarshal keeps the bytes: they are walked field by field later, without OTLP's
// generated types.
func (codec) Unmarshal(data []byte, m any) error {
	to, ok := m.(*message)
	if !ok {
		return fmt.Errorf("%T is not a message", m)
	}
	to.bytes = append([]byte(nil), data...) // data is the library's buffer
	return nil
}
