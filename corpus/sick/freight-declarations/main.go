// Command freight-declarations files declarations with the customs office.
package main

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/redline-go/redline/corpus/sick/freight-declarations/internal/customs"
	"github.com/redline-go/redline/corpus/sick/freight-declarations/internal/rpc"
)

func main() {
	conf := customs.Config{Base: os.Getenv("BACKEND_URL"), Timeout: 2 * time.Second, Office: "DE004851"}
	if os.Getenv("FIXED") == "1" {
		conf.Transport = customs.NewTransport(conf.Timeout)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	mux.Handle(rpc.NewHandler(customs.NewClient(conf)))
	srv := &http.Server{Addr: "127.0.0.1:23406", Handler: mux, ReadHeaderTimeout: time.Second, IdleTimeout: time.Minute}
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		slog.Error("exit", "err", err)
		os.Exit(1)
	}
}
