// Command greenhouse-climate decides how far the windows of greenhouses open.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"

	"github.com/redline-go/redline/corpus/healthy/greenhouse-climate/climate"
	"github.com/redline-go/redline/corpus/healthy/greenhouse-climate/web"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	h := climate.NewHouses(80)
	go h.Watch(ctx)
	srv := &http.Server{Addr: "127.0.0.1:23432", Handler: web.New(h, slog.New(slog.NewJSONHandler(os.Stderr, nil)))}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		slog.Error("serve", "err", err)
	}
}
