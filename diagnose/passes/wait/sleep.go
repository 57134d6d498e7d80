package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// Sleep finds timers in the request path.
var Sleep = diagnose.Analyzer{
	Name:  "sleep",
	Stage: diagnose.Wait,
	Doc: "Sums waits that a timer ends: time.Sleep, a timer's channel, a rate limiter, a retry's back-off. " +
		"They count from 20 % of request time or half of the tail's extra time.",
	Causes: []diagnose.Cause{{
		ID:     "sleep",
		Title:  "Requests sleep",
		Doc:    "Goroutines that serve requests wait for a timer: a sleep, a polling ticker, a rate limiter, a back-off.",
		Remedy: "Remove the timer from the request path, or wait for the event itself.",
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runSleep,
}

func runSleep(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	for _, s := range diagnose.ByOwner(p.Waits().Sites(callstack.SleepWait)) {
		v, ok := judge(p, s, outside)
		if !ok {
			continue
		}
		f := v.finding(p, "sleep", s)
		what, remedy := "for a timer", "Remove the timer from the request path at %s, or wait for the event it stands for (a channel, a condition, a notification)."
		if i := p.Stacks.Find(s.Part.Stack, callstack.RateLimit); i >= 0 {
			if pkg, _ := callstack.Split(s.Part.Stack[i].Function); pkg == "time" {
				what, remedy = "asleep", "Remove the sleep at %s, or wait for the event it stands for (a channel, a condition, a notification)."
			} else {
				what = "in " + callstack.Short(s.Part.Stack[i].Function)
				remedy = "Raise the limit at %s, or refuse what exceeds it instead of holding the request."
			}
		}
		f.Title = fmt.Sprintf("%s %s at %s", v.requests(), what, diagnose.At(s.Place))
		f.Remedy = fmt.Sprintf(remedy, diagnose.At(s.Place))
		found = append(found, f)
	}
	return found, nil
}
