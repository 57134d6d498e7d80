// Command versus2 measures kit's ring, workers and shed against the libraries and the
// plain forms that a service would use instead. It is a module of its own, outside of
// go.work, so that kit depends on none of them:
//
//	cd kit/internal/versus2 && GOWORK=off go run . [-rounds 60] [-only ring]
//
// Alternatives run by turns, in a new order each round. The table has each one's
// median, and the median of the ratios to kit's in the same round with its 95 % interval from
// the order statistics, which presumes nothing about how times are distributed.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// contest is one job, done in several ways; the first is kit's.
type contest struct {
	name string
	unit string // of which a run does n
	n    int
	ways []way
}

type way struct {
	name string
	run  func(n int)
}

func main() {
	rounds := flag.Int("rounds", 60, "rounds per contest, at least 10")
	only := flag.String("only", "", "contests whose name begins so")
	flag.Parse()
	if err := run(os.Stdout, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "versus2:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, rounds int, only string) error {
	if rounds < 10 {
		return fmt.Errorf("-rounds %d: an interval of the median needs at least 10", rounds)
	}
	fmt.Fprintf(w, "%s, %s/%s, GOMAXPROCS %d, %d rounds\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), rounds)
	fmt.Fprintln(w, "| contest | way | median | times kit's, 95 % interval | CPUs used |")
	fmt.Fprintln(w, "|---|---|---:|---|---:|")
	for _, c := range slices.Concat(rings(), pools(), limiters()) {
		if strings.HasPrefix(c.name, only) {
			c.measure(w, rounds)
		}
	}
	return nil
}

func (c contest) measure(w io.Writer, rounds int) {
	took := make([][]float64, len(c.ways)) // nanoseconds per unit, by way and round
	cpus := make([][]float64, len(c.ways))
	order := make([]int, len(c.ways))
	for i := range order {
		order[i] = i
		c.ways[i].run(c.n) // warm
	}
	for range rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			used, start := cpu(), time.Now()
			c.ways[i].run(c.n)
			elapsed := time.Since(start)
			took[i] = append(took[i], float64(elapsed)/float64(c.n))
			cpus[i] = append(cpus[i], float64(cpu()-used)/float64(elapsed))
		}
	}
	for i, way := range c.ways {
		ratios := make([]float64, rounds)
		for r := range ratios {
			ratios[r] = took[i][r] / took[0][r]
		}
		ratio := ""
		if i > 0 {
			low, mid, high := median(ratios)
			ratio = fmt.Sprintf("%.2f (%.2f to %.2f)", mid, low, high)
		}
		_, mid, _ := median(took[i])
		_, used, _ := median(cpus[i])
		fmt.Fprintf(w, "| %s | %s | %s/%s | %s | %.1f |\n", c.name, way.name, figure(mid), c.unit, ratio, used)
	}
}

func figure(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.1f ns", ns)
	}
	return time.Duration(ns).Round(10 * time.Nanosecond).String()
}

// median returns the median and the bounds of its 95 % interval: the order statistics
// n/2 -+ 0.98 sqrt(n), by the normal approximation of the binomial.
func median(values []float64) (low, mid, high float64) {
	s := slices.Sorted(slices.Values(values))
	n := float64(len(s))
	at := func(i float64) float64 { return s[min(len(s)-1, max(0, int(i)))] }
	return at(math.Floor(n/2 - 0.98*math.Sqrt(n))), (at((n-1)/2) + at(n/2)) / 2, at(math.Ceil(n/2 + 0.98*math.Sqrt(n)))
}
