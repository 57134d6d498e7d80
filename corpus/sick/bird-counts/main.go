// Command bird-counts collects the sightings of bird watchers.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/sick/bird-counts/internal/httpd"
	"github.com/redline-go/redline/corpus/sick/bird-counts/internal/sightings"
	"github.com/redline-go/redline/corpus/sick/bird-counts/internal/similar"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	book := sightings.NewBook(900)
	keeper := similar.NewKeeper(book)
	refresh := keeper.Full
	if os.Getenv("FIXED") == "1" {
		refresh = keeper.Partly
	}
	go keeper.Run(ctx, 250*time.Millisecond, refresh)
	e := httpd.New(book, keeper)
	context.AfterFunc(ctx, func() { _ = e.Close() })
	if err := e.Start("127.0.0.1:9969"); err != http.ErrServerClosed {
		log.Print(err)
	}
}
