// Package catalog serves the prices of an aisle.
package catalog

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redline-go/redline/corpus/sick/shelf-prices/middleware"
	"github.com/redline-go/redline/corpus/sick/shelf-prices/telemetry"
)

type price struct {
	sku, kind string
	cents     int
}

// Catalog is the prices by aisle.
type Catalog struct {
	aisles  map[string][]price
	metrics *telemetry.Set
	plain   bool
}

// New returns a catalog of n aisles. A plain one counts no single prices.
func New(n int, metrics *telemetry.Set, plain bool) *Catalog {
	kinds := []string{"regular", "offer", "member", "clearance"}
	c := &Catalog{aisles: map[string][]price{}, metrics: metrics, plain: plain}
	for a := range n {
		list := make([]price, 30)
		for k := range list {
			list[k] = price{"sku-" + strconv.Itoa(a*30+k), kinds[k%len(kinds)], 99 + a*k%4000}
		}
		c.aisles[strconv.Itoa(a)] = list
	}
	return c
}

// ServeHTTP answers with the prices of an aisle.
func (c *Catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	aisle := r.PathValue("aisle")
	list, ok := c.aisles[aisle]
	if !ok {
		http.NotFound(w, r)
		return
	}
	out := make([]byte, 0, 2048)
	out = append(out, '[')
	for i, p := range list {
		if !c.plain {
			c.served(r, aisle, p)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"sku":"`...)
		out = append(out, p.sku...)
		out = append(out, `","cents":`...)
		out = strconv.AppendInt(out, int64(p.cents), 10)
		out = append(out, '}')
	}
	out = append(out, ']', '\n')
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out)
}

func (c *Catalog) served(r *http.Request, aisle string, p price) {
	labels := prometheus.Labels{
		telemetry.Service: "shelf-prices",
		telemetry.Region:  "eu-central",
		telemetry.Tenant:  middleware.TenantOf(r.Context()),
		telemetry.Aisle:   aisle,
		telemetry.Kind:    p.kind,
	}
	c.metrics.Prices.With(labels).Inc()
	c.metrics.Amounts.With(labels).Observe(float64(p.cents))
}
