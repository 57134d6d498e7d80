// Command cinema-heatmap shows which seats of a screen sell.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redline-go/redline/corpus/sick/cinema-heatmap/seating"
)

var served = promauto.NewCounter(prometheus.CounterOpts{Name: "heatmaps_served_total", Help: "Heatmaps served."})

type app struct {
	sales *seating.Archive
	count func([]seating.Ticket) seating.Tally
}

func (a *app) heatmap(w http.ResponseWriter, r *http.Request) {
	screen, err := strconv.Atoi(chi.URLParam(r, "screen"))
	if err != nil || screen < 1 || screen > a.sales.Screens() {
		http.Error(w, "no such screen", http.StatusNotFound)
		return
	}
	rows := seating.Render(a.count(a.sales.Week(screen)))
	served.Inc()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(map[string]any{"screen": screen, "rows": rows}); err != nil {
		log.Print(err)
	}
}

func main() {
	a := &app{sales: seating.Open(20), count: seating.Count}
	if os.Getenv("FIXED") == "1" {
		a.count = seating.CountSeats
	}
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.RealIP, middleware.Recoverer)
	r.Get("/live", func(w http.ResponseWriter, _ *http.Request) {})
	r.Handle("/metrics", promhttp.Handler())
	r.Route("/screens/{screen}", func(r chi.Router) {
		r.Use(middleware.Timeout(3 * time.Second))
		r.Get("/heatmap", a.heatmap)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:23402", r))
}
