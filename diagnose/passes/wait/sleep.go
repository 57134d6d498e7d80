package wait

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// Sleep finds timers in the request path.
//
// The runtime ends these waits, so the trace shows no goroutine as their cause. An
// intended pause and a forgotten one look the same, so both are named, unless the
// load shows that nobody waits for long (pdf-queue). A long poll looks different: its
// select ends sometimes by the timer and sometimes by an event, as its client intends
// (inbox-longpoll).
var Sleep = diagnose.Analyzer{
	Name:  "sleep",
	Stage: diagnose.Wait,
	Doc: "Sums waits that a timer ends: time.Sleep, a timer's channel, a rate limiter, a retry's back-off, the tick of a " +
		"goroutine that requests wait for. Long polls are recognised and not reported; a library that sleeps before it looks " +
		"again is not one. The waits must take at least 20 % of request time or half of the tail's extra time.",
	Causes: []diagnose.Cause{sleepCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runSleep,
}

// runSleep rejects long polls explicitly, so that the report says that they were
// seen.
func runSleep(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	for _, s := range waits.ByOwner(p.Waits().Sites(callstack.EventWait)) {
		if s.Share >= waitgain.LeastShare || s.Tail >= waitgain.LeastTail {
			p.Reject("sleep", "requests spend %s of their time waiting at %s for an event, as their caller intends: a long "+
				"poll", diagnose.Percent(s.Share), diagnose.At(s.Place))
		}
	}
	for _, s := range waits.ByOwner(p.Waits().Sites(callstack.SleepWait)) {
		v, ok := waitgain.Decide(p, s, waitgain.Outside)
		if !ok {
			continue
		}
		if l := p.Load(); v.Of == diagnose.OfRequest && l.Instant() {
			p.Reject("sleep", "requests spend %s of their time waiting for a timer at %s, but 99 of 100 finish within %s at the "+
				"requested rate", diagnose.Percent(s.Share), diagnose.At(s.Place), diagnose.Span(l.P99))
			continue
		}
		if each, times, polls := looks(p, s); polls {
			p.Reject("sleep", "requests spend %s of their time waiting for %s, which sleeps %s at a time at %s, %s times per request: it "+
				"looks whether something else is done, and a request waits for one of these sleeps at most", diagnose.Percent(s.Share),
				callstack.Short(sleeper(s)), diagnose.Span(each), diagnose.At(s.Place), diagnose.Times(times))
			continue
		}
		f := v.Finding(p, "sleep", s)
		what, remedy := pause(p, s)
		f.Title, f.Remedy = fmt.Sprintf("%s %s at %s", v.Requests(), what, diagnose.At(s.Place)), remedy
		if s.Via != "" && s.From.Function != "" && s.From != s.Place {
			f.Title += fmt.Sprintf(", by waiting at %s for the goroutine that waits there", diagnose.At(s.From))
		}
		if p.Nesting()-1 >= severalCalls && p.BehindOwnServer(s) {
			f.Confidence = findings.Low
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, p.Nesting()-1, diagnose.Count, "each request calls "+
				"the server that waits there %s times: if it stands in for another service, this is that service's time",
				diagnose.Times(p.Nesting()-1)))
		}
		found = append(found, f)
	}
	return found, nil
}

// leastLooks is the number of times per request that a goroutine wakes from its sleep from which it looks for something, rather than
// paces what it does for each.
const leastLooks = 4

// looks reports whether the goroutine that requests wait for only looks now and then whether what they really wait for is done, such as
// another request that must end before this one may begin: timers wake it much more often than there are requests. It returns the mean
// time between two looks in ns, and their number per request.
func looks(p *diagnose.Pass, s waits.Site) (each, times float64, polls bool) {
	load := p.Load()
	if s.Via == "" || len(s.Part.Stack) == 0 || p.Anatomy.Traced <= 0 || !(load.Rate > 0) {
		return 0, 0, false
	}
	entry := sleeper(s)
	alone := slices.ContainsFunc(p.Anatomy.Serial, func(one breakdown.Serial) bool {
		return one.Goroutine == entry && one.Goroutines == 1
	})
	for _, w := range p.Anatomy.Woken {
		if w.Entry != entry || !alone || 2*w.Requests > w.Count {
			continue
		}
		each = float64(p.Anatomy.Traced) / float64(w.Count)
		times = 1e9 / each / load.Rate
		return each, times, times >= leastLooks && each < waitgain.LeastShare*p.Waits().MeanNS()
	}
	return 0, 0, false
}

// sleeper returns the function that the goroutine which sleeps began in. It need not be the one that requests wait for: that one may wait
// for another.
func sleeper(s waits.Site) string { return s.Part.Stack[len(s.Part.Stack)-1].Function }

// severalCalls is how often requests call the service's own server at least for that to be one that may stand in for another
// service, as a simulation in the same process does. A gateway calls it once.
const severalCalls = 1.8

// pause says what the requests wait for, and what to do at its place.
func pause(p *diagnose.Pass, s waits.Site) (what, remedy string) {
	within, at := library(p, s), diagnose.At(s.Place)
	stack := p.Stacks.Called(s.Part.Stack)
	if i := p.Stacks.Find(stack, callstack.RateLimit); i >= 0 {
		pkg, _ := callstack.Split(stack[i].Function)
		if strings.Contains(pkg, "retry") || strings.Contains(pkg, "backoff") {
			return "between attempts in " + callstack.Short(stack[i].Function),
				"Find out why attempts at " + at + " fail, and prevent it: requests that change the same data can take " +
					"turns. If attempts must be repeated, shorten the pause."
		}
		if pkg != "time" {
			// A rate limiter sleeps by intent: the remedy is its limit, not the sleep.
			if slices.ContainsFunc(stack, func(f code.Frame) bool { return strings.HasPrefix(f.Function, "k8s.io/client-go/rest.") }) {
				return "in " + callstack.Short(stack[i].Function), "Raise QPS and Burst of the rest.Config from which the Kubernetes " +
					"client is made that " + at + " uses: without them it sends 5 requests per second, after the first 10."
			}
			return "in " + callstack.Short(stack[i].Function),
				"Raise the limit at " + at + ", or reject requests above it instead of delaying them."
		}
		if within == "" {
			return "in a sleep", "Remove the sleep at " + at + ", or wait for the event it stands for (a channel, a condition, a " +
				"notification)."
		}
	}
	switch {
	case callstack.Deadline(s.Part.Waker):
		return "until a deadline passes", "Find out what the request waits for at " + at + ": the deadline passes before it arrives."
	case strings.HasSuffix(within, ".flock"):
		return "for a timer of " + within, "Open the file once and keep it open, instead of opening it in each request at " + at +
			": " + within + " tries again and again to lock a file that another request has open."
	case within != "" && callstack.Locks(within):
		return "between attempts of " + within, "Hold the lock that " + within + " tries again and again to get at " + at +
			" for less time, or use one per key: another request or process has it meanwhile."
	case within != "":
		return "for a timer of " + within, "Shorten the delay of " + within + ", which " + at + " waits for: a setting of the " +
			"library, such as the time after which it sends a batch that is not full, or the pause between attempts."
	}
	if _, lives := p.Path().Serial(s.By); lives && s.Via != "" {
		return "for a timer", "Let the goroutine that waits at " + at + " begin as soon as a request waits for it, and gather what comes " +
			"meanwhile for its next turn; or shorten the timer."
	}
	return "for a timer", "Remove the timer from the request path at " + at + ", or wait for the event it stands for (a channel, a " +
		"condition, a notification)."
}

// library returns the function of a library below the user's code that waits; "" if none does.
func library(p *diagnose.Pass, s waits.Site) string {
	for _, f := range s.Part.Stack {
		pkg, _ := callstack.Split(f.Function)
		switch {
		case p.Stacks.User(f):
			return ""
		case pkg != "" && !callstack.Standard(pkg) && !code.Probe(f):
			return callstack.Short(f.Function)
		}
	}
	return ""
}
