// Command xray-triage sorts X-ray studies by how urgent they look.
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

	"github.com/redline-go/redline/corpus/sick/xray-triage/triage"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	desk := triage.NewDesk(triage.Config{
		Classifier: os.Getenv("BACKEND_URL"),
		Backlog:    256,
		Patience:   5 * time.Second,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /studies", triage.Handler(desk, log))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := &http.Server{Addr: "127.0.0.1:9749", Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	err := srv.ListenAndServe()
	desk.Close()
	if !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
		os.Exit(1)
	}
}
