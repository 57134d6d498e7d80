// Command tree-surveys takes the surveys of street trees, and writes them by and by.
package main

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/healthy/tree-surveys/survey"
	"github.com/redline-go/redline/corpus/healthy/tree-surveys/web"
)

func main() {
	if err := run(); err != nil {
		slog.Error("run", "err", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "tree-surveys-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "trees.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return err
	}
	defer db.Close()
	desk, err := survey.NewDesk(ctx, db)
	if err != nil {
		return err
	}
	go desk.Write(ctx)
	srv := &http.Server{Addr: "127.0.0.1:23437", Handler: web.Handler(desk)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}
