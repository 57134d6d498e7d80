// Command ski-rental is the counter of a shop that rents skis.
package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/ski-rental/receipt"
	"github.com/redline-go/redline/corpus/sick/ski-rental/store"
	"github.com/redline-go/redline/corpus/sick/ski-rental/transport"
)

func main() {
	log := zap.Must(zap.NewProduction()).Sugar()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "ski-rental-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	till := receipt.NewTill(os.Getenv("BACKEND_URL"))
	s, err := store.Open(ctx, filepath.Join(dir, "shop.db"), till.Render, os.Getenv("FIXED") == "1")
	if err != nil {
		log.Errorw("open", "err", err)
		return
	}
	defer s.Close()
	srv := &http.Server{Addr: "127.0.0.1:9971", Handler: transport.Mux(s, log)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Errorw("serve", "err", err)
	}
}
