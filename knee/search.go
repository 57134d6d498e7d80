package knee

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv" // the normal distribution

	"github.com/redline-go/redline/notation"
)

// Interval is a range of rates, 1/s.
type Interval struct {
	Rate float64 `json:"rate"` // the estimate
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Width is the interval's, over the estimate.
func (i Interval) Width() float64 { return (i.High - i.Low) / i.Rate }

const (
	// fine is the step of the grid, in logarithms of the rate.
	fine = 0.003
	// outer is how far from the guess the knee may lie, as a factor.
	outer = 8
	// lapse is the probability that a step misleads, because something else happened
	// meanwhile.
	lapse = 0.03
	// guessed is the part of the prior belief around the guess, within guessSpread;
	// the rest is spread over all rates.
	guessed     = 0.6
	guessSpread = 0.04
	// credible is the part of the belief that the interval holds.
	credible = 0.95
	// apart is the resolution of the steps: two rates this close give the same outcome.
	// The interval is widened by it on both sides.
	apart = 2 * leastGrowth

	narrow        = 0.06 // width at which a search ends
	leastOfEach   = 3    // steps that hold, and as many that break, near the knee
	neighbourly   = 0.1  // the part of the knee's rate by which a step near it may differ
	leastToLocate = 0.25 // steps go to this quantile of the belief, and to its mirror

	patience      = 2    // consecutive steps that the generator spoils, or that are not steady, before the search gives up
	belowCeiling  = 0.95 // the part of a rate that the generator cannot offer which it can offer
	mostDisturbed = 6    // consecutive steps that other programs disturb, before the search gives up
	fewEnds       = 4    // exits of the target, if no step held: each costs a launch
	mostEnds      = 8    // exits of the target, if some step held
)

// spreads are how gradual the knee may be: the standard deviation of the rate at
// which a step breaks, in logarithms.
var spreads = []float64{0.002, 0.005, 0.01, 0.02, 0.04, 0.08}

// Search finds the knee from steps that hold or break: a belief over all rates, by
// Bayes' rule after each step (A. B. Watson, D. G. Pelli, QUEST: a Bayesian adaptive
// psychometric method, Perception & Psychophysics 33 (1983), 113-120), with an
// unknown spread of the knee, and with some steps misleading. A step that
// contradicts the others widens the interval instead of moving the search elsewhere.
type Search struct {
	grid   []float64   // logarithms of rates
	belief [][]float64 // by spread, then by rate
	tried  []trial

	voids, unsteady int     // consecutive
	disturbed       int     // consecutive
	ended           int     // how often the target ended
	ceiling         float64 // rate that the generator cannot offer; 0 is none
	held            int     // steps that held close below the ceiling
}

type trial struct {
	rate  float64
	holds bool
}

// NewSearch begins a search around a guess: the most that the service served, in 1/s.
func NewSearch(guess float64) *Search {
	s := &Search{}
	for x := math.Log(guess / outer); x <= math.Log(guess*outer); x += fine {
		s.grid = append(s.grid, x)
	}
	around, flat := distuv.Normal{Mu: math.Log(guess), Sigma: guessSpread}, (1-guessed)/float64(len(s.grid))
	for range spreads {
		belief := make([]float64, len(s.grid))
		for i, x := range s.grid {
			belief[i] = (guessed*fine*around.Prob(x) + flat) / float64(len(spreads))
		}
		s.belief = append(s.belief, belief)
	}
	return s
}

// Take processes a step, whatever its outcome.
func (s *Search) Take(step Step) {
	switch step.Outcome {
	case Void:
		if s.voids++; s.voids >= patience && (s.ceiling == 0 || step.Rate < s.ceiling) {
			s.ceiling, s.held = step.Rate, 0
		}
		return
	case Unsteady:
		s.unsteady++
		return
	case Disturbed:
		s.disturbed++
		return
	case Ended:
		s.ended++
	case Holds:
		if s.ceiling > 0 && step.Rate >= belowCeiling*belowCeiling*s.ceiling {
			s.held++
		}
	}
	s.voids, s.unsteady, s.disturbed = 0, 0, 0
	s.Add(step.Rate, step.Outcome == Holds)
}

// Add processes a step that held or broke.
func (s *Search) Add(rate float64, holds bool) {
	s.tried = append(s.tried, trial{rate, holds})
	at, total := math.Log(rate), 0.0
	for k, spread := range spreads {
		for i, x := range s.grid {
			p := lapse + (1-2*lapse)*distuv.UnitNormal.CDF((x-at)/spread)
			if !holds {
				p = 1 - p
			}
			s.belief[k][i] *= p
			total += s.belief[k][i]
		}
	}
	for _, belief := range s.belief {
		for i := range belief {
			belief[i] /= total
		}
	}
}

// quantile returns the rate below which a part of the belief lies.
func (s *Search) quantile(part float64) float64 {
	sum := 0.0
	for i, x := range s.grid {
		for _, belief := range s.belief {
			sum += belief[i]
		}
		if sum >= part {
			return math.Exp(x)
		}
	}
	return math.Exp(s.grid[len(s.grid)-1])
}

// Next returns the rate to try: alternately above and below the median of the
// belief, so that the knee is approached from both sides. longer is the factor by
// which the step should be longer than usual, because the one before it was not
// steady.
func (s *Search) Next() (rate, longer float64) {
	part := leastToLocate
	if n := len(s.tried); n > 0 && s.tried[n-1].holds {
		part = 1 - leastToLocate
	}
	rate, longer = s.quantile(part), math.Pow(2, float64(min(2, s.unsteady)))
	if s.ceiling > 0 {
		rate = min(rate, belowCeiling*s.ceiling)
	}
	return rate, longer
}

// Stuck returns why more steps would not find the knee; empty if they may.
func (s *Search) Stuck() string {
	switch held, _ := s.near(math.Inf(1)); {
	case held == 0 && s.ended > 0 && (s.ended >= fewEnds || s.exhausted()):
		return fmt.Sprintf("the target ended by itself in %s, whatever the rate", notation.Counted(int64(s.ended), "launch", "launches"))
	case s.ended >= mostEnds:
		return fmt.Sprintf("the target ended by itself %s", notation.Counted(int64(s.ended), "time", "times"))
	case s.ceiling > 0 && s.held >= 2:
		return fmt.Sprintf("the generator is the limit: it cannot offer %s/s here, but the service still held at %s/s",
			notation.Rate(s.ceiling), notation.Rate(belowCeiling*s.ceiling))
	case s.voids >= 2*patience:
		return "the generator was the limit in every step (see the reasons of the steps)"
	case s.unsteady >= patience+1:
		return "no rate was steady: the latency kept shifting within every step, however long"
	case s.disturbed >= mostDisturbed:
		return fmt.Sprintf("other programs took the CPUs in %d steps one after the other (hint: a quieter machine)", s.disturbed)
	case s.exhausted():
		return fmt.Sprintf("the objectives failed at every rate that was tried, down to %s/s", notation.Rate(s.lowest()))
	}
	return ""
}

// exhausted reports whether the belief has moved below all rates that can be tried.
func (s *Search) exhausted() bool { return s.quantile((1+credible)/2) < math.Exp(s.grid[0])*2 }

// lowest is the lowest rate that was tried.
func (s *Search) lowest() float64 {
	least := math.Inf(1)
	for _, t := range s.tried {
		least = min(least, t.rate)
	}
	return least
}

// Interval returns where the knee lies by all steps so far.
func (s *Search) Interval() Interval {
	return Interval{
		Rate: s.quantile(0.5),
		Low:  s.quantile((1-credible)/2) * (1 - apart), High: s.quantile((1+credible)/2) * (1 + apart),
	}
}

// Bounded reports whether there are steps on both sides, so that the interval does
// not come from the prior belief.
func (s *Search) Bounded() bool {
	held, broke := s.near(math.Inf(1))
	return held > 0 && broke > 0
}

// Done reports whether more steps would change little: the interval is narrow, and
// steps close to the knee were repeated on both sides.
func (s *Search) Done() bool {
	held, broke := s.near(neighbourly)
	return s.Interval().Width() <= narrow && held >= leastOfEach && broke >= leastOfEach
}

// near counts the steps that held and that broke within a part of the estimate.
func (s *Search) near(within float64) (held, broke int) {
	knee := s.quantile(0.5)
	for _, t := range s.tried {
		switch distance := t.rate/knee - 1; {
		case t.holds && distance <= apart && -distance <= within:
			held++
		case !t.holds && distance >= -apart && distance <= within:
			broke++
		}
	}
	return held, broke
}
