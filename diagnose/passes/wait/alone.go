package wait

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
)

// alone returns the goroutine that a site's requests wait for, if there is only one
// of its kind and it serves one request after another.
func alone(p *diagnose.Pass, s waits.Site) (breakdown.Serial, bool) {
	one, ok := p.Path().Serial(measured.Entry(s.Part.Waker))
	return one, ok && one.Goroutines == 1 && one.Requests > 1
}

// byServer groups sites whose waits one goroutine ends by that goroutine, because
// it is one queue wherever requests wait in it (to hand over, or for the result).
// Other sites are grouped by their owner.
func byServer(p *diagnose.Pass, sites []waits.Site) []waits.Site {
	var list, rest []waits.Site
	at := map[string]int{}
	for _, s := range sites {
		one, ok := alone(p, s)
		if !ok {
			rest = append(rest, s)
			continue
		}
		i, ok := at[one.Goroutine]
		if !ok {
			at[one.Goroutine] = len(list)
			list = append(list, s)
			continue
		}
		sum := &list[i]
		lead := sum.NS >= s.NS
		ns, times, tail := sum.NS+s.NS, sum.Times+s.Times, sum.TailNS+s.TailNS
		share, part := min(1, sum.Share+s.Share), min(1, sum.Tail+s.Tail)
		if !lead {
			*sum = s
		}
		sum.NS, sum.Times, sum.TailNS, sum.Share, sum.Tail = ns, times, tail, share, part
	}
	return append(list, waits.ByOwner(rest)...)
}

// leastWork is the part of its busy time that one goroutine must spend below one
// function for that to be the place to change.
const leastWork = 0.3

// mostlyReads is the part of a wait in which a goroutine must wait for the network for it to be perhaps one that reads responses for all.
const mostlyReads = 0.5

// servesAlone makes the finding of one goroutine that serves all requests. The
// function below it that does the work is the one to change. Its bound is the
// utilisation law, U = X·S: a goroutine with service time S completes at most 1/S
// requests per second, whatever the CPUs.
func servesAlone(p *diagnose.Pass, s waits.Site, one breakdown.Serial, v waitgain.Verdict) diagnose.Finding {
	who := callstack.Short(one.Goroutine)
	behind, _ := p.Path().Behind(one.Goroutine)
	work, part, ok := waits.Worker(behind)
	works := ok && part >= leastWork
	f := v.Finding(p, "channel-bottleneck", s)
	if v.Of == diagnose.OfRequest {
		f.Share = max(f.Share, behind.Share) // short waits for it count too
	}
	f.Title = "Requests queue for one goroutine, " + who
	f.Remedy = fmt.Sprintf("Start more goroutines of %s, or let it take several items at a time; if it only "+
		"guards state, use a mutex or shard it.", who)
	if works {
		at := waits.PlaceOf(work)
		does := fmt.Sprintf("%s of its time in %s %s", diagnose.Percent(part), within(at.Function, one.Goroutine), diagnose.At(at))
		cheaper := fmt.Sprintf("Make %s cheaper, or move it out of %s, which serves one request at a time.",
			callstack.Short(at.Function), who)
		if at.Function == one.Goroutine { // which works itself
			does = fmt.Sprintf("%s of its time at %s", diagnose.Percent(part), diagnose.At(at))
			cheaper = fmt.Sprintf("Make its work at %s cheaper, or move it out of this goroutine, which serves one request at a time.",
				diagnose.At(at))
		}
		f.Title += ", which spends " + does
		f.Where = diagnose.WhereOf(at)
		f.Where.Detail = fmt.Sprintf("requests wait in %s (%s) for %s", callstack.Short(s.Place.Function), diagnose.At(s.Place), who)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, part, diagnose.Ratio, "%s spends %s", who, does))
		f.Remedy = cheaper + " " + f.Remedy
	} else if text, kind, share := p.Meanwhile(s); text != "" {
		f.Title += ", which " + text
		if kind == callstack.NetworkWait && share >= mostlyReads {
			if f.Confidence == findings.High {
				f.Confidence = findings.Medium // whether it asks for one answer at a time is not seen
			}
			f.Remedy = fmt.Sprintf("If %s sends a request and waits for its response before it sends the next, let several goroutines do "+
				"that, or send several at once. If it only reads the responses to what others send, the service at the other end takes "+
				"the time: make that faster, or cache its responses.", who)
		}
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, share, diagnose.Ratio,
			"during the wait, it %s (%s of the wait)", text, diagnose.Percent(share)))
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, one.Utilization, diagnose.Ratio,
		"%s is busy %s of the time, %s per request: %s requests/s at most (utilisation law)",
		who, diagnose.Percent(one.Utilization), diagnose.Span(float64(one.ServiceNS)),
		diagnose.Rate(1e9/float64(max(1, one.ServiceNS)))))
	p.Queue(f, s)
	return f
}

// within shortens a function's name after another one was named: a method of the
// same type loses the type.
func within(function, other string) string {
	if callstack.Owner(function) == callstack.Owner(other) {
		if _, method, ok := strings.Cut(callstack.Short(function), ")."); ok {
			return method
		}
	}
	return callstack.Short(function)
}
