// Command guild-ledger keeps the accounts of the members of a guild.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/healthy/guild-ledger/internal/ledger"
	"github.com/redline-go/redline/corpus/healthy/guild-ledger/internal/server"
)

func main() {
	if err := run(context.Background()); err != nil {
		slog.Error("run", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	conf, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	conf.MaxConns, conf.MinConns, conf.MaxConnIdleTime = 8, 8, 10*time.Minute
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return err
	}
	defer pool.Close()
	l := ledger.New(pool)
	if err := l.Setup(ctx, 20_000); err != nil {
		return err
	}
	return server.New(l).Listen("127.0.0.1:23624")
}
