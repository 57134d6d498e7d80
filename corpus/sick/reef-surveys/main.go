// Command reef-surveys shows what divers counted at reefs.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/redline-go/redline/corpus/sick/reef-surveys/internal/api"
	"github.com/redline-go/redline/corpus/sick/reef-surveys/internal/store"
	"github.com/redline-go/redline/corpus/sick/reef-surveys/internal/survey"
)

func main() {
	if err := run(); err != nil {
		slog.Error("run", "err", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := sqlx.ConnectContext(ctx, "pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(12)
	db.SetMaxIdleConns(12)
	if err := store.Migrate(ctx, db); err != nil {
		return err
	}
	var dives survey.Dives = store.Dives{DB: db}
	if os.Getenv("FIXED") == "1" {
		dives = store.Joined{Dives: store.Dives{DB: db}}
	}
	return api.New(survey.Service{Dives: dives}).Start("127.0.0.1:23614")
}
