// Package duty finds the customs duty of goods.
package duty

import (
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/corpus/sick/duty-rates/internal/cache"
)

// Query asks for the duty of a shipment.
type Query struct {
	Origin, Code string
	Declared     time.Time
	TraceID      string
}

// Rate is the answer.
type Rate struct {
	Percent float64 `json:"percent"`
	Rules   int     `json:"rules"`
	Notice  string  `json:"notice,omitempty"`
}

type rule struct {
	origin, prefix string
	percent        float64
	from           time.Time
}

// Tariff holds the rules in force.
type Tariff struct {
	rules []rule
	rates *cache.Cache[Query, Rate]
	trim  bool
}

var origins = []string{"CN", "US", "IN", "BR", "VN", "ZA", "TR", "MX", "JP", "KR"}

// New returns a tariff with n rules.
func New(n int, trim bool) *Tariff {
	t := &Tariff{rates: cache.New[Query, Rate](4096, 10*time.Minute), trim: trim}
	start := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; i < n; i++ {
		t.rules = append(t.rules, rule{
			origin:  origins[i%len(origins)],
			prefix:  fmt.Sprintf("%04d", i*7%10000)[:2+i%3],
			percent: float64(i%23) / 4,
			from:    start.AddDate(0, 0, i%1500),
		})
	}
	return t
}

// Rate returns the duty rate of a query.
func (t *Tariff) Rate(q Query) (Rate, error) {
	if t.trim {
		q.TraceID, q.Declared = "", q.Declared.Truncate(24*time.Hour)
	}
	return t.rates.GetOrLoad(q, t.evaluate)
}

func (t *Tariff) evaluate(q Query) (Rate, error) {
	if len(q.Code) < 4 {
		return Rate{}, fmt.Errorf("code %q is too short", q.Code)
	}
	var r Rate
	best := 0
	for i := range t.rules {
		l := &t.rules[i]
		if q.Declared.Before(l.from) || !strings.EqualFold(l.origin, q.Origin) || !strings.HasPrefix(q.Code, l.prefix) {
			continue
		}
		r.Rules++
		if len(l.prefix) >= best {
			best, r.Percent = len(l.prefix), l.percent
		}
	}
	if r.Rules == 0 {
		r.Notice = "general rate"
		r.Percent = 6.5
	}
	return r, nil
}
