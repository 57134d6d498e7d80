// Package api takes plays.
package api

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/podcast-plays/internal/plays"
)

// Router returns the routes.
func Router(c *plays.Counter) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.AllowContentType("application/json"))
	r.Get("/up", func(http.ResponseWriter, *http.Request) {})
	r.Post("/plays", func(w http.ResponseWriter, req *http.Request) {
		var batch []plays.Play
		if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<16)).Decode(&batch); err != nil {
			http.Error(w, "plays", http.StatusBadRequest)
			return
		}
		taken := 0
		for _, p := range batch {
			if p.Seconds >= 60 {
				c.Add(p)
				taken++
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]int{"taken": taken})
	})
	return r
}
