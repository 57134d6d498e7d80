package serving_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus" // what most services show their metrics with
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redline-go/redline/lab/micro"
)

// The claim's series.
const (
	manySeries = 12_840
	fewSeries  = 2_150
)

// metricsPage serves a counter with so many series that count as many requests together.
func metricsPage(tb testing.TB, series int) (url string) {
	tb.Helper()
	registry := prometheus.NewRegistry()
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total", Help: "Requests."}, []string{"route", "user"})
	registry.MustRegister(requests)
	for i := range manySeries {
		requests.WithLabelValues("/orders", fmt.Sprint("u", i%series)).Inc()
	}
	return "http://" + serve(tb, &http.Server{Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		ReadHeaderTimeout: time.Minute})
}

// scrape reads the page and returns its series and what they count.
func scrape(url string) (series, requests int, err error) {
	resp, err := http.Get(url)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(text)) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && strings.HasPrefix(line, "requests_total{") {
			var n int
			_, _ = fmt.Sscan(line[at:], &n)
			series, requests = series+1, requests+n
		}
	}
	return series, requests, err
}

// BenchmarkScrape reads a metrics page of 12,840 series, or of 2,150.
func BenchmarkScrape(b *testing.B) {
	url := metricsPage(b, micro.Of(manySeries, fewSeries))
	for b.Loop() {
		resp, err := http.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 10_000 {
			b.Fatal(n, err)
		}
		_ = resp.Body.Close()
	}
}

// TestScrape: fewer series count the same requests.
func TestScrape(t *testing.T) {
	for _, want := range []int{manySeries, fewSeries} {
		if series, requests, err := scrape(metricsPage(t, want)); err != nil || series != want || requests != manySeries {
			t.Errorf("%d series with %d requests, %v", series, requests, err)
		}
	}
}
