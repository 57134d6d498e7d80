// Command badge-printing has badges of visitors rendered.
package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/badge-printing/internal/desk"
	"github.com/redline-go/redline/corpus/sick/badge-printing/internal/press"
)

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger().Level(zerolog.InfoLevel)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := press.New(os.Getenv("BACKEND_URL"))
	if os.Getenv("FIXED") == "1" {
		p.Operators = 24
	}
	p.Start(ctx)
	srv := &http.Server{Addr: "127.0.0.1:23421", Handler: desk.Handler(p, log)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal().Err(err).Msg("listen")
	}
}
