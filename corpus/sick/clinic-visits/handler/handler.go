// Package handler is the clinic over HTTP.
package handler

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/clinic-visits/domain"
)

// Diary lists visits.
type Diary interface {
	Latest(ctx context.Context, vet int64) ([]domain.Visit, error)
}

// Router returns the routes.
func Router(d Diary, log *logrus.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Route("/api/vets/{vet}", func(r chi.Router) {
		r.Get("/visits", func(w http.ResponseWriter, r *http.Request) {
			vet, err := strconv.ParseInt(chi.URLParam(r, "vet"), 10, 64)
			if err != nil {
				http.Error(w, "no such vet", http.StatusNotFound)
				return
			}
			list, err := d.Latest(r.Context(), vet)
			if err != nil {
				log.WithError(err).WithField("vet", vet).Warn("visits")
				http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_ = json.NewEncoder(w).Encode(list)
		})
	})
	return r
}
