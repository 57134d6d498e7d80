package slowest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
)

const (
	// tellable is the least part of a request for which a stretch is a step of its
	// own: with less, a long request would have hundreds of steps.
	tellable = 0.06
	// inRest is how many kinds of short stretches are named between two steps.
	inRest = 3
	// silent is the part of a request below which the time between two steps is
	// left out.
	silent = 0.01
)

// stretch is neighbouring segments in which the request did the same.
type stretch struct {
	breakdown.Segment
	at time.Duration
}

// steps describes a timeline: long stretches one by one, the time between them by
// kind.
func (t *describer) steps(line breakdown.Timeline) []Step {
	whole := line.Len()
	var steps []Step
	var between []stretch
	flush := func() {
		steps = append(steps, t.rest(between, whole)...)
		between = nil
	}
	for _, s := range joined(line) {
		if float64(s.NS) < tellable*float64(whole) {
			between = append(between, s)
			continue
		}
		flush()
		steps = append(steps, t.step(s, 1, whole))
	}
	flush()
	return steps
}

// joined merges neighbouring segments that do not differ.
func joined(line breakdown.Timeline) []stretch {
	var list []stretch
	for _, s := range line.Segments {
		if n := len(list); n > 0 && list[n-1].State == s.State && list[n-1].Site == s.Site &&
			slices.EqualFunc(list[n-1].Behind, s.Behind, sameLink) {
			list[n-1].NS += s.NS
			continue
		}
		list = append(list, stretch{s, s.From - line.From})
	}
	return list
}

// goesOn reports whether a stretch is the next piece of the same wait, which is divided by what those who ended it did meanwhile.
func (s stretch) goesOn(next stretch) bool {
	return s.State == next.State && s.Site == next.Site && s.at+time.Duration(s.NS) == next.at
}

func sameLink(a, b breakdown.Link) bool {
	return a.Goroutine == b.Goroutine && a.State == b.State && a.Site == b.Site && a.Request == b.Request
}

// rest describes the short stretches between two steps: each kind that adds up to a
// step as one, and the others together as one.
func (t *describer) rest(between []stretch, whole time.Duration) []Step {
	kinds := map[partKey]int{}
	var steps []Step
	var total time.Duration
	for n, s := range between {
		total += time.Duration(s.NS)
		key := partKey{s.State, s.Site}
		i, ok := kinds[key]
		if !ok {
			i, kinds[key] = len(steps), len(steps)
			steps = append(steps, t.step(stretch{breakdown.Segment{State: s.State, Site: s.Site, Behind: s.Behind}, s.at}, 0, whole))
		}
		steps[i].Took += time.Duration(s.NS)
		if n == 0 || !between[n-1].goesOn(s) {
			steps[i].Times++
		}
	}
	for i := range steps {
		steps[i].Share = float64(steps[i].Took) / float64(whole)
	}
	var reported, short []Step
	for _, s := range steps {
		if s.Share >= tellable {
			reported = append(reported, s)
		} else {
			short = append(short, s)
		}
	}
	slices.SortStableFunc(short, func(a, b Step) int { return cmp.Compare(b.Took, a.Took) })
	r := Step{Rest: true, Times: 1}
	text := ""
	for i, s := range short {
		r.Took += s.Took
		if i == 0 {
			r.At, r.State = s.At, s.State
		}
		r.At = min(r.At, s.At)
		if i < inRest {
			if i > 0 {
				text += "; "
			}
			text += s.Text
			if s.Times > 1 {
				text += fmt.Sprintf(" (%d times)", s.Times)
			}
			if len(short) > 1 {
				text += ", " + diagnose.Span(float64(s.Took))
			}
		}
	}
	if r.Share = float64(r.Took) / float64(whole); r.Share >= silent {
		r.Text = text
		if len(short) > inRest {
			r.Text += "; and other short things"
		}
		reported = append(reported, r)
	}
	slices.SortStableFunc(reported, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return reported
}

func (t *describer) step(s stretch, times int, whole time.Duration) Step {
	step := Step{At: s.at, Took: time.Duration(s.NS), Times: times, State: s.State, Share: float64(s.NS) / float64(whole)}
	part, known := t.parts[partKey{s.State, s.Site}]
	if !known {
		part = breakdown.Part{State: s.State, Site: s.Site}
	}
	step.Text = does(t.stacks.Wait(part), s.State)
	if place, ok := t.stacks.Place(part.Stack); ok {
		step.Text += " at " + diagnose.At(place)
		step.Place = callstack.Short(place.Function)
	} else if s.Site != "" && s.Site[0] != '(' { // "(unknown)" is no place
		step.Text += " at " + s.Site
	}
	step.For = behind(s.Behind, t.stacks)
	return step
}
