// Package huts serves what huts have free.
package huts

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/glacier-huts/internal/exchange"
	"github.com/redline-go/redline/corpus/sick/glacier-huts/internal/race"
)

// Source knows the beds of huts.
type Source interface {
	Beds(ctx context.Context, hut int) (exchange.Beds, error)
}

// Finder asks all sources.
type Finder struct {
	Sources []Source
	First   func(context.Context, ...race.Task[exchange.Beds]) (exchange.Beds, error)
	Log     *zap.Logger
}

// Find returns what the fastest source knows.
func (f Finder) Find(ctx context.Context, hut int) (exchange.Beds, error) {
	tasks := make([]race.Task[exchange.Beds], 0, len(f.Sources))
	for _, s := range f.Sources {
		tasks = append(tasks, func(ctx context.Context) (exchange.Beds, error) { return s.Beds(ctx, hut) })
	}
	return f.First(ctx, tasks...)
}

// Routes returns the routes.
func Routes(f Finder) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ok", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /huts/{hut}/beds", func(w http.ResponseWriter, r *http.Request) {
		hut, err := strconv.Atoi(r.PathValue("hut"))
		if err != nil {
			http.Error(w, "hut", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		beds, err := f.Find(ctx, hut)
		if err != nil {
			f.Log.Warn("find", zap.Int("hut", hut), zap.Error(err))
			http.Error(w, "exchange", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(beds)
	})
	return mux
}
