// Package api is the HTTP side.
package api

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/redline-go/redline/corpus/sick/pilot-rosters/internal/export"
	"github.com/redline-go/redline/corpus/sick/pilot-rosters/internal/roster"
)

func requestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", uuid.NewString())
		next.ServeHTTP(w, r)
	})
}

func slow(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			next.ServeHTTP(w, r)
			if took := time.Since(start); took > 2*time.Second {
				log.Warn("slow", "path", r.URL.Path, "took", took)
			}
		})
	}
}

// New returns the routes.
func New(plan *roster.Plan, sheets export.Sheets, log *slog.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(requestID, slow(log))
	r.Get("/ping", func(http.ResponseWriter, *http.Request) {})
	r.Get("/pilots/{pilot}/roster.csv", func(w http.ResponseWriter, req *http.Request) {
		n, err := strconv.Atoi(chi.URLParam(req, "pilot"))
		if err != nil {
			http.Error(w, "pilot", http.StatusBadRequest)
			return
		}
		duties, ok := plan.Pilot(n)
		if !ok {
			http.NotFound(w, req)
			return
		}
		body, err := export.CSV(sheets, duties)
		if err != nil {
			http.Error(w, "export", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
	return r
}
