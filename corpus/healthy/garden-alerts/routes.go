package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/healthy/garden-alerts/frost"
	"github.com/redline-go/redline/corpus/healthy/garden-alerts/notify"
)

func routes(forecast *frost.Forecast, outbox *notify.Outbox) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.RequestID, middleware.Throttle(200), middleware.Timeout(2*time.Second))
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Get("/valleys/{valley}/frost", func(w http.ResponseWriter, r *http.Request) {
		valley, err := strconv.Atoi(chi.URLParam(r, "valley"))
		if err != nil {
			http.Error(w, "valley: a number", http.StatusBadRequest)
			return
		}
		night, ok := forecast.Night(valley)
		if !ok {
			http.NotFound(w, r)
			return
		}
		answer(w, http.StatusOK, night)
	})
	r.Post("/alerts", func(w http.ResponseWriter, r *http.Request) {
		var a notify.Alert
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&a); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if _, ok := forecast.Night(a.Valley); !ok || a.Gardener == "" {
			http.Error(w, "gardener and a known valley are required", http.StatusUnprocessableEntity)
			return
		}
		number, err := outbox.Add(r.Context(), a)
		if errors.Is(err, notify.ErrFull) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		if err != nil {
			http.Error(w, "try again", http.StatusInternalServerError)
			return
		}
		answer(w, http.StatusAccepted, map[string]uint64{"number": number})
	})
	return r
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
