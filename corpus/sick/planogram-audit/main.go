// Command planogram-audit compares what stores put on their shelves with what head office drew.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/sick/planogram-audit/internal/audit"
	"github.com/redline-go/redline/corpus/sick/planogram-audit/internal/httpapi"
	"github.com/redline-go/redline/corpus/sick/planogram-audit/internal/plan"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	repo := plan.NewMemory(60)
	opts := []audit.Option{audit.WithLogger(logger)}
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, audit.WithComparer(audit.Fields{}))
	}
	srv := &http.Server{
		Addr:              "127.0.0.1:23401",
		Handler:           httpapi.New(audit.NewService(repo, opts...), logger),
		ReadHeaderTimeout: 2 * time.Second,
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	go func() {
		<-ctx.Done()
		_ = srv.Shutdown(context.Background())
	}()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		logger.Error("serve", "err", err)
		os.Exit(1)
	}
}
