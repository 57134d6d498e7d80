// Package telemetry declares the service's metrics.
package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Names of labels.
const (
	Service = "service"
	Region  = "region"
	Route   = "route"
	Method  = "method"
	Tenant  = "tenant"
	Layer   = "layer"
	Status  = "status"
	Aisle   = "aisle"
	Kind    = "kind"
)

var base = []string{Service, Region, Route, Method, Tenant, Layer}

// Set is all metrics of the service.
type Set struct {
	Started  *prometheus.CounterVec
	InFlight *prometheus.GaugeVec
	Finished *prometheus.CounterVec
	Duration *prometheus.HistogramVec
	Bytes    *prometheus.HistogramVec
	Prices   *prometheus.CounterVec
	Amounts  *prometheus.HistogramVec
}

// New registers the metrics.
func New(r prometheus.Registerer) *Set {
	s := &Set{
		Started:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_started_total", Help: "Requests begun."}, base),
		InFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "requests_in_flight", Help: "Requests under way."}, base),
		Finished: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_finished_total",
			Help: "Requests ended."}, append(base, Status)),
		Duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "request_seconds", Help: "Duration.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16)}, append(base, Status)),
		Bytes: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "response_bytes", Help: "Size.",
			Buckets: prometheus.ExponentialBuckets(64, 4, 8)}, append(base, Status)),
		Prices: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "prices_served_total",
			Help: "Prices served."}, []string{Service, Region, Tenant, Aisle, Kind}),
		Amounts: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "price_cents", Help: "Prices.",
			Buckets: prometheus.ExponentialBuckets(10, 3, 8)}, []string{Service, Region, Tenant, Aisle, Kind}),
	}
	r.MustRegister(s.Started, s.InFlight, s.Finished, s.Duration, s.Bytes, s.Prices, s.Amounts)
	return s
}
