// Command bookmark-sync keeps the bookmarks of browsers in step.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/redline-go/redline/corpus/healthy/bookmark-sync/internal/bookmarks"
	"github.com/redline-go/redline/corpus/healthy/bookmark-sync/internal/sqlitedb"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "bookmark-sync-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	q, err := sqlitedb.Open(ctx, filepath.Join(dir, "bookmarks.db"))
	if err != nil {
		return err
	}
	defer q.Close()
	server := &http.Server{Addr: "127.0.0.1:9811", Handler: bookmarks.Routes(q)}
	defer context.AfterFunc(ctx, func() { _ = server.Shutdown(context.Background()) })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
