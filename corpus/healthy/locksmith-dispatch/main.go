// Command locksmith-dispatch finds the locksmith who can be there first. Its gateway
// speaks HTTP, and asks the dispatcher by gRPC over the loopback device.
package main

import (
	"log"
	"net"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/redline-go/redline/corpus/healthy/locksmith-dispatch/internal/dispatch"
	"github.com/redline-go/redline/corpus/healthy/locksmith-dispatch/internal/gateway"
	"github.com/redline-go/redline/corpus/healthy/locksmith-dispatch/internal/pb"
)

func main() {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	srv := grpc.NewServer(grpc.ChainUnaryInterceptor(dispatch.Recover, dispatch.Count))
	pb.RegisterDispatcherServer(srv, dispatch.NewServer(300))
	go func() {
		if err := srv.Serve(lis); err != nil {
			log.Fatal(err)
		}
	}()
	conn, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:23431", gateway.New(pb.NewDispatcherClient(conn))))
}
