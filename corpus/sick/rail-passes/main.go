// Command rail-passes prices journeys for the holders of rail passes.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/redline-go/redline/corpus/sick/rail-passes/fares"
	"github.com/redline-go/redline/corpus/sick/rail-passes/logging"
	"github.com/redline-go/redline/corpus/sick/rail-passes/web"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "rail-passes:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "rail-passes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	level := "debug"
	if os.Getenv("FIXED") == "1" {
		level = "warn"
	}
	log, file, err := logging.New(dir, level)
	if err != nil {
		return err
	}
	defer file.Close()
	srv := &http.Server{Addr: "127.0.0.1:9970", Handler: web.Routes(fares.NewTariff(100, log), log)}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}
