package main

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

const remembered = 4096

// Gauge is a published quantile of a route's latency in seconds.
type Gauge struct {
	Route, Quantile string
	Value           float64
}

var quantiles = map[string]float64{"0.5": 0.5, "0.9": 0.9, "0.99": 0.99, "0.999": 0.999}

// route has the latencies of the last requests of one route.
type route struct {
	name string

	mu     sync.Mutex
	ring   []float64
	next   int
	gauges map[string]float64
}

func (rt *route) add(seconds float64) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if len(rt.ring) < remembered {
		rt.ring = append(rt.ring, seconds)
		return
	}
	rt.ring[rt.next] = seconds
	rt.next = (rt.next + 1) % remembered
}

// publish brings the gauges up to date.
func (rt *route) publish() {
	rt.mu.Lock()
	sorted := slices.Clone(rt.ring)
	rt.mu.Unlock()
	if len(sorted) == 0 {
		return
	}
	slices.Sort(sorted)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for label, q := range quantiles {
		rt.gauges[label] = sorted[int(q*float64(len(sorted)-1))]
	}
}

// Stats measures the routes of a service.
type Stats struct {
	live   bool // gauges follow each request
	routes []*route
}

// NewStats measures nothing yet.
func NewStats(live bool) *Stats { return &Stats{live: live} }

// Wrap measures a handler under the name of its route.
func (s *Stats) Wrap(name string, next http.Handler) http.Handler {
	rt := &route{name: name, gauges: map[string]float64{}}
	s.routes = append(s.routes, rt)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		next.ServeHTTP(w, r)
		rt.add(time.Since(begin).Seconds())
		if s.live {
			rt.publish()
		}
	})
}

// Gauges returns the quantiles of all routes.
func (s *Stats) Gauges() (all []Gauge) {
	for _, rt := range s.routes {
		if !s.live {
			rt.publish()
		}
		rt.mu.Lock()
		for label, v := range rt.gauges {
			all = append(all, Gauge{rt.name, label, v})
		}
		rt.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Gauge) int {
		return slices.Compare([]string{a.Route, a.Quantile}, []string{b.Route, b.Quantile})
	})
	return all
}
