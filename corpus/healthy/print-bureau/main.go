// Command print-bureau sets texts and shows their proofs.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/redline-go/redline/corpus/healthy/print-bureau/desk"
	"github.com/redline-go/redline/corpus/healthy/print-bureau/press"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := press.New(4)
	e := desk.New(p, desk.NewStock(os.Getenv("BACKEND_URL")))
	context.AfterFunc(ctx, func() { _ = e.Close() })
	if err := e.Start("127.0.0.1:9977"); err != http.ErrServerClosed {
		log.Print(err)
	}
	p.Close()
}
