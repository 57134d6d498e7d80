// Package orders answers orders.
package orders

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/sync/errgroup"
)

// Stock knows the stock of nurseries.
type Stock interface {
	Stock(ctx context.Context, nursery string, plant int) (int, error)
}

// Offer says who sends how many.
type Offer struct {
	Plant   int            `json:"plant"`
	Wanted  int            `json:"wanted"`
	Missing int            `json:"missing"`
	From    map[string]int `json:"from"`
}

// Desk answers orders.
type Desk struct {
	Stock     Stock
	Nurseries []string
}

// Offer asks all nurseries and takes the first that have some.
func (d Desk) Offer(ctx context.Context, plant, wanted int) (Offer, error) {
	have := make([]int, len(d.Nurseries))
	g, ctx := errgroup.WithContext(ctx)
	for i, n := range d.Nurseries {
		g.Go(func() (err error) {
			have[i], err = d.Stock.Stock(ctx, n, plant)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Offer{}, err
	}
	o := Offer{Plant: plant, Wanted: wanted, Missing: wanted, From: map[string]int{}}
	for i, n := range d.Nurseries {
		if k := min(have[i], o.Missing); k > 0 {
			o.From[n] = k
			o.Missing -= k
		}
	}
	return o, nil
}

// Routes returns the routes.
func (d Desk) Routes(log *slog.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/ok", func(http.ResponseWriter, *http.Request) {})
	r.Get("/plants/{plant}/offer", func(w http.ResponseWriter, r *http.Request) {
		plant, err1 := strconv.Atoi(chi.URLParam(r, "plant"))
		wanted, err2 := strconv.Atoi(r.FormValue("wanted"))
		if err1 != nil || err2 != nil {
			http.Error(w, "plant and wanted are numbers", http.StatusBadRequest)
			return
		}
		o, err := d.Offer(r.Context(), plant, wanted)
		if err != nil {
			log.Warn("offer", "plant", plant, "err", err)
			http.Error(w, "nursery", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o)
	})
	return r
}
