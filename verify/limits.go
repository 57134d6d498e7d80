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
	// apart is the level at which a shift is a drift: both parts of the session go on changing.
	apart = 0.05
	// leastShift is by how much both sides must serve more or less from some pair on to be reported.
	leastShift = 0.2
)

// Limits says in sentences what beside the sides' difference shaped a session's figures: that the
// machine, or what the sides share, changed while it was measured, and that a side became slower from turn to turn within its
// launches, as one that leaks does. nil where nothing is sure.
//
// None of them changes a verdict. The first affects both sides alike; of the second a launch of seconds
// shows only the beginning.
func Limits(pairs []Pair) (out []string) {
	served := levels(pairs)
	by, at := shift(served)
	switch gradual, drifts := drift(served, at); {
	case drifts:
		out = append(out, fmt.Sprintf("both sides served %s in the last third of the session than in the first, bit by bit: what "+
			"they share changed (a database that fills up, a disk, a quota); %s, so it favours neither, and the verdict is of all "+
			"these states together", fewerOrMore(gradual), shared(pairs)))
	case at > 0:
		out = append(out, fmt.Sprintf("the machine changed: from pair %d of %d on both sides served %s "+
			"(look for a CPU quota, throttling and neighbours); the verdict is of both states together",
			at+1, len(pairs), fewerOrMore(by)))
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

// shared says how both sides came to have alike of what changed bit by bit.
func shared(pairs []Pair) string {
	if pairs[0].Turn > 0 {
		return "they took turns"
	}
	return "each was measured first as often as the other"
}

func fewerOrMore(by float64) string {
	word := "more"
	if by < 0 {
		word = "fewer"
	}
	return fmt.Sprintf("%s %s requests", notation.Percent(math.Abs(by)), word)
}

// levels returns the logarithm of what both sides of each pair served; nil where that is not known of all.
func levels(pairs []Pair) (out []float64) {
	for _, p := range pairs {
		a, b := p.A.Values["throughput"], p.B.Values["throughput"]
		if !(a > 0 && b > 0) {
			return nil
		}
		out = append(out, (math.Log(a)+math.Log(b))/2)
	}
	return out
}

// shift returns the pair from which both sides together serve more or less, and by which share; at is 0 for none.
func shift(levels []float64) (share float64, at int) {
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

// drift returns by which share both sides together serve more or less in the last third of the pairs than in the first, if that
// came bit by bit: there is a trend, before and after the pair at which they shift as well, if they do.
func drift(levels []float64, at int) (share float64, ok bool) {
	third := len(levels) / 3
	if third == 0 {
		return 0, false
	}
	all, variance := kendall(levels)
	if math.Erfc(math.Abs(all)/math.Sqrt(2*variance)) > surely {
		return 0, false
	}
	if at > 0 {
		before, v := kendall(levels[:at])
		after, w := kendall(levels[at:])
		if within := before + after; within*all <= 0 || math.Erfc(math.Abs(within)/math.Sqrt(2*(v+w))) > apart {
			return 0, false
		}
	}
	share = math.Expm1(stat.Median(levels[len(levels)-third:]) - stat.Median(levels[:third]))
	return share, math.Abs(share) >= leastShift
}

// kendall returns Kendall's statistic of a trend, the number of later values that are larger less that of smaller ones, and its
// variance without a trend, n(n-1)(2n+5)/18.
func kendall(values []float64) (s, variance float64) {
	for i, from := range values {
		for _, to := range values[i+1:] {
			switch {
			case to > from:
				s++
			case to < from:
				s--
			}
		}
	}
	n := float64(len(values))
	return s, n * (n - 1) * (2*n + 5) / 18
}

// warming returns by how much more a request takes in the last third of a launch than in the first, of both sides; 0 where launches
// have too few turns.
func warming(pairs []Pair) float64 {
	a, b := growth(pairs, func(p Pair) Block { return p.A }), growth(pairs, func(p Pair) Block { return p.B })
	if math.IsNaN(a) || math.IsNaN(b) {
		return 0
	}
	return math.Expm1((a + b) / 2)
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
// statistic of their ratio over the turns, summed over launches.
// Turns alternate, so that a machine that becomes slower affects both. 0 where there are too few.
func divergence(pairs []Pair) float64 {
	s, variance := 0.0, 0.0
	for _, p := range pairs {
		n := min(len(p.A.Turns), len(p.B.Turns))
		if n < leastTurns {
			continue
		}
		var ratios []float64
		for i := 1; i < n; i++ { // the first turn is of a service that warms up
			ratios = append(ratios, p.B.Turns[i]/p.A.Turns[i])
		}
		more, v := kendall(ratios)
		s, variance = s+more, variance+v
	}
	if variance == 0 {
		return 0
	}
	return s / math.Sqrt(variance)
}
