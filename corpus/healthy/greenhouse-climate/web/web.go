// Package web is the HTTP side.
package web

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/healthy/greenhouse-climate/climate"
)

func logged(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			start := time.Now()
			next.ServeHTTP(ww, r)
			log.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("path", r.URL.Path), slog.Int("status", ww.Status()),
				slog.Duration("took", time.Since(start)))
		})
	}
}

// New returns the routes.
func New(h *climate.Houses, log *slog.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, logged(log), middleware.Recoverer, middleware.Compress(5))
	r.Get("/up", func(http.ResponseWriter, *http.Request) {})
	r.Get("/hot", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(h.Hot())
	})
	r.Post("/houses/{house}/reading", func(w http.ResponseWriter, req *http.Request) {
		var in climate.Reading
		if err := json.NewDecoder(req.Body).Decode(&in); err != nil || !in.Valid() {
			http.Error(w, "reading", http.StatusBadRequest)
			return
		}
		open, ok := h.Take(chi.URLParam(req, "house"), in)
		if !ok {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]float64{"open": open})
	})
	return r
}
