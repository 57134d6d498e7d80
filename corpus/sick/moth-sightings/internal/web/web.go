// Package web has the routes.
package web

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/moth-sightings/internal/notebook"
)

// Notebook is what is served.
type Notebook interface {
	Latest(ctx context.Context, species string, limit int) ([]notebook.Sighting, error)
	Add(ctx context.Context, s *notebook.Sighting) error
}

type page struct {
	Species   string              `json:"species"`
	Total     int                 `json:"total"`
	Last      *time.Time          `json:"last,omitempty"`
	Sightings []notebook.Sighting `json:"sightings"`
}

// Routes returns the routes.
func Routes(n Notebook) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/up", func(http.ResponseWriter, *http.Request) {})
	r.Route("/species/{species}", func(r chi.Router) {
		r.Get("/sightings", func(w http.ResponseWriter, r *http.Request) {
			p := page{Species: chi.URLParam(r, "species")}
			var err error
			if p.Sightings, err = n.Latest(r.Context(), p.Species, 20); err != nil {
				fail(w, r, err)
				return
			}
			for i, s := range p.Sightings {
				if p.Total += s.Count; i == 0 {
					p.Last = &s.SeenAt
				}
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(p)
		})
		r.Post("/sightings", func(w http.ResponseWriter, r *http.Request) {
			var s notebook.Sighting
			if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			s.ID, s.Species = 0, chi.URLParam(r, "species")
			if err := n.Add(r.Context(), &s); err != nil {
				fail(w, r, err)
				return
			}
			w.WriteHeader(http.StatusCreated)
		})
	})
	return r
}

func fail(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "notebook", "path", r.URL.Path, "err", err)
	http.Error(w, "notebook", http.StatusInternalServerError)
}
