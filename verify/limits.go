package verify

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
)

const (
	// surely is the level at which Limits reports something: a session has up to five tests of it.
	surely = 0.001
	// leastShift is by how much both sides must serve more or less from some pair on to be reported.
	leastShift = 0.2
)

// Limits says in sentences what beside the sides' difference shaped a session's figures: that the
// machine changed while it was measured, and that a side became slower from turn to turn within its
// launches, as one that leaks does. nil where nothing is sure.
//
// Neither changes a verdict. The first affects both sides alike; of the second a launch of seconds
// shows only the beginning.
func Limits(pairs []Pair) (out []string) {
	if shift, at := machineShift(pairs); at > 0 {
		word := "more"
		if shift < 0 {
			word = "fewer"
		}
		out = append(out, fmt.Sprintf("the machine changed: from pair %d of %d on both sides served %s %s requests "+
			"(look for a CPU quota, throttling and neighbours); the verdict is of both states together",
			at+1, len(pairs), notation.Percent(math.Abs(shift)), word))
	}
	a, b := growth(pairs, func(p Pair) Block { return p.A }), growth(pairs, func(p Pair) Block { return p.B })
	diverges := divergence(pairs)
	for _, s := range []struct {
		name           string
		by, than, sure float64
	}{{"a", a, b, -diverges}, {"b", b, a, diverges}} {
		if math.Erfc(s.sure/math.Sqrt2)/2 <= surely && s.by-s.than >= math.Log1p(0.05) {
			out = append(out, fmt.Sprintf("side %s took %s more CPU per request in the last third of a launch than in the "+
				"first, and the other side did not: what builds up shows in full in a longer run only (hint: a larger --block, "+
				"or redline run)", s.name, notation.Percent(math.Expm1(s.by))))
		}
	}
	return out
}

// machineShift returns the pair from which both sides together serve more or less, and by which
// share; at is 0 for none.
func machineShift(pairs []Pair) (share float64, at int) {
	var levels []float64
	for _, p := range pairs {
		a, b := p.A.Values["throughput"], p.B.Values["throughput"]
		if !(a > 0 && b > 0) {
			return 0, 0
		}
		levels = append(levels, (math.Log(a)+math.Log(b))/2)
	}
	at, p := stat.PermutedChangePoint(levels)
	if p > surely {
		return 0, 0
	}
	share = math.Expm1(stat.Median(levels[at:]) - stat.Median(levels[:at]))
	if math.Abs(share) < leastShift {
		return 0, 0
	}
	return share, at
}

// growth returns by how much more a side's requests took in the last third of its turns than in the
// first, on the logarithmic scale, in the median launch. The first turn is left out: a service
// that is still warming up takes more.
func growth(pairs []Pair, side func(Pair) Block) float64 {
	var d []float64
	for _, p := range pairs {
		turns := side(p).Turns
		if len(turns) < leastTurns {
			continue
		}
		turns = turns[1:]
		third := max(1, len(turns)/3)
		d = append(d, math.Log(average(turns[len(turns)-third:])/average(turns[:third])))
	}
	return stat.HodgesLehmann(d)
}

// leastTurns is the number of turns of a launch in which a trend is looked for.
const leastTurns = 4

// divergence returns by how many standard errors side b's requests take more and more than side a's within launches: Kendall's
// statistic of their ratio over the turns, summed over launches, whose variance without a trend is n(n-1)(2n+5)/18 for each.
// Turns alternate, so that a machine that becomes slower affects both. 0 where there are too few.
func divergence(pairs []Pair) float64 {
	s, variance := 0.0, 0.0
	for _, p := range pairs {
		n := min(len(p.A.Turns), len(p.B.Turns))
		if n < leastTurns {
			continue
		}
		ratio := func(i int) float64 { return p.B.Turns[i] / p.A.Turns[i] }
		for i := 1; i < n; i++ {
			for j := i + 1; j < n; j++ {
				switch from, to := ratio(i), ratio(j); {
				case to > from:
					s++
				case to < from:
					s--
				}
			}
		}
		k := float64(n - 1)
		variance += k * (k - 1) * (2*k + 5) / 18
	}
	if variance == 0 {
		return 0
	}
	return s / math.Sqrt(variance)
}
