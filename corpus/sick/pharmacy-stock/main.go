// Command pharmacy-stock answers whether a wholesaler has a medicine, and when it comes.
package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/pharmacy-stock/wholesale"
)

type offer struct {
	PZN       string    `json:"pzn"`
	Available bool      `json:"available"`
	Stale     bool      `json:"stale,omitempty"`
	By        time.Time `json:"by"`
	Tour      string    `json:"tour"`
}

// tours are when lorries leave.
var tours = []struct {
	hour int
	name string
}{{6, "early"}, {11, "noon"}, {15, "afternoon"}, {19, "night"}}

func nextTour(now time.Time) (string, time.Time) {
	for _, t := range tours {
		if leaves := time.Date(now.Year(), now.Month(), now.Day(), t.hour, 30, 0, 0, now.Location()); leaves.After(now) {
			return t.name, leaves.Add(90 * time.Minute)
		}
	}
	return "early", now.AddDate(0, 0, 1).Truncate(24 * time.Hour).Add(8 * time.Hour)
}

func stock(house *wholesale.House) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pzn := chi.URLParam(r, "pzn")
		if !wholesale.ValidPZN(pzn) {
			http.Error(w, "check digit is wrong", http.StatusBadRequest)
			return
		}
		l, err := house.Level(r.Context(), pzn)
		if err != nil {
			slog.Warn("level", "pzn", pzn, "err", err)
			http.Error(w, "try again later", http.StatusServiceUnavailable)
			return
		}
		o := offer{PZN: pzn, Available: l.Packs > 0, Stale: l.Stale}
		o.Tour, o.By = nextTour(time.Now())
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o)
	}
}

func main() {
	house := wholesale.Open(os.Getenv("BACKEND_URL"), wholesale.Policy{Attempts: 12, Remember: true})
	if os.Getenv("FIXED") == "1" {
		house = wholesale.Open(os.Getenv("BACKEND_URL"), wholesale.Policy{Attempts: 1, Remember: true})
	}
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.Timeout(4*time.Second))
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	r.Get("/medicines/{pzn}/stock", stock(house))
	srv := &http.Server{Addr: "127.0.0.1:21311", Handler: r}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		slog.Error("serve", "err", err)
		os.Exit(1)
	}
}
