// Command glossary-search finds the entries of a translators' glossary that
// resemble a term.
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

	"github.com/redline-go/redline/corpus/sick/glossary-search/internal/httpapi"
	"github.com/redline-go/redline/corpus/sick/glossary-search/internal/index"
)

const addr = "127.0.0.1:9800"

func main() {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	idx := index.New(index.WithEntries(index.Sample(2500)), index.WithAnswers(os.Getenv("FIXED") == "1"))
	go idx.Run(ctx)

	srv := &http.Server{
		Addr:              addr,
		Handler:           httpapi.New(idx, logger).Routes(),
		ReadHeaderTimeout: 5 * time.Second,
	}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		logger.Error("serve", "err", err)
		os.Exit(1)
	}
}
