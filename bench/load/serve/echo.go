//go:build linux

package serve

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"                      // the server that Go services use
	"google.golang.org/grpc/interop/grpc_testing" // a service whose code comes with the library
	"google.golang.org/grpc/reflection"
)

// EchoService and EchoMethod name the unary call of the gRPC section, and EchoBody is its message.
const (
	EchoService = "grpc.testing.TestService"
	EchoMethod  = "UnaryCall"
	EchoBody    = `{"payload":{"body":"aGVsbG8="}}`
)

// echo answers a unary call with its own payload.
type echo struct {
	grpc_testing.UnimplementedTestServiceServer
}

func (echo) UnaryCall(_ context.Context, q *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	return &grpc_testing.SimpleResponse{Payload: q.Payload}, nil
}

// Echo serves until the process is ended, and prints its address first.
func Echo() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	grpc_testing.RegisterTestServiceServer(s, echo{})
	reflection.Register(s)
	fmt.Println(l.Addr())
	return s.Serve(l)
}
