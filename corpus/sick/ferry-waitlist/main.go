// Command ferry-waitlist calls up cars from the waiting list of a ferry.
package main

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/ferry-waitlist/internal/app"
	"github.com/redline-go/redline/corpus/sick/ferry-waitlist/internal/store"
)

func main() {
	if err := run(context.Background()); err != nil {
		slog.Error("run", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "ferry-waitlist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "list.db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(2000)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(40)
	db.SetMaxIdleConns(10)
	if err := store.Setup(ctx, db); err != nil {
		return err
	}
	list, err := store.NewList(ctx, db, os.Getenv("FIXED") == "1")
	if err != nil {
		return err
	}
	return http.ListenAndServe("127.0.0.1:23410", app.Handler(list))
}
