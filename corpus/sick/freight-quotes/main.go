// Command freight-quotes prices the carriage of containers between terminals.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"github.com/redline-go/redline/corpus/sick/freight-quotes/gen/freight/v1/freightv1connect"
	"github.com/redline-go/redline/corpus/sick/freight-quotes/internal/interceptors"
	"github.com/redline-go/redline/corpus/sick/freight-quotes/internal/network"
	"github.com/redline-go/redline/corpus/sick/freight-quotes/internal/server"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	graph := network.Grid(48)
	var finder network.Finder = network.Router{Graph: graph, Speed: 62}
	if os.Getenv("FIXED") == "1" {
		finder = network.NewGuarded(graph)
	}
	mux := http.NewServeMux()
	mux.Handle(freightv1connect.NewFreightServiceHandler(server.New(graph, finder),
		connect.WithInterceptors(interceptors.Log(log, 2*time.Second), interceptors.Auth("desk", "partner"))))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })

	srv := &http.Server{Addr: "127.0.0.1:9961", Handler: mux, ReadHeaderTimeout: 3 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { <-ctx.Done(); _ = srv.Close() }()
	log.Info("listening", "addr", srv.Addr)
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
		os.Exit(1)
	}
}
