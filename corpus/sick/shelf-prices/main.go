// Command shelf-prices serves electronic shelf labels with prices.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redline-go/redline/corpus/sick/shelf-prices/catalog"
	"github.com/redline-go/redline/corpus/sick/shelf-prices/middleware"
	"github.com/redline-go/redline/corpus/sick/shelf-prices/telemetry"
)

func main() {
	registry := prometheus.NewRegistry()
	set := telemetry.New(registry)
	fixed := os.Getenv("FIXED") == "1"

	const route = "GET /aisles/{aisle}/prices"
	layers := []middleware.Middleware{
		middleware.Tenant,
		middleware.Observe(set, route, "edge"),
		middleware.NoStore,
		middleware.Observe(set, route, "router"),
		middleware.Observe(set, route, "group"),
		middleware.Observe(set, route, "handler"),
	}
	if fixed {
		layers = layers[:3]
	}
	mux := http.NewServeMux()
	mux.Handle(route, middleware.Chain(catalog.New(60, set, fixed), layers...))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	log.Fatal(http.ListenAndServe("127.0.0.1:9806", mux))
}
