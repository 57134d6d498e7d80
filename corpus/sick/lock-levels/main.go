// Command lock-levels exports the water levels of a canal's locks as metrics. Each scrape asks
// the keepers' service for every lock: above the gate, then below it.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
)

// signed is a transport that signs requests.
type signed struct {
	by   string
	base http.RoundTripper
}

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	sum := fnv.New64a()
	io.WriteString(sum, s.by+r.URL.Path)
	again := r.Clone(r.Context())
	again.Header.Set("X-Signature", fmt.Sprintf("%016x", sum.Sum64()))
	return s.base.RoundTrip(again)
}

type level float64

func (l *level) UnmarshalBinary(text []byte) error {
	*l = level(binary.LittleEndian.Uint16(append(text, 0, 0))) / 100
	return nil
}

type keeper struct {
	asks *http.Client
	site string
}

func fetch[T any, P interface {
	*T
	UnmarshalBinary([]byte) error
}](ctx context.Context, k keeper, format string, args ...any) (value T, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.site+fmt.Sprintf(format, args...), nil)
	if err != nil {
		return value, err
	}
	res, err := k.asks.Do(r)
	if err != nil {
		return value, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return value, err
	}
	return value, P(&value).UnmarshalBinary(text)
}

// waterway collects the levels of its locks.
type waterway struct {
	keeper
	locks        []string
	above, below *prometheus.Desc
	apart        int // levels asked for at a time, if more than one
}

func (w *waterway) Describe(to chan<- *prometheus.Desc) { to <- w.above; to <- w.below }

func (w *waterway) Collect(to chan<- prometheus.Metric) {
	ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	if w.apart > 1 {
		w.collectApart(ctx, to)
		return
	}
	for _, lock := range w.locks {
		above, err := fetch[level](ctx, w.keeper, "/locks/%s/above", lock)
		if err != nil {
			to <- prometheus.NewInvalidMetric(w.above, err)
			continue
		}
		below, err := fetch[level](ctx, w.keeper, "/locks/%s/below", lock)
		if err != nil {
			to <- prometheus.NewInvalidMetric(w.below, err)
			continue
		}
		to <- prometheus.MustNewConstMetric(w.above, prometheus.GaugeValue, float64(above), lock)
		to <- prometheus.MustNewConstMetric(w.below, prometheus.GaugeValue, float64(below), lock)
	}
}

func (w *waterway) collectApart(ctx context.Context, to chan<- prometheus.Metric) {
	var asking errgroup.Group
	asking.SetLimit(w.apart)
	for _, lock := range w.locks {
		for side, desc := range map[string]*prometheus.Desc{"above": w.above, "below": w.below} {
			asking.Go(func() error {
				l, err := fetch[level](ctx, w.keeper, "/locks/%s/%s", lock, side)
				if err != nil {
					to <- prometheus.NewInvalidMetric(desc, err)
					return nil
				}
				to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(l), lock)
				return nil
			})
		}
	}
	asking.Wait()
}

func main() {
	name := []string{"lock"}
	w := &waterway{
		keeper: keeper{&http.Client{Transport: signed{"waterway", &http.Transport{MaxIdleConnsPerHost: 200}}}, os.Getenv("BACKEND_URL")},
		above:  prometheus.NewDesc("lock_level_above_metres", "Water level above the gate.", name, nil),
		below:  prometheus.NewDesc("lock_level_below_metres", "Water level below the gate.", name, nil),
	}
	for i := range 15 {
		w.locks = append(w.locks, fmt.Sprintf("l%02d", i))
	}
	if os.Getenv("FIXED") != "" {
		w.apart = 2 * len(w.locks)
	}
	levels := prometheus.NewRegistry()
	levels.MustRegister(w)
	http.Handle("/metrics", promhttp.HandlerFor(levels, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	log.Fatal(http.ListenAndServe("127.0.0.1:9983", nil))
}
