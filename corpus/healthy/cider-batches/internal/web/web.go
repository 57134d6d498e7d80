// Package web has the routes.
package web

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/redline-go/redline/corpus/healthy/cider-batches/internal/cellar"
)

// Cellar keeps reports.
type Cellar interface {
	Accept(cellar.Report) error
	Last(tank int) (cellar.Report, bool)
}

// Routes returns the routes.
func Routes(c Cellar) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /reports", func(w http.ResponseWriter, r *http.Request) {
		var in cellar.Report
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if in.Celsius < -20 || in.Celsius > 60 {
			http.Error(w, "celsius", http.StatusUnprocessableEntity)
			return
		}
		if err := c.Accept(in); err != nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("GET /tanks/{tank}", func(w http.ResponseWriter, r *http.Request) {
		tank, err := strconv.Atoi(r.PathValue("tank"))
		if err != nil {
			http.Error(w, "tank", http.StatusBadRequest)
			return
		}
		last, ok := c.Last(tank)
		if !ok {
			last.Tank = tank
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(last)
	})
	return mux
}
