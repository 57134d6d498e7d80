// Command grid-health tells over gRPC whether feeders of a power grid can take load.
package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/redline-go/redline/corpus/sick/grid-health/feeder"
	"github.com/redline-go/redline/corpus/sick/grid-health/monitor"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	l, err := net.Listen("tcp", "127.0.0.1:9746")
	if err != nil {
		log.Error("listen", "err", err)
		os.Exit(1)
	}
	station := feeder.Guarded(feeder.NewStation(os.Getenv("BACKEND_URL")), 256)
	m := monitor.New(feeder.Counted(station), monitor.Limits{Amber: 80, Red: 97}, log)
	defer m.Close()
	srv := grpc.NewServer(
		grpc.ChainUnaryInterceptor(monitor.Recover(log), monitor.Deadline(2*time.Second)),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute}),
	)
	healthpb.RegisterHealthServer(srv, m)
	reflection.Register(srv)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, srv.Stop)
	if err := srv.Serve(l); err != nil {
		log.Error("serve", "err", err)
		os.Exit(1)
	}
}
