// Command crane-lease leases the cranes of a harbour by the hour.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/redline-go/redline/corpus/sick/crane-lease/internal/customs"
	"github.com/redline-go/redline/corpus/sick/crane-lease/internal/ledger"
	"github.com/redline-go/redline/corpus/sick/crane-lease/internal/rest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	l := ledger.Open(ctx, customs.NewOffice(os.Getenv("BACKEND_URL")), os.Getenv("FIXED") == "1")
	srv := http.Server{Addr: "127.0.0.1:9965", Handler: rest.New(l, log)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	log.Info("listening", "addr", srv.Addr)
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
		os.Exit(1)
	}
}
