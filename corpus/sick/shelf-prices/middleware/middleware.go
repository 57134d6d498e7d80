// Package middleware wraps handlers.
package middleware

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redline-go/redline/corpus/sick/shelf-prices/telemetry"
)

// Middleware wraps a handler.
type Middleware func(http.Handler) http.Handler

// Chain wraps h, the first outermost.
func Chain(h http.Handler, list ...Middleware) http.Handler {
	for i := len(list) - 1; i >= 0; i-- {
		h = list[i](h)
	}
	return h
}

type recorder struct {
	http.ResponseWriter
	status, bytes int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	return n, err
}

// Observe counts and times what passes a layer.
func Observe(set *telemetry.Set, route, layer string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			labels := prometheus.Labels{
				telemetry.Service: "shelf-prices",
				telemetry.Region:  "eu-central",
				telemetry.Route:   route,
				telemetry.Method:  r.Method,
				telemetry.Tenant:  TenantOf(r.Context()),
				telemetry.Layer:   layer,
			}
			set.Started.With(labels).Inc()
			set.InFlight.With(labels).Inc()
			defer set.InFlight.With(labels).Dec()

			rec := &recorder{ResponseWriter: w, status: http.StatusOK}
			start := time.Now()
			next.ServeHTTP(rec, r)

			labels[telemetry.Status] = strconv.Itoa(rec.status)
			defer delete(labels, telemetry.Status)
			set.Finished.With(labels).Inc()
			set.Duration.With(labels).Observe(time.Since(start).Seconds())
			set.Bytes.With(labels).Observe(float64(rec.bytes))
		})
	}
}

type tenantKey struct{}

// Tenant reads the tenant from the request.
func Tenant(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tenant := r.Header.Get("X-Tenant")
		if tenant == "" {
			tenant = "default"
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, tenant)))
	})
}

// TenantOf returns the tenant of a request's context.
func TenantOf(ctx context.Context) string {
	t, _ := ctx.Value(tenantKey{}).(string)
	return t
}

// NoStore forbids caching.
func NoStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
