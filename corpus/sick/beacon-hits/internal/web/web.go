// Package web has the routes.
package web

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/beacon-hits/internal/guide"
	"github.com/redline-go/redline/corpus/sick/beacon-hits/internal/halls"
)

// Reader reads a report.
type Reader interface {
	Read(io.Reader) ([]guide.Hit, error)
}

type seen struct {
	Beacon int       `json:"beacon"`
	Sum    halls.Sum `json:"sum"`
}

// New returns the routes.
func New(reader Reader, sums halls.Halls, log *slog.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.RequestSize(1<<20), middleware.SetHeader("Cache-Control", "no-store"))
	r.Get("/ok", func(http.ResponseWriter, *http.Request) {})
	r.Post("/guides/{guide}/hits", func(w http.ResponseWriter, r *http.Request) {
		hits, err := reader.Read(r.Body)
		if err != nil {
			log.Debug("report", "guide", chi.URLParam(r, "guide"), "err", err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := make([]seen, 0, len(hits))
		for _, h := range hits {
			if h.Volume > 0 {
				out = append(out, seen{h.Beacon, sums.Add(h.Beacon, h.Seconds)})
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	})
	return r
}
