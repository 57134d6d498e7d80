// Command crate-serials gives crates of a packing hall their serial numbers.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/sick/crate-serials/internal/api"
	"github.com/redline-go/redline/corpus/sick/crate-serials/internal/hall"
	"github.com/redline-go/redline/corpus/sick/crate-serials/internal/store"
)

func main() {
	ctx := context.Background()
	conf, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		fatal(err)
	}
	conf.MaxConns, conf.MinConns = 24, 8
	conf.MaxConnIdleTime = time.Minute
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		fatal(err)
	}
	defer pool.Close()
	if err := store.Setup(ctx, pool); err != nil {
		fatal(err)
	}
	var serials hall.Serials = store.Counter{}
	if os.Getenv("FIXED") == "1" {
		serials = store.Sequence{}
	}
	fatal(api.New(&hall.Hall{DB: pool, Serials: serials}).Run("127.0.0.1:23615"))
}

func fatal(err error) {
	slog.Error("crate-serials", "err", err)
	os.Exit(1)
}
