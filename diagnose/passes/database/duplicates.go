package database

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// repeated is an operation of which most calls begin while the same call is under way, and the waits for it.
type repeated struct {
	op   operation.Operation
	site waits.Site
}

// sameOf finds the operation that requests wait for most of those that only some of them call, and of which the hooks
// saw most calls begin while the same call was under way.
func sameOf(p *diagnose.Pass) (most repeated, ok bool) {
	ops, requests := p.Operations(), p.Load().Requests
	if ops == nil {
		return most, false
	}
	for _, o := range ops.Operations {
		if float64(o.Duplicates) < leastDuplicate*float64(o.Calls) || o.Calls < leastTraced || float64(o.Calls) > mostMisses*requests {
			continue
		}
		for _, c := range o.Callers {
			at, known := p.Stacks.Place(c.Stack)
			if site, waits := waitsAt(p, at.Function); known && waits && site.NS > most.site.NS {
				most, ok = repeated{o, site}, true
			}
		}
	}
	return most, ok
}

// waitsAt returns the waits for other programs in a function, as one site.
func waitsAt(p *diagnose.Pass, function string) (site waits.Site, ok bool) {
	var sites []waits.Site
	for _, s := range outsideSites(p) {
		if s.Place.Function == function {
			sites = append(sites, s)
		}
	}
	if groups := waits.ByOwner(sites); len(groups) > 0 {
		return groups[0], true
	}
	return site, false
}

func (r repeated) findings(p *diagnose.Pass) []diagnose.Finding {
	v, ok := waitgain.Decide(p, r.site, natureOf(r.site.Wait))
	if !ok {
		return nil
	}
	part, calls := float64(r.op.Duplicates)/float64(r.op.Calls), float64(r.op.Calls)
	f := v.Finding(p, "cache-stampede", r.site)
	f.Confidence = findings.High
	f.Title = fmt.Sprintf("Requests that miss the same cache entry all fetch it at %s: %s of the calls begin while the same call is "+
		"under way", diagnose.At(r.site.Place), diagnose.Percent(part))
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, part, diagnose.Ratio,
		"%s in %s requests, %s of them while one for the same URL or with the same values is under way: %s",
		diagnose.Counted(calls, "call", "calls"), diagnose.Number(p.Load().Requests), diagnose.Percent(part), statement.Brief(r.op.Text)))
	if r.op.Kind.Statement() {
		f.Where.SQL = r.op.Text
	}
	f.Remedy = oneFlight(r.site.Place) + "."
	return []diagnose.Finding{f}
}
