// Package app is the HTTP side.
package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/redline-go/redline/corpus/sick/ferry-waitlist/internal/store"
)

// Lister finds the car to call up.
type Lister interface {
	First(sailing int, gap float64) (*store.Car, error)
}

type answer struct {
	Sailing int        `json:"sailing"`
	Call    *store.Car `json:"call"`
}

// Handler returns the routes.
func Handler(l Lister) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /sailings/{sailing}/next", func(w http.ResponseWriter, r *http.Request) {
		sailing, err := strconv.Atoi(r.PathValue("sailing"))
		if err != nil {
			http.Error(w, "sailing", http.StatusBadRequest)
			return
		}
		gap, err := strconv.ParseFloat(r.FormValue("gap"), 64)
		if err != nil {
			http.Error(w, "gap: metres", http.StatusBadRequest)
			return
		}
		car, err := l.First(sailing, gap)
		if err != nil && !errors.Is(err, store.ErrNobody) {
			http.Error(w, "list", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer{sailing, car})
	})
	return http.TimeoutHandler(mux, 1500*time.Millisecond, "busy")
}
