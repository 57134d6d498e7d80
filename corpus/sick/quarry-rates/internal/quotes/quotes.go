// Package quotes serves quotes.
package quotes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// Rates has the rates of stones.
type Rates interface {
	Rate(ctx context.Context, stone string) (float64, error)
}

// Quote is an offer.
type Quote struct {
	Stone  string  `json:"stone"`
	Tonnes float64 `json:"tonnes"`
	Total  float64 `json:"total"`
	Text   string  `json:"text"`
}

// Desk makes quotes.
type Desk struct {
	Rates Rates
	Fee   float64
}

// Quote makes a quote.
func (d Desk) Quote(ctx context.Context, stone string, tonnes float64) (Quote, error) {
	rate, err := d.Rates.Rate(ctx, stone)
	if err != nil {
		return Quote{}, err
	}
	total := math.Round((rate*tonnes+d.Fee)*100) / 100
	return Quote{stone, tonnes, total, fmt.Sprintf("%.1f t of %s at %.2f", tonnes, stone, rate)}, nil
}

// Routes returns the routes.
func Routes(d Desk) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/ok", func(http.ResponseWriter, *http.Request) {})
	r.Get("/stones/{stone}/quote", func(w http.ResponseWriter, r *http.Request) {
		tonnes, err := strconv.ParseFloat(r.FormValue("tonnes"), 64)
		if err != nil || tonnes <= 0 {
			http.Error(w, "tonnes", http.StatusBadRequest)
			return
		}
		q, err := d.Quote(r.Context(), chi.URLParam(r, "stone"), tonnes)
		if err != nil {
			slog.Warn("quote", "err", err)
			http.Error(w, "market", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(q)
	})
	return r
}
