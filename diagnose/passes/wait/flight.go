package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// Flight finds requests that wait for another's computation.
var Flight = diagnose.Analyzer{
	Name:  "flight",
	Stage: diagnose.Wait,
	Doc:   "Sums waits inside a single-flight group, from 20 % of request time or half of the tail's extra time.",
	Causes: []diagnose.Cause{{
		ID:          "singleflight-convoy",
		Title:       "Requests wait for one computation in flight",
		Doc:         "Many requests wait in a single-flight group for the one that computes.",
		Remedy:      "Finer keys, or serve the stale value while one request renews it.",
		FollowsFrom: []string{"downstream-slow", "db-slow-query"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		var found []diagnose.Finding
		for _, s := range diagnose.ByOwner(p.Waits().Sites(callstack.FlightWait)) {
			v, ok := judge(p, s, serial)
			if !ok {
				continue
			}
			f := v.finding(p, "singleflight-convoy", s)
			f.Title = fmt.Sprintf("%s for another request's computation at %s", v.requests(), diagnose.At(s.Place))
			f.Remedy = fmt.Sprintf("Use finer keys at %s, or return the stale value while one request renews it.", diagnose.At(s.Place))
			found = append(found, f)
		}
		return found, nil
	},
}
