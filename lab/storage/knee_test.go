package storage

import (
	"math"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/micro"
)

// demand is what a pool's size is derived from.
type demand struct {
	rate    float64       // requests/s
	service time.Duration // a request's time on its connection, while no other is there
}

// mostConnections is what is left of the server's 200, with some for others.
const mostConnections = 128

// byReport is the claimed formula, rate x (service time + 50 ms).
func (d demand) byReport() int {
	return bounded(d.rate * (d.service + 50*time.Millisecond).Seconds())
}

// byLittle is Little's law with the square-root rule on top: rate x service time are busy in
// the mean, and twice the root of it covers what comes at random (Halfin and Whitt, "Heavy-traffic
// limits for queues with many exponential servers", Operations Research 29, 1981).
func (d demand) byLittle() int {
	busy := d.rate * d.service.Seconds()
	return bounded(busy + 2*math.Sqrt(busy))
}

func bounded(connections float64) int {
	return int(max(1, min(mostConnections, math.Ceil(connections))))
}

// BenchmarkPoolFormula reads in bursts through a pool whose size follows from the rate that this
// machine can do and from the service time, both measured here.
func BenchmarkPoolFormula(b *testing.B) {
	dsn := accounts(b)
	size := micro.Of(demand.byReport, demand.byLittle)(measure(b, dsn))
	read := poolReader(pool(b, dsn, size, readAccount))
	for b.Loop() {
		if err := burst(b.Context(), crowd, inTurn, read); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size), "connections")
}

// measure takes the service time from one caller's reads, and the rate from sixteen callers'.
func measure(tb testing.TB, dsn string) demand {
	const reads, several = 128, 16
	read := poolReader(pool(tb, dsn, several, readAccount))
	each := func(callers int) time.Duration {
		begun := time.Now()
		must(tb, burst(tb.Context(), callers, reads/callers, read))
		return time.Since(begun)
	}
	alone, together := each(1), each(several)
	return demand{rate: reads / together.Seconds(), service: alone / reads}
}

// TestPoolSizes: at 2,000 requests/s of 1 ms, two connections are busy in the mean.
func TestPoolSizes(t *testing.T) {
	for _, c := range []struct {
		d                demand
		report, byLittle int
	}{
		{demand{2000, time.Millisecond}, 102, 5},
		{demand{100, time.Millisecond}, 6, 1},
		{demand{1000, 100 * time.Millisecond}, mostConnections, 120},
		{demand{}, 1, 1},
	} {
		if got := c.d.byReport(); got != c.report {
			t.Errorf("%+v: %d by the report, want %d", c.d, got, c.report)
		}
		if got := c.d.byLittle(); got != c.byLittle {
			t.Errorf("%+v: %d by Little's law, want %d", c.d, got, c.byLittle)
		}
	}
	dsn := accounts(t)
	d := measure(t, dsn)
	if d.rate <= 0 || d.service <= 0 {
		t.Fatalf("%+v", d)
	}
	for _, size := range []int{d.byReport(), d.byLittle()} {
		if err := burst(t.Context(), crowd, inTurn, poolReader(pool(t, dsn, size))); err != nil {
			t.Errorf("%d connections: %v", size, err)
		}
	}
}
