// The service regatta.v1.Odds:
//
//	service Odds { rpc Quote(google.protobuf.Struct) returns (google.protobuf.DoubleValue); }

package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	Odds_Quote_FullMethodName = "/regatta.v1.Odds/Quote"
	file_regatta_v1_odds      = "regatta/v1/odds.proto"
)

// OddsServer is the server API for Odds service.
type OddsServer interface {
	Quote(context.Context, *structpb.Struct) (*wrapperspb.DoubleValue, error)
}

func RegisterOddsServer(s grpc.ServiceRegistrar, srv OddsServer) {
	s.RegisterService(&Odds_ServiceDesc, srv)
}

func _Odds_Quote_Handler(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
	in := new(structpb.Struct)
	if err := dec(in); err != nil {
		return nil, err
	}
	if interceptor == nil {
		return srv.(OddsServer).Quote(ctx, in)
	}
	info := &grpc.UnaryServerInfo{Server: srv, FullMethod: Odds_Quote_FullMethodName}
	handler := func(ctx context.Context, req any) (any, error) {
		return srv.(OddsServer).Quote(ctx, req.(*structpb.Struct))
	}
	return interceptor(ctx, in, info, handler)
}

// Odds_ServiceDesc is the grpc.ServiceDesc for Odds service.
var Odds_ServiceDesc = grpc.ServiceDesc{
	ServiceName: "regatta.v1.Odds",
	HandlerType: (*OddsServer)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Quote", Handler: _Odds_Quote_Handler}},
	Metadata:    file_regatta_v1_odds,
}

func init() {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String(file_regatta_v1_odds), Package: proto.String("regatta.v1"), Syntax: proto.String("proto3"),
		Dependency: []string{"google/protobuf/struct.proto", "google/protobuf/wrappers.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: proto.String("Odds"),
			Method: []*descriptorpb.MethodDescriptorProto{{
				Name:       proto.String("Quote"),
				InputType:  proto.String(".google.protobuf.Struct"),
				OutputType: proto.String(".google.protobuf.DoubleValue"),
			}},
		}},
	}, protoregistry.GlobalFiles)
	if err == nil {
		err = protoregistry.GlobalFiles.RegisterFile(file)
	}
	if err != nil {
		panic(err)
	}
}
