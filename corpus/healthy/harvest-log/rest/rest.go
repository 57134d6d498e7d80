// Package rest is the journal over HTTP.
package rest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/healthy/harvest-log/journal"
)

// New makes the handler.
func New(j *journal.Journal, log *slog.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.RealIP, middleware.Recoverer, middleware.Timeout(5*time.Second))
	r.Get("/up", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	r.Route("/fields/{field}", func(r chi.Router) {
		r.Get("/", func(w http.ResponseWriter, r *http.Request) {
			id, err := strconv.ParseInt(chi.URLParam(r, "field"), 10, 64)
			if err != nil {
				http.Error(w, "field", http.StatusBadRequest)
				return
			}
			f, err := j.Field(r.Context(), id)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				http.NotFound(w, r)
			case err != nil:
				log.Error("field", "id", id, "err", err)
				http.Error(w, "database", http.StatusInternalServerError)
			default:
				answer(w, http.StatusOK, f)
			}
		})
		r.Post("/crates", func(w http.ResponseWriter, r *http.Request) {
			id, err := strconv.ParseInt(chi.URLParam(r, "field"), 10, 64)
			var c journal.Crate
			if err == nil {
				err = json.NewDecoder(http.MaxBytesReader(w, r.Body, 1024)).Decode(&c)
			}
			if err != nil || c.Grams < 1 || c.Picker == "" {
				http.Error(w, "field, picker and grams are required", http.StatusBadRequest)
				return
			}
			c.At = time.Now().Unix()
			if err := j.Add(r.Context(), id, c); err != nil {
				log.Error("crate", "field", id, "err", err)
				http.Error(w, "database", http.StatusInternalServerError)
				return
			}
			answer(w, http.StatusCreated, map[string]int64{"field": id, "grams": c.Grams})
		})
	})
	return r
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
