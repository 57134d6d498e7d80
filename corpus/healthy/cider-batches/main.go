// Command cider-batches keeps what the sensors of fermenting tanks report. A
// report is accepted at once and stored a moment later.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/healthy/cider-batches/internal/cellar"
	"github.com/redline-go/redline/corpus/healthy/cider-batches/internal/web"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("run", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "cider-batches-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := cellar.Open(ctx, filepath.Join(dir, "cellar.db"), cellar.Config{Queue: 4096, Every: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	srv := &http.Server{Addr: "127.0.0.1:23623", Handler: web.Routes(c)}
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return c.Close()
}
