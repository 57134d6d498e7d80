package waits

import (
	"github.com/redline-go/redline/diagnose/callstack"
)

// ReadyPart returns the part of a wait, 0 to 1, in which the goroutine that would
// end it was ready to run and had no CPU; 0 if less than half of the wait was
// followed.
func (p *Requests) ReadyPart(site Site) float64 { return p.PartIn(site, callstack.Queued) }

// PartIn returns the part of a wait, 0 to 1, in which the goroutine that would end it was in a kind of wait itself; 0 if less
// than half of the wait was followed.
func (p *Requests) PartIn(site Site, kind callstack.Wait) float64 {
	return p.partOf(site, func(k callstack.Wait) bool { return k == kind })
}

// OwnPart returns the part of a wait, 0 to 1, in which the goroutines that would end it ran
// or were runnable; 0 if less than half of the wait was followed.
func (p *Requests) OwnPart(site Site) float64 { return p.partOf(site, onCPU) }

func (p *Requests) partOf(site Site, in func(callstack.Wait) bool) float64 {
	var followed, sum int64
	for _, c := range site.Part.Behind {
		followed += c.NS
		if in(p.Stacks.Root(c)) {
			sum += c.NS
		}
	}
	if followed == 0 || float64(followed) < followedMost*float64(site.Part.NS) {
		return 0
	}
	return float64(sum) / float64(followed)
}

// Scaled returns the site with a part of its time, 0 to 1.
func (s Site) Scaled(part float64) Site {
	s.NS, s.Share, s.Tail, s.TailNS = part*s.NS, part*s.Share, part*s.Tail, part*s.TailNS
	return s
}

// Holders returns the functions that were seen to run while requests waited.
func (p *Requests) Holders(site Site) (functions []string) {
	d := divider{p: p}
	for _, c := range site.Part.Behind {
		if !onCPU(p.Stacks.Root(c)) {
			continue // nor is one without links
		}
		if at := d.place(c); p.Stacks.User(at) {
			functions = append(functions, at.Function)
		}
	}
	return functions
}

func onCPU(kind callstack.Wait) bool {
	return kind == callstack.Busy || kind == callstack.Queued || kind == callstack.Collector
}
