// Command fare-meters quotes fares. Each request is counted and timed under eight
// series, which are looked up by their labels every time.
package main

import (
	"fmt"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var labels = []string{"method", "route", "zone", "band", "client", "status"}

type meters struct {
	requests []*prometheus.CounterVec
	times    []*prometheus.HistogramVec
}

func newMeters() *meters {
	m := &meters{}
	for i := range 4 {
		m.requests = append(m.requests, prometheus.NewCounterVec(prometheus.CounterOpts{Name: fmt.Sprintf("fares_requests_%d", i)}, labels))
		m.times = append(m.times, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: fmt.Sprintf("fares_seconds_%d", i)}, labels))
	}
	return m
}

// metered wraps a handler.
func (m *meters) metered(route string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		next(w, r)
		zone, _ := strconv.Atoi(r.FormValue("zone"))
		values := prometheus.Labels{
			"method": r.Method, "route": route, "zone": strconv.Itoa(zone % 8), "band": strconv.Itoa(zone % 3),
			"client": r.Header.Get("User-Agent"), "status": "200",
		}
		for i := range m.requests {
			m.requests[i].With(values).Inc()
			m.times[i].With(values).Observe(time.Since(begun).Seconds())
		}
	}
}

func fare(w http.ResponseWriter, r *http.Request) {
	zone, err := strconv.Atoi(r.FormValue("zone"))
	if err != nil {
		http.Error(w, "no such zone", http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%d\n", 250+zone%8*75)
}

func main() {
	m := newMeters()
	http.HandleFunc("/fare", m.metered("/fare", fare))
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9890", nil))
}
