package middleware

import (
	"fmt"
	"io"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
)

// Metrics counts requests and their time. Its two middlewares feed the same page.
type Metrics struct {
	mu      sync.Mutex
	labeled map[string]*series
	routes  []*routeCounters
}

// series is one line of the page.
type series struct {
	count int64
	took  time.Duration
}

// routeCounters are one route's counts by class of status, 1xx to 5xx.
type routeCounters struct {
	route string
	class [6]struct{ count, took atomic.Int64 }
}

// NewMetrics returns empty metrics.
func NewMetrics() *Metrics { return &Metrics{labeled: map[string]*series{}} }

// userAgentMost bounds the label that callers choose.
const userAgentMost = 64

// seriesMost bounds the series, because a label comes from outside.
const seriesMost = 1000

// Labeled counts under a text of labels that is built per request.
func (m *Metrics) Labeled(route string) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		agent := c.Request.UserAgent()
		labels := fmt.Sprintf("method=%q,route=%q,status=%q,user_agent=%q", c.Request.Method, route,
			fmt.Sprint(c.Writer.Status()), agent[:min(len(agent), userAgentMost)])
		m.mu.Lock()
		defer m.mu.Unlock()
		s := m.labeled[labels]
		if s == nil {
			if len(m.labeled) >= seriesMost {
				return
			}
			s = &series{}
			m.labeled[labels] = s
		}
		s.count++
		s.took += time.Since(start)
	}
}

// Counted counts by route and class of status in counters that are found when
// the route is made.
func (m *Metrics) Counted(method, route string) gin.HandlerFunc {
	r := &routeCounters{route: fmt.Sprintf("method=%q,route=%q", method, route)}
	m.mu.Lock()
	m.routes = append(m.routes, r)
	m.mu.Unlock()
	return func(c *gin.Context) {
		c.Next()
		counters := &r.class[min(c.Writer.Status()/100, 5)]
		counters.count.Add(1)
		counters.took.Add(int64(time.Since(Of(c).Start)))
	}
}

// WriteTo writes the page, in the text format of Prometheus.
func (m *Metrics) WriteTo(w io.Writer) (int64, error) {
	m.mu.Lock()
	page := map[string]series{}
	for labels, s := range m.labeled {
		page[labels] = *s
	}
	for _, r := range m.routes {
		for class := range r.class {
			if n := r.class[class].count.Load(); n > 0 {
				page[fmt.Sprintf("%s,status=\"%dxx\"", r.route, class)] = series{n, time.Duration(r.class[class].took.Load())}
			}
		}
	}
	m.mu.Unlock()
	names := make([]string, 0, len(page))
	for labels := range page {
		names = append(names, labels)
	}
	sort.Strings(names)
	var written int64
	for _, labels := range names {
		n, err := fmt.Fprintf(w, "http_requests_total{%s} %d\nhttp_request_seconds_total{%s} %g\n",
			labels, page[labels].count, labels, page[labels].took.Seconds())
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
