// Command harvest-log keeps the harvest of an orchard.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/redline-go/redline/corpus/healthy/harvest-log/journal"
	"github.com/redline-go/redline/corpus/healthy/harvest-log/rest"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "harvest-log-")
	if err != nil {
		log.Error("folder", "err", err)
		os.Exit(1)
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(ctx, filepath.Join(dir, "harvest.db"))
	if err == nil {
		defer j.Close()
		err = j.Season(ctx, 80, 150)
	}
	if err != nil {
		log.Error("journal", "err", err)
		return
	}
	srv := &http.Server{Addr: "127.0.0.1:9975", Handler: rest.New(j, log)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Error("serve", "err", err)
	}
}
