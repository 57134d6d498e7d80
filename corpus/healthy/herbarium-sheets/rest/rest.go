// Package rest serves a cabinet of sheets.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/healthy/herbarium-sheets/sheets"
)

// Cabinet is what is served.
type Cabinet interface {
	Sheet(ctx context.Context, id int64) (sheets.Sheet, error)
	Taxon(ctx context.Context, genus, species string, limit int) ([]sheets.Sheet, error)
}

var _ Cabinet = (*sheets.Cabinet)(nil)

// Router makes the routes.
func Router(c Cabinet) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer, middleware.Throttle(64), middleware.Timeout(3*time.Second))
	r.Get("/up", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	r.Get("/sheets/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
		if err != nil {
			http.Error(w, "id: a number", http.StatusBadRequest)
			return
		}
		s, err := c.Sheet(r.Context(), id)
		reply(w, s, err)
	})
	r.Get("/taxa/{genus}/{species}", func(w http.ResponseWriter, r *http.Request) {
		list, err := c.Taxon(r.Context(), chi.URLParam(r, "genus"), chi.URLParam(r, "species"), 25)
		reply(w, list, err)
	})
	return r
}

func reply(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, sheets.ErrNone):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, "internal error", http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}
