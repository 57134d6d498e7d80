// Command peak-register shows the summits of a mountain range and who climbed them.
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

	"github.com/redline-go/redline/corpus/healthy/peak-register/app"
	"github.com/redline-go/redline/corpus/healthy/peak-register/peaks"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	book := peaks.NewBook(peaks.Range(160))
	ranked := make(chan struct{})
	go func() {
		defer close(ranked)
		book.Rank(ctx, 250*time.Millisecond)
	}()
	e := app.New(book)
	context.AfterFunc(ctx, func() { _ = e.Close() })
	if err := e.Start("127.0.0.1:9750"); !errors.Is(err, http.ErrServerClosed) {
		slog.Error("serve", "err", err)
		os.Exit(1)
	}
	<-ranked
}
