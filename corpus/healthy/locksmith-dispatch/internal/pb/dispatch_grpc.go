// Package pb has the client and the server of locksmith.v1.Dispatcher, over well-known messages.
package pb

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

const Dispatcher_Nearest_FullMethodName = "/locksmith.v1.Dispatcher/Nearest"

type DispatcherClient interface {
	Nearest(ctx context.Context, in *structpb.Struct, opts ...grpc.CallOption) (*structpb.Struct, error)
}

type dispatcherClient struct{ cc grpc.ClientConnInterface }

func NewDispatcherClient(cc grpc.ClientConnInterface) DispatcherClient { return &dispatcherClient{cc} }

func (c *dispatcherClient) Nearest(ctx context.Context, in *structpb.Struct, opts ...grpc.CallOption) (*structpb.Struct, error) {
	out := new(structpb.Struct)
	if err := c.cc.Invoke(ctx, Dispatcher_Nearest_FullMethodName, in, out, opts...); err != nil {
		return nil, err
	}
	return out, nil
}

type DispatcherServer interface {
	Nearest(context.Context, *structpb.Struct) (*structpb.Struct, error)
}

func RegisterDispatcherServer(s grpc.ServiceRegistrar, srv DispatcherServer) {
	s.RegisterService(&Dispatcher_ServiceDesc, srv)
}

func _Dispatcher_Nearest_Handler(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
	in := new(structpb.Struct)
	if err := dec(in); err != nil {
		return nil, err
	}
	if interceptor == nil {
		return srv.(DispatcherServer).Nearest(ctx, in)
	}
	info := &grpc.UnaryServerInfo{Server: srv, FullMethod: Dispatcher_Nearest_FullMethodName}
	return interceptor(ctx, in, info, func(ctx context.Context, req any) (any, error) {
		return srv.(DispatcherServer).Nearest(ctx, req.(*structpb.Struct))
	})
}

var Dispatcher_ServiceDesc = grpc.ServiceDesc{
	ServiceName: "locksmith.v1.Dispatcher",
	HandlerType: (*DispatcherServer)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Nearest", Handler: _Dispatcher_Nearest_Handler}},
	Metadata:    "locksmith/v1/dispatch.proto",
}
