// Command rowing-odds quotes the odds of a regatta over gRPC.
package main

import (
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:9822")
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer()
	RegisterOddsServer(s, &bookmaker{apart: os.Getenv("FIXED") == "1", last: map[int64]float64{}})
	healthpb.RegisterHealthServer(s, health.NewServer())
	reflection.Register(s)
	log.Fatal(s.Serve(l))
}
