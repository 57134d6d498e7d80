// Command kiosk-sessions serves the kiosks of a museum.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/sick/kiosk-sessions/middle"
	"github.com/redline-go/redline/corpus/sick/kiosk-sessions/screens"
	"github.com/redline-go/redline/corpus/sick/kiosk-sessions/session"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	pages, err := screens.New(90, log)
	if err != nil {
		log.Error("templates", "err", err)
		os.Exit(1)
	}
	const life = 20 * time.Minute
	var store session.Store = session.NewMemory(life)
	if os.Getenv("FIXED") == "1" {
		store = session.NewOrdered(life)
	}
	kiosk := http.NewServeMux()
	kiosk.HandleFunc("GET /rooms/{room}", pages.Room)
	mux := http.NewServeMux()
	mux.Handle("/rooms/", middle.Identify(middle.Visited(store)(kiosk)))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	srv := &http.Server{Addr: "127.0.0.1:9979", Handler: mux, ReadHeaderTimeout: 2 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Error("serve", "err", err)
	}
	log.Info("ended", "sessions", store.Len())
}
