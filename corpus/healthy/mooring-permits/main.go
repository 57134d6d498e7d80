// Command mooring-permits lets boats into the berths of a marina.
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

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/healthy/mooring-permits/permits"
	"github.com/redline-go/redline/corpus/healthy/mooring-permits/sqlq"
)

func run(ctx context.Context) error {
	settings, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	settings.MaxConns, settings.MinConns = 4, 4
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := sqlq.Migrate(ctx, pool); err != nil {
		return err
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	permits.New(pool).Routes(r)
	srv := &http.Server{Addr: "127.0.0.1:9751", Handler: r, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("mooring-permits", "err", err)
		os.Exit(1)
	}
}
