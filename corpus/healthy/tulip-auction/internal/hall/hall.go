// Package hall is where buyers are.
package hall

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/healthy/tulip-auction/internal/clock"
)

// Buyer watches a clock.
type Buyer struct {
	No, Limit int
	lots      int
}

// Watch waits for lots until ctx ends.
func Watch(ctx context.Context, c *clock.Clock, b Buyer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Next():
			b.lots++
		}
	}
}

// Routes returns the routes.
func Routes(h *clock.House, log *slog.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.NoCache)
	r.Get("/up", func(http.ResponseWriter, *http.Request) {})
	with := func(f func(http.ResponseWriter, *clock.Clock)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			no, err := strconv.Atoi(chi.URLParam(r, "clock"))
			if err != nil {
				http.Error(w, "clock", http.StatusBadRequest)
				return
			}
			if c := h.Clock(no); c != nil {
				f(w, c)
				return
			}
			http.NotFound(w, r)
		}
	}
	r.Get("/clocks/{clock}", with(func(w http.ResponseWriter, c *clock.Clock) { reply(w, c.State()) }))
	r.Post("/clocks/{clock}/buy", with(func(w http.ResponseWriter, c *clock.Clock) {
		seen := c.State()
		sold := c.Buy(seen)
		log.Debug("buy", "clock", seen.Clock, "lot", seen.Lot, "sold", sold)
		reply(w, map[string]any{"sold": sold, "lot": seen.Lot, "cents": seen.Cents})
	}))
	return r
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
