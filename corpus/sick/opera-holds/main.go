// Command opera-holds puts seats of the opera on hold for a caller.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/opera-holds/config"
	"github.com/redline-go/redline/corpus/sick/opera-holds/seats"
)

func routes(b *seats.Box) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RealIP, middleware.Recoverer, middleware.Timeout(10*time.Second))
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	r.Route("/nights/{night}", func(r chi.Router) {
		r.Post("/seats/{seat}/hold", func(w http.ResponseWriter, r *http.Request) {
			night, err1 := strconv.Atoi(chi.URLParam(r, "night"))
			seat, err2 := strconv.Atoi(chi.URLParam(r, "seat"))
			if errors.Join(err1, err2) != nil {
				http.Error(w, "night and seat are numbers", http.StatusBadRequest)
				return
			}
			until, err := b.Hold(r.Context(), night, seat)
			switch {
			case errors.Is(err, seats.ErrNoSeat):
				http.Error(w, err.Error(), http.StatusNotFound)
			case err != nil:
				slog.Error("hold", "err", err)
				http.Error(w, "internal", http.StatusInternalServerError)
			default:
				_, _ = w.Write([]byte(`{"until":"` + until.Format(time.RFC3339) + `"}`))
			}
		})
	})
	return r
}

func main() {
	ctx := context.Background()
	cfg := config.Read(os.Getenv)
	pool, err := cfg.Database.Open(ctx)
	if err != nil {
		slog.Error("database", "err", err)
		os.Exit(1)
	}
	defer pool.Close()
	box, err := seats.Open(ctx, pool)
	if err != nil {
		slog.Error("seats", "err", err)
		os.Exit(1)
	}
	if err := http.ListenAndServe(cfg.Listen, routes(box)); err != nil {
		slog.Error("serve", "err", err)
	}
}
