// Package httpd serves ratings.
package httpd

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/avalanche-samples/snow"
)

// New returns the routes.
func New(rater *snow.Rater) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.RequestID)
	r.Get("/healthz", func(http.ResponseWriter, *http.Request) {})
	r.Get("/stations/{id}/rating", func(w http.ResponseWriter, req *http.Request) {
		id, err := strconv.Atoi(chi.URLParam(req, "id"))
		if err != nil {
			http.Error(w, "id", http.StatusBadRequest)
			return
		}
		rating, err := rater.Rate(req.Context(), id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(rating)
	})
	return r
}
