package host

import (
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// diskCalls finds the calls that wait for the disk.
type diskCalls struct {
	p     *diagnose.Pass
	syncs map[string]code.Frame // by owner (callstack.Owner), where it syncs longest
}

// syncsOf returns where each type or function syncs longest.
func syncsOf(p *diagnose.Pass) map[string]code.Frame {
	spent := map[code.Frame]int64{}
	add := func(wait callstack.Wait, stack []code.Frame, ns int64) {
		if place, _ := p.Stacks.Place(stack); wait == callstack.SyncWait && place.Function != "" {
			spent[place] += ns
		}
	}
	for _, part := range p.Anatomy.All {
		add(p.Stacks.Wait(part), part.Stack, part.NS)
		for _, c := range part.Behind {
			add(p.Stacks.Root(c), waits.Last(c), c.NS)
		}
	}
	syncs := map[string]code.Frame{}
	for place, ns := range spent {
		owner := callstack.Owner(place.Function)
		if most, ok := syncs[owner]; !ok || ns > spent[most] || ns == spent[most] && place.Line < most.Line {
			syncs[owner] = place
		}
	}
	return syncs
}

// place returns where a call waits for the disk: in a sync or in a write to a file. A rename counts as
// part of its owner's syncs, at their place: it changes the journal, and waits until the file system
// commits it. Of an owner that never syncs it is a file's call like others.
func (d diskCalls) place(wait callstack.Wait, stack []code.Frame) (place code.Frame, ok bool) {
	place, _ = d.p.Stacks.Place(stack)
	switch wait {
	case callstack.SyncWait:
	case callstack.FileWait:
		if !d.p.Stacks.Roles(stack).Has(callstack.FileWrite) {
			if !renames(stack) {
				return code.Frame{}, false
			}
			place = d.syncs[callstack.Owner(place.Function)]
		}
	default:
		return code.Frame{}, false
	}
	return place, place.Function != ""
}

func renames(stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return f.Function == "os.Rename" })
}

// end returns the place at the end of a chain if the chain ends in a wait for the disk.
func (d diskCalls) end(c breakdown.Chain) (code.Frame, bool) {
	return d.place(d.p.Stacks.Root(c), waits.Last(c))
}

// sites returns the places of calls that wait for the disk, made by requests or
// by goroutines that they wait for.
func (d diskCalls) sites() []waits.Site {
	p, w := d.p, d.p.Waits()
	sites := slices.Clone(w.Sites(callstack.SyncWait))
	for _, s := range w.Sites(callstack.FileWait) {
		if place, ok := d.place(s.Wait, s.Part.Stack); ok {
			s.Place = place
			sites = append(sites, s)
		}
	}
	return append(sites, p.Ends(callstack.SyncWait, d.end)...)
}

// cpu returns the part of the service's CPU, 0 to 1, that the calls of a site's owner take; 0 without a profile.
func (d diskCalls) cpu(s waits.Site) float64 {
	use, err := d.p.Use()
	if err != nil {
		return 0
	}
	owner := callstack.Owner(s.Place.Function)
	return use.Part(func(b usage.Booked) bool {
		wait := d.p.Stacks.Wait(breakdown.Part{State: breakdown.StateSyscall, Stack: b.Stack})
		place, ok := d.place(wait, b.Stack)
		return ok && callstack.Owner(place.Function) == owner
	})
}

// queuesBehind returns the functions in which requests wait, for most of that time, for whoever is in a
// site's calls.
func (d diskCalls) queuesBehind(s waits.Site) (functions []string) {
	owner := callstack.Owner(s.Place.Function)
	for _, part := range d.p.Anatomy.All {
		var ns int64
		for _, c := range part.Behind {
			if place, ok := d.end(c); ok && callstack.Owner(place.Function) == owner {
				ns += c.NS
			}
		}
		if place, ok := d.p.Stacks.Place(part.Stack); ok && 2*ns >= part.NS && ns > 0 {
			functions = append(functions, place.Function)
		}
	}
	return functions
}
