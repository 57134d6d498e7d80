package bands

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Ran is a stack of a CPU profile with its weight.
type Ran struct {
	Stack []code.Frame // innermost first
	Value int64
}

// maxFunctions bounds the list of a profile.
const maxFunctions = 40

// profile contrasts what the bands' requests ran; nil without a sample.
func (a *Requests) profile(all, median, tail []request) *breakdown.CPUProfile {
	if len(a.samples) == 0 {
		return nil
	}
	type location struct{ function, caller string }
	counts := map[location]*[3]int{}
	p := &breakdown.CPUProfile{}
	totals := [3]*int{&p.All, &p.Median, &p.Tail}
	for band, requests := range [][]request{all, median, tail} {
		for _, r := range requests {
			for _, id := range a.samples[r.firstSample:r.lastSample] {
				frames := a.Stacks.Info(id).Frames
				at := location{frames[0].Function, a.Stacks.Own.Caller(frames)}
				if counts[at] == nil {
					counts[at] = &[3]int{}
				}
				counts[at][band]++
				*totals[band]++
			}
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	for at, n := range counts {
		p.Functions = append(p.Functions, breakdown.CPUFunction{Function: at.function, Caller: at.caller,
			All: share(n[0], p.All), Median: share(n[1], p.Median), Tail: share(n[2], p.Tail)})
	}
	slices.SortFunc(p.Functions, func(x, y breakdown.CPUFunction) int {
		return cmp.Or(cmp.Compare(max(y.All, y.Tail), max(x.All, x.Tail)), cmp.Compare(x.Function, y.Function),
			cmp.Compare(x.Caller, y.Caller))
	})
	p.Functions = p.Functions[:min(len(p.Functions), maxFunctions)]
	return p
}

// weighed is a stack with its weight.
type weighed struct {
	frames []code.Frame
	weight int64
}

// assisting reports whether a sample hit a goroutine that assisted the collector.
func assisting(frames []code.Frame) bool {
	for _, f := range frames {
		if strings.HasPrefix(f.Function, "runtime.gcAssist") {
			return true
		}
	}
	return false
}

// ownSamples returns what the requests themselves ran, by state.
func (a *Requests) ownSamples(requests []request) map[interned.State][]weighed {
	counts := map[interned.Stack]int64{}
	for _, r := range requests {
		for _, id := range a.samples[r.firstSample:r.lastSample] {
			counts[id]++
		}
	}
	by := map[interned.State][]weighed{}
	for id, n := range counts {
		frames := a.Stacks.Info(id).Frames
		state := interned.Running
		if assisting(frames) {
			state = interned.Assist
		}
		by[state] = append(by[state], weighed{frames, n})
	}
	for _, list := range by {
		sortWeighed(list)
	}
	return by
}

// chainSamples returns what the last goroutines of chains ran.
func (a *Requests) chainSamples() map[goroutines.ChainID][]weighed {
	by := map[goroutines.ChainID][]weighed{}
	for key, n := range a.Chains.Ran {
		frames := a.Stacks.Info(key.Stack).Frames
		if assisting(frames) == (a.Chains.Links[key.Chain].State == interned.Assist) {
			by[key.Chain] = append(by[key.Chain], weighed{frames, n})
		}
	}
	for _, list := range by {
		sortWeighed(list)
	}
	return by
}

// profiled returns what the run's CPU profile says about goroutines that began in entry,
// or about those that serve requests.
func (a *Requests) profiled(entry interned.Name, assists bool) []weighed {
	if a.options.CPU == nil {
		return nil
	}
	if a.cpu == nil {
		a.cpu = a.options.CPU()
		a.options.CPU = func() []Ran { return nil }
		if a.cpu == nil {
			a.cpu = []Ran{}
		}
	}
	var list []weighed
	for _, r := range a.cpu {
		if len(r.Stack) == 0 || r.Value <= 0 || assisting(r.Stack) != assists {
			continue
		}
		began := r.Stack[len(r.Stack)-1].Function
		serves, _ := server.OfEntry(began)
		if entry == 0 && serves != server.None || entry != 0 && began == a.Stacks.Names[entry] {
			list = append(list, weighed{r.Stack, r.Value})
		}
	}
	return list
}

func sortWeighed(list []weighed) {
	slices.SortFunc(list, func(x, y weighed) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), slices.CompareFunc(x.frames, y.frames, compareFrames))
	})
}

func compareFrames(x, y code.Frame) int {
	return cmp.Or(cmp.Compare(x.Function, y.Function), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
}
