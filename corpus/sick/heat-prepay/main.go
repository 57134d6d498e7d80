// Command heat-prepay keeps the credit of prepaid heating meters.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/redline-go/redline/corpus/sick/heat-prepay/api"
	"github.com/redline-go/redline/corpus/sick/heat-prepay/ledger"
	"github.com/redline-go/redline/corpus/sick/heat-prepay/store"
)

func main() {
	log := zap.Must(zap.NewProduction())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, log); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal("heat-prepay", zap.Error(err))
	}
}

func run(ctx context.Context, log *zap.Logger) error {
	db, err := store.Open(ctx, os.Getenv("DATABASE_URL"), 300)
	if err != nil {
		return err
	}
	defer db.Close()
	settler := ledger.NewSettler(db, 600*time.Millisecond, log)
	e := api.New(store.NewMeters(db), log)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return settler.Run(ctx) })
	group.Go(func() error {
		if err := e.Start("127.0.0.1:9744"); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return e.Close()
	})
	return group.Wait()
}
