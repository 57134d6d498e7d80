package knee

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/stat/usl"
)

// widest is the largest width at which an interval is still an answer.
const widest = 0.25

// Decide returns the answer from a session's steps. ended is why the session ended
// early, empty if it was complete; interrupted is set if a person ended it.
func Decide(h Header, steps []Step, ended string, interrupted bool) *Answer {
	a := &Answer{Schema: Schema, State: Found, Header: h, Steps: undisturbed(steps), Warnings: []string{}}
	for _, s := range a.Steps {
		a.Launches = max(a.Launches, s.Launch)
	}
	a.locate()
	a.describe()
	switch {
	case interrupted:
		a.State, a.Why = Interrupted, "interrupted; this is what was measured until then"
	case a.Why != "":
		a.State = Undecided
	case ended != "" && (a.Knee == nil || a.Knee.Width() > widest):
		a.State, a.Why = Undecided, ended
	case a.Knee == nil:
		a.State, a.Why = Undecided, a.oneSided()
	case a.Knee.Width() > widest:
		a.State = Undecided
		a.Why = fmt.Sprintf("the steps contradict one another: the interval is %s wide (a quieter machine, or a longer --max-time)",
			notation.Percent(a.Knee.Width()))
	case a.Soak != nil && a.Soak.Outcome.fails():
		a.State = Undecided
		a.Why = fmt.Sprintf(
			"the soak at %s/s failed after the steps had held: %s",
			notation.Rate(a.Soak.Rate),
			strings.Join(a.Soak.Why, "; "),
		)
	case ended != "":
		a.Warnings = append(a.Warnings, ended)
	}
	a.Warnings = append(a.Warnings, a.foreign()...)
	return a
}

// foreign warns of programs that used CPUs even while the target had next to nothing to do: the capacity is what
// they left of it. What the load makes other programs do is not among them.
func (a *Answer) foreign() []string {
	full := slices.ContainsFunc(a.of(Searched), func(s Step) bool { return s.Outcome == Breaks && s.Host != nil && s.Host.Full })
	for _, s := range a.of(Light) {
		if h := s.Host; full && h != nil && h.Others >= leastTaken*h.CPUs {
			return []string{fmt.Sprintf("other programs used %s of the host's %s while the target was unloaded: "+
				"its capacity alone is higher", notation.Short(h.Others), notation.Counted(int64(h.CPUs), "CPU", "CPUs"))}
		}
	}
	return nil
}

// of returns the steps of a phase.
func (a *Answer) of(phases ...Phase) (list []Step) {
	for _, s := range a.Steps {
		if slices.Contains(phases, s.Phase) {
			list = append(list, s)
		}
	}
	return list
}

// swept returns the most that a sweep served, the rate at which to begin a search; 0 without one.
func swept(steps []Step) (most float64) {
	for _, s := range steps {
		if s.Phase == Light || s.Phase == Up || s.Phase == Down {
			most = max(most, s.Served)
		}
	}
	return most
}

// locate finds the knee from the steps of all launches together. Launches whose
// intervals exclude each other have different knees: then the interval spans both.
func (a *Answer) locate() {
	all, byLaunch := SearchOf(a.Steps), map[int]*Search{}
	if all == nil {
		return
	}
	for _, s := range a.of(Searched) {
		if byLaunch[s.Launch] == nil {
			byLaunch[s.Launch] = NewSearch(swept(a.Steps))
		}
		byLaunch[s.Launch].Take(s)
		if s.Outcome == Holds {
			a.AtLeast = max(a.AtLeast, s.Rate)
		}
	}
	a.Why = all.Stuck()
	if !all.Bounded() {
		return
	}
	if all.ended > 0 {
		a.Why = "" // its capacity ends where the target exits
		a.Warnings = append(
			a.Warnings,
			fmt.Sprintf("above the knee the target ended by itself, %s", notation.Counted(int64(all.ended), "time", "times")),
		)
	}
	knee := all.Interval()
	low, high := knee, knee
	for _, one := range byLaunch {
		if !one.Bounded() {
			continue
		}
		i := one.Interval()
		if i.Low < low.Low {
			low = i
		}
		if i.High > high.High {
			high = i
		}
	}
	if low.High < high.Low {
		knee.Low, knee.High = low.Low, high.High
		a.Warnings = append(a.Warnings, "launches of the target differ: the interval covers the knees of all")
	}
	a.Knee = &knee
}

// oneSided says why there is no interval.
func (a *Answer) oneSided() string {
	tried := a.of(Searched)
	failed := slices.DeleteFunc(slices.Clone(tried), func(s Step) bool { return !s.Outcome.fails() })
	switch {
	case a.AtLeast > 0:
		return fmt.Sprintf("no rate broke before the time was up: the knee is above %s/s", notation.Rate(a.AtLeast))
	case len(failed) > 0:
		least := slices.MinFunc(failed, func(a, b Step) int { return cmp.Compare(a.Rate, b.Rate) })
		return fmt.Sprintf("no rate held before the time was up: the knee is below %s/s", notation.Rate(least.Rate))
	case len(tried) > 0:
		return "no step showed whether its rate holds before the time was up (see the reasons of the steps)"
	}
	return "no rate was tried before the time was up (hint: a longer --max-time)"
}

// describe sets the rest of the answer.
func (a *Answer) describe() {
	up := a.of(Light, Up)
	a.Law, a.NoLaw = law(a.of(Light, Up, Down))
	a.Hysteresis = hysteresis(a.Steps)
	if soak := a.of(Soak); len(soak) > 0 {
		a.Soak = &soak[len(soak)-1]
	}
	if a.Knee == nil {
		return
	}
	if light := a.of(Light); len(light) > 0 {
		a.Pool = sizePool(a.Knee.Rate, time.Duration(light[0].Service), up)
	}
	var plateau []float64
	first := 0.0
	for _, s := range a.of(Searched, Overload, AtKnee) {
		if s.Finding != nil {
			a.Finding = s.Finding
		}
		if !s.Outcome.fails() || s.Rate < a.Knee.Low {
			continue
		}
		if s.Outcome == Breaks { // a target that ended served for a part of the step only
			plateau = append(plateau, s.Served)
		}
		if len(s.Why) > 0 && (first == 0 || s.Rate < first) {
			first, a.Broke = s.Rate, s.Why[0]
		}
	}
	if len(plateau) > 0 {
		a.Plateau = stat.Median(plateau)
	}
}

// law fits the Universal Scalability Law to a sweep's throughputs.
func law(sweep []Step) (*usl.Fit, string) {
	var points []usl.Point
	for _, s := range sweep {
		if s.Served > 0 && s.Connections > 0 && s.Outcome == Holds {
			points = append(points, usl.Point{N: float64(s.Connections), X: s.Served})
		}
	}
	fit, err := usl.Of(points)
	if err != nil {
		return nil, strings.TrimPrefix(err.Error(), "usl: ")
	}
	return fit, ""
}

// hysteresis returns nil if no way down was measured.
func hysteresis(steps []Step) *Hysteresis {
	h, any := &Hysteresis{}, false
	rising := map[int]float64{}
	var ratios []float64
	for _, s := range steps {
		switch {
		case s.Phase == Up && s.Served > 0:
			rising[s.Connections] = s.Served
		case s.Phase == Down && rising[s.Connections] > 0:
			ratios = append(ratios, s.Served/rising[s.Connections])
		case s.Phase == Overload:
			h.Overload = s.Rate
		case s.Phase == Return && s.Outcome != Void && s.Outcome != Disturbed:
			h.Return, h.Recovered, any = s.Rate, s.Outcome == Holds || s.Outcome == Unsteady, true
		}
	}
	if len(ratios) > 0 {
		h.Down, any = stat.Median(ratios), true
	}
	if !any {
		return nil
	}
	return h
}
