// Command feed-shelf is a small reader of news feeds: it keeps
// entries in SQLite and shows a subscriber the newest of them.
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

	"github.com/redline-go/redline/corpus/sick/feed-shelf/api"
	"github.com/redline-go/redline/corpus/sick/feed-shelf/config"
	"github.com/redline-go/redline/corpus/sick/feed-shelf/repository"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg, err := config.Load()
	if err != nil {
		log.Error("config", "err", err)
		os.Exit(1)
	}
	defer os.RemoveAll(cfg.DataDir)
	store, err := repository.Open(cfg.DatabaseFile(), cfg.Eager)
	if err != nil {
		log.Error("database", "err", err)
		return
	}
	if err := store.Seed(cfg.SeedUsers, cfg.SeedFeeds); err != nil {
		log.Error("seed", "err", err)
		return
	}
	srv := &http.Server{
		Addr:              cfg.Listen,
		Handler:           api.New(store, cfg.Secret, log).Routes(),
		ReadHeaderTimeout: 5 * time.Second,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = srv.Shutdown(grace)
	}()
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
	}
}
