// Command orchard-yield keeps what each row of trees gave.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/healthy/orchard-yield/store"
)

type server struct {
	yields *store.Yields
	log    *slog.Logger
}

func (s *server) fail(w http.ResponseWriter, err error) {
	if errors.Is(err, store.ErrNoOrchard) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	s.log.Error("request", "err", err)
	http.Error(w, "internal", http.StatusInternalServerError)
}

func (s *server) season(w http.ResponseWriter, r *http.Request) {
	orchard, err := strconv.Atoi(r.PathValue("orchard"))
	if err != nil {
		http.Error(w, "orchard", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	season, err := s.yields.Season(ctx, orchard)
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(season)
}

func (s *server) crate(w http.ResponseWriter, r *http.Request) {
	var c store.Crate
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1024)).Decode(&c); err != nil || c.Grams <= 0 {
		http.Error(w, "crate", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := s.yields.Add(ctx, c); err != nil {
		s.fail(w, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	yields, err := store.Open(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Error("store", "err", err)
		os.Exit(1)
	}
	defer yields.Close()
	s := &server{yields: yields, log: log}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orchards/{orchard}/season", s.season)
	mux.HandleFunc("POST /crates", s.crate)
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	srv := &http.Server{Addr: "127.0.0.1:9218", Handler: mux, ReadHeaderTimeout: 2 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
	}
}
