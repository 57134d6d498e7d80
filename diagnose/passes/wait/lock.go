package wait

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/code"
)

// Lock finds contended mutexes and readers behind writers.
//
// The profile of mutexes says who held a lock; the trace says who waited, and what
// the holder did meanwhile. Both are needed: a holder that waits for the disk, for
// a CPU or for another service makes the lock look guilty. In particular, the part
// of a wait in which the holder was ready to run belongs to the CPUs; otherwise
// every lock on a busy host would seem a bottleneck.
var Lock = diagnose.Analyzer{
	Name:  "lock",
	Stage: diagnose.Wait,
	Doc: "Groups lock waits of the anatomy by the type or function that locks. A group counts at 20 % of request time or more, " +
		"or half of the tail's extra time. The blocked frame distinguishes read locks from write locks. The holder is what runs " +
		"during most of the wait, by the critical path, or else what the mutex profile names.",
	Causes: []diagnose.Cause{lockCause, writerCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runLock,
}

// runLock judges each lock without the time in which its holder only waited for a
// CPU, and rejects it with that figure if too little remains. The remedy depends on
// the work done under the lock, if one kind dominates.
func runLock(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	w := p.Waits()
	readers := map[string]float64{}
	for _, s := range w.Sites(callstack.ReadLockWait) {
		readers[callstack.Owner(s.Place.Function)] += s.NS
	}
	both := append(append([]waits.Site{}, w.Sites(callstack.LockWait)...), w.Sites(callstack.ReadLockWait)...)
	for _, s := range waits.ByOwner(both) {
		ready := p.ReadyPart(s)
		text, kind, part := p.Meanwhile(s)
		waiting := part >= leastHeld && kind != callstack.Busy && kind != callstack.Queued && kind != callstack.Collector
		nature := waitgain.Serial
		if waiting {
			nature = waitgain.Held
		}
		v, ok := waitgain.Decide(p, s.Scaled(1-ready), nature)
		if !ok {
			if _, all := waitgain.Decide(p, s, waitgain.Serial); all {
				p.Reject("lock-contention", "requests spend %s of their time waiting for the lock at %s, but for %s "+
					"of that its holder is ready to run and waits for a CPU",
					diagnose.Percent(s.Share), diagnose.At(s.Place), diagnose.Percent(ready))
			}
			continue
		}
		cause, what := "lock-contention", "a lock"
		if 2*readers[callstack.Owner(s.Place.Function)] >= s.NS {
			cause, what = "rwlock-writer", "a read lock behind a writer"
		}
		within, helped := section(p, s, both)
		if helped {
			s.Place = within
		}
		f := withoutReady(v.Finding(p, cause, s), ready)
		who := background(p, s, ready)
		held, mostly := holder(p, s, who, &f)
		if helped {
			held = within
		}
		meanwhile(p, &f, s, "the holder")
		f.Title = fmt.Sprintf("%s for %s at %s", v.Requests(), what, diagnose.At(s.Place))
		advise(p, &f, s, held, helped)
		if under := p.Under(s, held.Function); under != "" && !waiting {
			f.Title += ", held while " + under
			f.Remedy = fmt.Sprintf("Do that outside the lock (%s) and take the lock only to publish the result, or shard the "+
				"lock by key.", under)
		} else if waiting {
			whileItWaits(p, &f, s, text)
		}
		switch {
		case who != "" && held.Function != "":
			byBackground(p, &f, s, who, held)
		case mostly && held.Function != callstack.Unwrapped(s.Place.Function):
			byAnother(&f, s, held)
		}
		p.Queue(f, s)
		found = append(found, f)
	}
	return found, nil
}

// withoutReady says which part of the wait a finding's share leaves out, 0 to 1: that in which the holder has no CPU.
func withoutReady(f diagnose.Finding, ready float64) diagnose.Finding {
	if ready >= leastNoted {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, ready, diagnose.Ratio,
			"for %s of that the holder is ready to run and waits for a CPU, which does not count", diagnose.Percent(ready)))
	}
	return f
}

// leastNoted is the part of a wait from which it matters to who compares figures that it is left out.
const leastNoted = 0.05

// whileItWaits says in words what a lock's holder waits for.
func whileItWaits(p *diagnose.Pass, f *diagnose.Finding, s waits.Site, what string) {
	f.Title += ", whose holder " + what
	if within := taker(p, s); callstack.Dependency(within) {
		f.Remedy = fmt.Sprintf("%s takes the lock: move the holder's wait to a goroutine of its own, or use a "+
			"version that does not hold the lock around it.", callstack.Short(within))
	}
}

// background returns the entry function of a goroutine that serves no request and
// holds a site's lock for most of the wait; "" if there is none. The part of the wait in
// which the holder was ready to run, 0 to 1, belongs to the CPUs, whoever it was.
func background(p *diagnose.Pass, s waits.Site, ready float64) string {
	by := map[string]int64{}
	for _, c := range s.Part.Behind {
		if len(c.Links) > 0 && !c.Links[0].Request && c.Links[0].Goroutine != "" && p.Stacks.Root(c) != callstack.Queued {
			by[c.Links[0].Goroutine] += c.NS
		}
	}
	for who, ns := range by {
		if 2*float64(ns) > (1-ready)*float64(s.Part.NS) {
			return who
		}
	}
	return ""
}

// byBackground makes the holder the finding's place: the work that requests wait
// for can only be changed there, wherever they wait.
func byBackground(p *diagnose.Pass, f *diagnose.Finding, s waits.Site, who string, held code.Frame) {
	f.Where = diagnose.WhereOf(held)
	f.Where.Detail = fmt.Sprintf("requests wait in %s (%s)", callstack.Short(s.Place.Function), diagnose.At(s.Place))
	where := " in the background"
	if s.By == who {
		where = "" // the requests' own goroutines take it in turn
	}
	if behind, ok := p.Path().Behind(who); ok && where != "" && !strings.Contains(f.Title, "held while") {
		if work, part, ok := waits.Worker(behind); ok && part >= leastWork {
			at := waits.PlaceOf(work)
			f.Title += fmt.Sprintf("; %s holds it in the background, %s of that in %s %s", callstack.Short(
				held.Function), diagnose.Percent(part), within(at.Function, held.Function), diagnose.At(at))
			f.Remedy = fmt.Sprintf("Do the work of %s without the lock, and take the lock only to publish the "+
				"result, or for one item at a time.", callstack.Short(held.Function))
			return
		}
	}
	f.Title += fmt.Sprintf("; %s holds it%s", callstack.Short(held.Function), where)
}

// byAnother makes the holder the finding's place: waits become shorter if it holds the lock for less time, whatever
// the waiting function does.
func byAnother(f *diagnose.Finding, s waits.Site, held code.Frame) {
	f.Where = diagnose.WhereOf(held)
	f.Where.Detail = fmt.Sprintf("requests wait most in %s (%s)", callstack.Short(s.Place.Function), diagnose.At(s.Place))
	if name := callstack.Short(held.Function); !strings.Contains(f.Title, name) {
		f.Title += fmt.Sprintf("; %s holds it most", name)
	}
}

// leastHeld is the part of a wait that its holder must have spent on one thing for
// the title to name it.
const leastHeld = 0.3

func remedyLock(cause string, waiting, holding code.Frame) string {
	at := holding
	if at.Function == "" {
		at = waiting
	}
	name := callstack.Short(callstack.Unwrapped(at.Function)) // a deferred Unlock is charged to a wrapper
	if cause == "rwlock-writer" && holding.Function == "" {   // who waits only reads
		return fmt.Sprintf("Shorten what is done under the write lock that %s waits for, or build the new value outside the lock and "+
			"publish it with atomic.Pointer, so that readers never block.", name)
	}
	if cause == "rwlock-writer" {
		return fmt.Sprintf("Shorten the write section in %s, or build the new value outside the lock and "+
			"publish it with atomic.Pointer, so that readers never block.", name)
	}
	return fmt.Sprintf("Do less between Lock and Unlock in %s (move I/O, encoding and allocation out), or "+
		"shard the lock by key; for counters, use sync/atomic.", name)
}

// taker returns the function below the user's code that takes a site's lock, of a library or of the standard library; "" if the user's
// code does.
func taker(p *diagnose.Pass, s waits.Site) string {
	for _, f := range s.Part.Stack {
		pkg, name := callstack.Split(f.Function)
		switch {
		case p.Stacks.User(f):
			return ""
		case pkg == "" || pkg == "runtime" || strings.HasPrefix(pkg, "internal/") || code.Probe(f) || strings.HasSuffix(name, "Lock"):
		case pkg == "sync" && (strings.HasPrefix(name, "(*Mutex).") || strings.HasPrefix(name, "(*RWMutex).") ||
			strings.HasPrefix(name, "runtime_")):
		default:
			return f.Function
		}
	}
	return ""
}

// advise sets a finding's remedy: what to do under a lock of the service's own, or with one that a library takes for it. helped is set if
// the service's own helpers do.
func advise(p *diagnose.Pass, f *diagnose.Finding, s waits.Site, held code.Frame, helped bool) {
	by := taker(p, s)
	if by == "" || helped {
		f.Remedy = remedyLock(f.Cause, s.Place, held)
		return
	}
	name, calls := callstack.Short(by), ""
	if p.Stacks.User(s.Place) {
		f.Title += ", which " + name + " takes"
		calls = fmt.Sprintf(", which %s calls", diagnose.At(s.Place))
	}
	f.Remedy = fmt.Sprintf("The lock belongs to %s%s: call it less often, divide its work among several instances (by key, or one per "+
		"goroutine), or use one that does not lock.", name, calls)
	if strings.HasPrefix(by, "sync.(*Once).") {
		f.Remedy = fmt.Sprintf("Let what the sync.Once at %s does happen before requests come, at start-up.", diagnose.At(s.Place))
	}
}
