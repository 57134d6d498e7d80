// Command fish-auction shows what lies in a fish market's hall this morning.
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

	"github.com/redline-go/redline/corpus/sick/fish-auction/hall"
	"github.com/redline-go/redline/corpus/sick/fish-auction/lots"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, log); err != nil {
		log.Error("fish-auction", "err", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, log *slog.Logger) error {
	store := lots.NewStore[int, lots.Lot]()
	for _, l := range lots.Morning(700) {
		store.Put(l.ID, l)
	}
	srv := &http.Server{
		Addr:              "127.0.0.1:9740",
		Handler:           hall.New(store, log).Routes(),
		ReadHeaderTimeout: 5 * time.Second,
	}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
