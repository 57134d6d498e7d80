package waits

import (
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// By is who ends a wait.
type By int

// Kinds of goroutines that end waits.
const (
	ByUnknown  By = iota
	ByOwn         // a goroutine that the request itself started
	ByShared      // a goroutine that one of several requests started for all of them
	ByNeighbor    // another request's goroutine
	ByWorker      // a goroutine that lives on between requests
	ByTimer
)

// Ender is who ends a wait, as far as its waker and the goroutine profiles show.
type Ender struct {
	By    By
	Entry string // the function that its goroutine began in
	// Sent reports that its goroutine lives on between requests, and runs closures that these send it.
	Sent bool
	// Workers is the mean number of goroutines that began there, over the goroutine
	// profiles; 0 if unknown. Set for ByWorker only.
	Workers float64
}

// ownPerWait is how many goroutines a request must start per wait for them to be
// its own: below 0.5, most requests wait for another's.
const ownPerWait = 0.5

// Ender returns who ends a part's waits. A goroutine that runs a closure of a
// function on the request's stack, or of one inlined there, is the request's own.
// So is any other if requests start goroutines and the number with the same entry
// differs between goroutine profiles: a pool's number does not.
func (p *Requests) Ender(part breakdown.Part) Ender {
	waker := part.Waker
	e := Ender{Entry: p.Began(waker)}
	switch {
	case len(waker) == 0:
		if entry := p.workingFor(part); entry != "" {
			return Ender{By: ByOwn, Entry: entry}
		}
		if p.Anatomy.Spawned >= ownPerWait*part.Times && p.Anatomy.Spawned >= 1 && callstack.Channel(part.Stack) != callstack.Sending {
			e.By = ByOwn
		}
		return e
	case callstack.Timed(waker):
		e.By = ByTimer
		return e
	case p.Stacks.Serves(waker):
		e.By = ByNeighbor
		return e
	}
	alive := p.Alive(e.Entry)
	spawned := p.Anatomy.Spawned
	spawns := spawned >= ownPerWait*min(1, part.Times)
	switch {
	case p.serves(e.Entry) && !p.starts(e.Entry):
		// The trace itself says that it serves more than one request, though it may run a closure that each of them sends it.
		e.Sent = startedBy(waker, part.Stack)
		return p.living(e)
	case startedBy(waker, part.Stack) && (spawns || spawned == 0):
		e.By = ByOwn
		return e
	case startedBy(waker, part.Stack):
		e.By = ByShared
		return e
	case p.serves(e.Entry):
		return p.living(e)
	case spawned > 0 && spawns && len(alive) > 1 && !same(alive):
		e.By = ByOwn
		return e
	}
	e.By = ByWorker
	for _, n := range alive {
		e.Workers += float64(n) / float64(len(alive))
	}
	return e
}

// OwnSlots returns how many of its own goroutines a request lets run at a time, and how many it starts, if a
// part is its wait until one of them ends and gives a slot back: a group's limit, or a channel that is a
// semaphore. The first goroutines find a slot free, and each later one waits for one, so that the slots are
// those that did not wait. ok is false for any other wait, such as for one worker that takes item after item.
func (p *Requests) OwnSlots(part breakdown.Part) (slots, started float64, ok bool) {
	acquires := callstack.Channel(part.Waker) == callstack.Receiving ||
		p.Stacks.Roles(p.Stacks.Handler(part.Stack)).Has(callstack.Semaphore)
	if !acquires || p.Ender(part).By != ByOwn {
		return 0, 0, false
	}
	started = p.started(part.Stack)
	if started < part.Times+0.5 {
		return 0, 0, false
	}
	return max(1, math.Round(started-part.Times)), started, true
}

// started returns how many goroutines a request starts in the function that waits in a stack; all that it
// starts where the traces do not say where.
func (p *Requests) started(stack []code.Frame) (n float64) {
	at, _ := p.Stacks.Place(stack)
	for _, h := range p.Anatomy.Helpers {
		if f, _ := p.Stacks.Place(h.Start); callstack.Enclosing(f.Function) == callstack.Enclosing(at.Function) {
			n += float64(h.Count)
		}
	}
	if n == 0 {
		return p.Anatomy.Spawned
	}
	return n / max(1, float64(p.Anatomy.Requests+p.Anatomy.Partial))
}

// workingFor returns the entry of the goroutine that a wait is for whose end the traces do not show. It
// must be a closure of a function that waits: the one that the trace followed the wait to, or one seen
// in the CPU profile or a goroutine profile. Middleware such as net/http.TimeoutHandler runs the
// handler in one. A pool that a library makes for the request runs closures of the user's function that
// waits, in goroutines that begin in the library. "" if there is none.
func (p *Requests) workingFor(part breakdown.Part) string {
	for _, c := range part.Behind {
		if len(c.Links) > 0 && closureOf(c.Links[0].Goroutine, part.Stack) {
			return c.Links[0].Goroutine
		}
	}
	i := slices.IndexFunc(part.Stack, func(f code.Frame) bool {
		pkg, _ := callstack.Split(f.Function)
		return pkg != "runtime" && pkg != "sync" && !strings.HasPrefix(pkg, "internal/")
	})
	if i < 0 {
		return ""
	}
	works := p.worker(part.Stack, part.Stack[i:i+1])
	if prof, err := p.Profile("cpu", "cpu"); err == nil {
		for _, s := range prof.Samples {
			if entry := works(s.Stack); entry != "" {
				return entry
			}
		}
	}
	shots, err := p.Snapshots()
	if err != nil {
		return ""
	}
	for _, shot := range shots {
		for _, s := range shot.Stacks {
			if entry := works(s.Stack); entry != "" {
				return entry
			}
		}
	}
	return ""
}

// worker returns a function that returns the entry of a goroutine, by its stack, if it works for the functions that wait, or
// for the user's function that waits in the stack; "" otherwise.
func (p *Requests) worker(stack, waits []code.Frame) func([]code.Frame) string {
	var asks []code.Frame
	if u := p.Stacks.Innermost(stack); u >= 0 {
		asks = stack[u : u+1]
	}
	return func(seen []code.Frame) string {
		entry := measured.Entry(seen)
		runs := func(f code.Frame) bool { return closureOf(f.Function, asks) }
		if closureOf(entry, waits) || !p.Stacks.Serves(seen) && slices.ContainsFunc(seen, runs) {
			return entry
		}
		return ""
	}
}

// closureOf reports whether a function is a closure of one on a stack: the compiler names
// closures after their function.
func closureOf(function string, stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return strings.HasPrefix(function, f.Function+".") })
}

// serves reports whether the traces show goroutines that began in a function, and
// that no request started, to serve several requests each.
func (p *Requests) serves(entry string) bool {
	s, ok := p.Path().Serial(entry)
	return ok && s.Requests >= 2*s.Goroutines
}

// starts reports whether the traces show that requests start goroutines that begin in a function.
func (p *Requests) starts(entry string) bool {
	return slices.ContainsFunc(slices.Concat(p.Anatomy.Helpers, p.Anatomy.Left), func(h breakdown.Helper) bool { return h.Entry == entry })
}

// living returns the ender of waits for goroutines that live on between requests, as the traces count them.
func (p *Requests) living(e Ender) Ender {
	one, _ := p.Path().Serial(e.Entry)
	e.By, e.Workers = ByWorker, float64(one.Goroutines)
	return e
}

// startedBy reports whether a waker runs a closure of a function on the stack.
func startedBy(waker, stack []code.Frame) bool {
	return slices.ContainsFunc(waker, func(w code.Frame) bool { return closureOf(w.Function, stack) })
}

func same(counts []int64) bool {
	for _, n := range counts {
		if n != counts[0] {
			return false
		}
	}
	return counts[0] > 0
}
