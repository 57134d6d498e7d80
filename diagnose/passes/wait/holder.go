package wait

import (
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// mostHelpers is how many helpers, one around the other, are looked through.
const mostHelpers = 3

// section returns the function that holds a lock through helpers, such as lock and unlock of transfer.sh: one only takes
// it, the other only releases it, and the same function calls both. Whatever runs in between belongs to that function. Helpers
// may have helpers: LedisDB locks a batch through a locker's Lock.
// all are the waits for locks. ok is false where a function takes and releases the lock itself.
func section(p *diagnose.Pass, s waits.Site, all []waits.Site) (at code.Frame, ok bool) {
	takers := usersOf(p, s.Part.Stack)
	prof, err := p.Profile("mutex", "delay")
	if len(takers) < 2 || err != nil {
		return at, false
	}
	owner, charged, within := callstack.Owner(takers[0].Function), int64(0), make([]int64, len(takers))
	for _, sample := range prof.Samples {
		releasers := usersOf(p, sample.Stack)
		if len(releasers) < 2 || callstack.Owner(releasers[0].Function) != owner {
			continue
		}
		name := callstack.Unwrapped(releasers[0].Function)
		if name == takers[0].Function {
			return at, false
		}
		charged += sample.Value
		waits := slices.ContainsFunc(all, func(w waits.Site) bool { return w.Place.Function == name })
		if i := meet(takers, releasers); !waits && i > 0 {
			within[i] += sample.Value
		}
	}
	for i, part := range within {
		if charged > 0 && 2*part > charged {
			return takers[i], true
		}
	}
	return at, false
}

// meet returns the index of the innermost function on the first of two stacks that called helpers on both; 0 if none did.
func meet(takers, releasers []code.Frame) int {
	for i := 1; i < len(takers) && i <= mostHelpers; i++ {
		for j := 1; j < len(releasers) && j <= mostHelpers; j++ {
			if callstack.Unwrapped(takers[i].Function) == callstack.Unwrapped(releasers[j].Function) {
				return i
			}
		}
	}
	return 0
}

// usersOf returns the service's functions on a stack, innermost first, each once where it and its closures follow one another. A
// middleware that calls the next handler does not hold what that takes.
func usersOf(p *diagnose.Pass, stack []code.Frame) (list []code.Frame) {
	for _, f := range p.Stacks.Handler(stack) {
		if p.Stacks.User(f) && (len(list) == 0 ||
			callstack.Unwrapped(f.Function) != callstack.Unwrapped(list[len(list)-1].Function)) {
			list = append(list, f)
		}
	}
	return list
}

// holder returns the function that holds a site's lock, and whether it does for most of the wait: what ran with it, or else what
// released it. entry is as for releasing.
func holder(p *diagnose.Pass, s waits.Site, entry string, f *diagnose.Finding) (held code.Frame, mostly bool) {
	if entry == "" {
		if held, mostly = holding(p, s, f); mostly {
			return held, true
		}
	}
	return releasing(p, s.Place, entry, f)
}

// leastHolding is the part of a wait in which one function must be seen to hold the lock to be the one that makes others wait.
const leastHolding = 0.5

// holding returns the function that ran with the lock for most of the time in which requests waited for it, by the trace, and adds it
// as evidence. mostly is false if none did, or if it is the one in which they wait, whose turns no single holder explains.
//
// Subtle: it comes before the mutex profile. Waiters pass a lock that was held for long on to each other, and each is then charged
// with all the time that the rest has waited.
func holding(p *diagnose.Pass, s waits.Site, f *diagnose.Finding) (held code.Frame, mostly bool) {
	owner, waiting := callstack.Owner(s.Place.Function), callstack.Unwrapped(s.Place.Function)
	ran := map[code.Frame]float64{}
	for _, n := range p.Path().Nodes() {
		if n.Kind == breakdown.PathRequest && n.State == breakdown.StateLock && callstack.Unwrapped(n.Function) == waiting {
			ownedWork(n, owner, code.Frame{}, ran)
		}
	}
	held = measured.Heaviest(ran, measured.CompareFrames)
	part := ran[held] / s.Share
	if part < leastHolding || held.Function == waiting {
		return code.Frame{}, false
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, part, diagnose.Ratio,
		"for %s of the wait the holder runs %s (%s)", diagnose.Percent(part), callstack.Short(held.Function), diagnose.At(held)))
	return held, true
}

// ownedWork adds the time that runs below a node of the critical path, as a part of the request's, to the innermost function of an
// owner that it runs in; in is the one outside the node.
func ownedWork(n breakdown.PathNode, owner string, in code.Frame, ran map[code.Frame]float64) {
	if n.Kind == breakdown.PathWork && callstack.Owner(n.Function) == owner {
		in = waits.PlaceOf(n)
	}
	rest := n.Share
	for _, below := range n.Nodes {
		ownedWork(below, owner, in, ran)
		rest -= below.Share
	}
	if in.Function != "" && rest > 0 {
		ran[in] += rest
	}
}

// releasing returns the function that released the lock with most of the delay, and
// adds it as evidence. The mutex profile charges contention to Unlock's caller
// (runtime/pprof, Profile), so its stacks are holders; those with the same owner as
// the waiting place hold this lock. Zero without a profile or a match. mostly reports whether it
// caused more than half of this lock's delay.
//
// Subtle: that profile samples one event in several, however long it was. So it
// misses a holder that holds the lock rarely but long, and shows instead the
// requests that then pass it on to each other. If the trace shows that the
// goroutines of an entry held it, only their stacks count; if the mutex profile has
// none of them, those of their CPU samples do, also where a dependency runs them.
func releasing(p *diagnose.Pass, waiting code.Frame, entry string, f *diagnose.Finding) (held code.Frame, mostly bool) {
	of := func(typ, value string, at func(stack []code.Frame) int) (best code.Frame, most, all int64) {
		prof, err := p.Profile(typ, value)
		if err != nil {
			return best, 0, 0
		}
		sums := map[code.Frame]int64{}
		for _, s := range prof.Samples {
			i := at(s.Stack)
			if i < 0 || entry != "" && p.Began(s.Stack) != entry && measured.Entry(s.Stack) != entry {
				continue
			}
			frame := s.Stack[i]
			frame.Function = callstack.Unwrapped(frame.Function) // a deferred Unlock
			all += s.Value
			if sums[frame] += s.Value; sums[frame] > most {
				best, most = frame, sums[frame]
			}
		}
		return best, most, all
	}
	owner := callstack.Owner(waiting.Function)
	owned := func(frame code.Frame) bool { return p.Stacks.User(frame) && callstack.Owner(frame.Function) == owner }
	best, delay, all := of("mutex", "delay", func(stack []code.Frame) int {
		if i := p.Stacks.Innermost(stack); i >= 0 && owned(stack[i]) {
			return i
		}
		return -1
	})
	if best.Function != "" {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, float64(delay), diagnose.Nanosec,
			"the mutex profile charges %s of waiting to the holder %s (%s)", diagnose.Span(float64(delay)),
			callstack.Short(best.Function),
			diagnose.At(best)))
		return best, 2*delay > all
	}
	if entry == "" {
		return best, false
	}
	best, ran, _ := of("cpu", "cpu", func(stack []code.Frame) int {
		for i := len(stack) - 1; i >= 0; i-- {
			if owned(stack[i]) {
				return taking(stack, i, owned)
			}
		}
		if i := len(stack) - 1; i >= 0 && p.Stacks.Innermost(stack) < 0 && callstack.Dependency(stack[i].Function) {
			return i // a dependency's own goroutine: its place is where that begins
		}
		return -1
	})
	if best.Function != "" {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, float64(ran), diagnose.Nanosec,
			"the goroutine that holds it uses %s of CPU in %s (%s)", diagnose.Span(float64(ran)), callstack.Short(best.Function),
			diagnose.At(best)))
	}
	return best, false
}

// taking returns the frame that takes a lock, given the outermost of its owner. A goroutine's own function that calls another one of
// the owner cannot hold the lock as long as it lives, or nobody else would get it: kala's PersistEvery waits for its next turn,
// and Persist, which it calls then, takes the lock.
func taking(stack []code.Frame, outermost int, owned func(code.Frame) bool) int {
	if outermost < len(stack)-1 {
		return outermost
	}
	for i := outermost - 1; i >= 0; i-- {
		if owned(stack[i]) && callstack.Unwrapped(stack[i].Function) != callstack.Unwrapped(stack[outermost].Function) {
			return i
		}
	}
	return outermost
}
