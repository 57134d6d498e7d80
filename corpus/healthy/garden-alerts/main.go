// Command garden-alerts warns gardeners of frost.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/healthy/garden-alerts/frost"
	"github.com/redline-go/redline/corpus/healthy/garden-alerts/notify"
)

func run(ctx context.Context, log *zap.Logger) error {
	forecast, err := frost.Open(ctx, os.Getenv("BACKEND_URL"), 24)
	if err != nil {
		return err
	}
	go forecast.Renew(ctx, 2*time.Second, log)
	dir, err := os.MkdirTemp("", "garden-alerts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	diary, err := notify.OpenDiary(filepath.Join(dir, "diary"))
	if err != nil {
		return err
	}
	outbox := notify.NewOutbox(diary, time.Second, log)
	srv := &http.Server{
		Addr:              "127.0.0.1:9752",
		Handler:           routes(forecast, outbox),
		ReadHeaderTimeout: 5 * time.Second,
	}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	err = srv.ListenAndServe()
	if closing := outbox.Close(); closing != nil {
		log.Warn("outbox", zap.Error(closing))
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	log := zap.Must(zap.NewProduction())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, log); err != nil {
		log.Fatal("garden-alerts", zap.Error(err))
	}
}
