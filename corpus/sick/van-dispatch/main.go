// Command van-dispatch gives delivery jobs to vans.
package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/sick/van-dispatch/db"
	"github.com/redline-go/redline/corpus/sick/van-dispatch/dispatch"
	"github.com/redline-go/redline/corpus/sick/van-dispatch/planner"
)

type config struct {
	addr     string
	database string
	planner  string
	conns    int32
}

func environment() (config, error) {
	c := config{
		addr:     cmp.Or(os.Getenv("ADDR"), "127.0.0.1:9743"),
		database: os.Getenv("DATABASE_URL"),
		planner:  os.Getenv("BACKEND_URL"),
	}
	conns, err := strconv.ParseInt(cmp.Or(os.Getenv("DB_CONNS"), "6"), 10, 32)
	if err != nil || conns < 1 {
		return c, errors.New("DB_CONNS: a number above 0")
	}
	c.conns = int32(conns)
	if c.database == "" || c.planner == "" {
		return c, errors.New("DATABASE_URL and BACKEND_URL are required")
	}
	return c, nil
}

func run(ctx context.Context) error {
	c, err := environment()
	if err != nil {
		return err
	}
	settings, err := pgxpool.ParseConfig(c.database)
	if err != nil {
		return err
	}
	settings.MaxConns = c.conns
	settings.MaxConnIdleTime = 10 * time.Minute
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := db.Migrate(ctx, pool); err != nil {
		return err
	}
	d := dispatch.New(pool, planner.New(c.planner, 2*time.Second))
	srv := &http.Server{Addr: c.addr, Handler: d.Routes(), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = srv.Shutdown(grace)
	})
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("van-dispatch", "err", err)
		os.Exit(1)
	}
}
