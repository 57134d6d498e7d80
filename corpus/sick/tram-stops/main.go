// Command tram-stops says when the next trams leave a stop.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sort"
	"strconv"
	"time"
)

// Departure is a tram that leaves a stop.
type Departure struct {
	Line   int `json:"line"`
	Minute int `json:"minute"` // of the day
}

// Timetable has the departures of each stop, by minute.
type Timetable [][]Departure

// Make lays out a day for a number of stops.
func Make(stops int) Timetable {
	t := make(Timetable, stops)
	for s := range t {
		for m := 300 + s%7; m < 1440; m += 6 {
			t[s] = append(t[s], Departure{Line: 1 + (m+s)%9, Minute: m})
		}
	}
	return t
}

// Next returns up to n departures from minute on.
func (t Timetable) Next(stop, minute, n int) []Departure {
	day := t[stop]
	i := sort.Search(len(day), func(i int) bool { return day[i].Minute >= minute })
	return day[i:min(i+n, len(day))]
}

func departures(t Timetable) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stop, err := strconv.Atoi(r.PathValue("stop"))
		if err != nil || stop < 0 || stop >= len(t) {
			http.NotFound(w, r)
			return
		}
		minute, err := strconv.Atoi(r.URL.Query().Get("from"))
		if err != nil {
			now := time.Now()
			minute = now.Hour()*60 + now.Minute()
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(t.Next(stop, minute, 5))
	}
}

func main() {
	stats := NewStats(os.Getenv("FIXED") == "")
	mux := http.NewServeMux()
	mux.Handle("GET /stops/{stop}", stats.Wrap("stop", departures(Make(600))))
	mux.Handle("GET /ping", stats.Wrap("ping", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		for _, g := range stats.Gauges() {
			fmt.Fprintf(w, "tram_seconds{route=%q,quantile=%q} %g\n", g.Route, g.Quantile, g.Value)
		}
	})
	warnings := slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn)
	srv := &http.Server{Addr: "127.0.0.1:9216", Handler: mux, ErrorLog: warnings}
	slog.Error("serve", "err", srv.ListenAndServe())
}
