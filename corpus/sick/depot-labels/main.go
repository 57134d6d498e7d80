// Command depot-labels draws the labels of a depot's parcels.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"depot.example/platform/kit/carrier"
	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/sick/depot-labels/labels"
)

type server struct {
	press *labels.Press
	log   *slog.Logger
}

func (s *server) draw(w http.ResponseWriter, r *http.Request) {
	var p labels.Parcel
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8192)).Decode(&p); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if p.Name == "" || len(p.Lines) == 0 || len(p.Lines) > 5 || p.Serial == 0 {
		http.Error(w, "name, serial and one to five lines are required", http.StatusUnprocessableEntity)
		return
	}
	l, err := s.press.Draw(r.Context(), p)
	switch {
	case errors.Is(err, carrier.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		s.log.Error("draw", "serial", p.Serial, "err", err)
		http.Error(w, "internal", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(l)
}

func main() {
	flags := flag.NewFlagSet("depot-labels", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:9973", "address")
	idle := flags.Duration("idle", time.Minute, "close connections that are idle for so long")
	_ = flags.Parse(os.Args[1:])

	var opts []carrier.Option
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, carrier.Rate(0))
	}
	s := &server{&labels.Press{Numbers: carrier.NewDirectory(opts...)}, slog.Default()}
	r := mux.NewRouter()
	r.HandleFunc("/labels", s.draw).Methods(http.MethodPost).Headers("Content-Type", "application/json")
	r.HandleFunc("/-/ready", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ready") })
	srv := &http.Server{Addr: *listen, Handler: r, IdleTimeout: *idle}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		s.log.Error("serve", "err", err)
		os.Exit(1)
	}
}
