// Command comment-gate decides which comments a newspaper shows.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/comment-gate/filter"
	_ "github.com/redline-go/redline/corpus/sick/comment-gate/filter/links"
	_ "github.com/redline-go/redline/corpus/sick/comment-gate/filter/shingles"
	_ "github.com/redline-go/redline/corpus/sick/comment-gate/filter/words"
	"github.com/redline-go/redline/corpus/sick/comment-gate/gate"
)

func main() {
	log := zap.Must(zap.NewProduction())
	filters, err := filter.Open(filter.Options{
		Reuse:   os.Getenv("FIXED") == "1",
		Blocked: []string{"casino", "viagra", "jackpot", "crypto"},
	}, "words", "shingles", "links")
	if err != nil {
		log.Fatal("filters", zap.Error(err))
	}
	g := &gate.Gate{Filters: filters, Limit: 0.6, Log: log}
	srv := &fasthttp.Server{Handler: g.Handle, Name: "comment-gate", MaxRequestBodySize: 1 << 16}
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	go func() { <-end; _ = srv.Shutdown() }()
	if err := srv.ListenAndServe("127.0.0.1:9968"); err != nil {
		log.Error("serve", zap.Error(err))
	}
}
