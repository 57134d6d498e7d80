package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Background is the work of goroutines that began in one function and serve no request.
type Background struct {
	Entry string // the function that they began in
	// Place is the innermost function of the user's code below which nearly all of
	// the work is done, at its hottest line: what to change.
	Place code.Frame
	Share float64 // of the target's CPU, 0 to 1
	// Dependency reports that no function of the service is in it: a dependency runs it on its own.
	Dependency bool
	// Started reports that a request may have started them: the function around
	// Entry runs in requests.
	Started bool
	// Requests reports that the trace saw requests start them, or wake them for most of what they do.
	Requests bool
}

// nearlyAll: a call with this part of an entry's CPU is the whole work, not one of
// its steps.
const nearlyAll = 0.85

// mostlyWoken: goroutines that requests wake this often work for them, such as those that send what requests publish.
const mostlyWoken = 0.5

// Background returns the CPU that goroutines which serve no request spend on the user's
// code, or that a dependency spends on goroutines of its own, largest first. Goroutines
// that requests wait for are excluded; without an anatomy these are unknown, and ok is false.
func (p *Service) Background() (list []Background, ok bool) {
	use, err := p.Use()
	if err != nil || p.Anatomy == nil {
		return nil, false
	}
	waitedFor, running := p.servants(), map[string]bool{}
	byEntry, own, talks := map[string][]Booked{}, map[string]bool{}, map[string]bool{}
	for _, s := range use.list {
		if s.Roles.Has(callstack.Server) {
			for _, f := range s.Stack {
				running[f.Function] = true
			}
			continue
		}
		if s.Roles.Has(callstack.Accept) {
			continue // each connection's first step, on the listener's goroutine
		}
		if s.Cut {
			continue // where its goroutine began is not known
		}
		entry, first := p.Began(s.Stack), measured.Entry(s.Stack)
		user := p.Stacks.Innermost(s.Stack) >= 0
		own[entry], talks[entry] = own[entry] || user, talks[entry] || onConnection(s.Stack)
		if (user || use.alone(entry)) && !waitedFor[entry] && !waitedFor[first] {
			byEntry[entry] = append(byEntry[entry], s)
		}
	}
	for _, part := range p.Anatomy.All {
		for _, f := range part.Stack {
			running[f.Function] = true
		}
	}
	requested := p.requested()
	for entry, samples := range byEntry {
		if own[entry] { // what a server that is not known does around the service's code serves requests
			samples = slices.DeleteFunc(samples, func(s Booked) bool { return p.Stacks.Innermost(s.Stack) < 0 })
		} else if talks[entry] {
			continue // a server's or a client's goroutine: it carries what requests bring and get
		}
		b := Background{Entry: entry, Started: running[callstack.Enclosing(entry)], Dependency: !own[entry], Requests: requested[entry]}
		sum := 0.0
		for _, s := range samples {
			sum += float64(s.Value)
			b.Started = b.Started || running[callstack.Enclosing(measured.Entry(s.Stack))]
		}
		b.Share = sum / use.total
		b.Place = p.deepest(samples, sum, func(f code.Frame) bool {
			return p.Stacks.User(f) || b.Dependency && use.library(f.Function)
		})
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b Background) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Entry, b.Entry)) })
	return list, true
}

// onConnection reports whether a stack reads or writes a connection.
func onConnection(stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return strings.HasPrefix(f.Function, "net.(*") })
}

// alone reports whether goroutines that begin in a function may be a dependency's own work, such as a cache's sweep:
// neither a client's, which works for the calls of requests, nor that of loggers and metrics, which have causes of
// their own.
func (u *Table) alone(entry string) bool {
	return u.library(entry) && !u.index.Plumbing(entry) && !u.index.Role(entry).Has(callstack.Instrument|callstack.Logging)
}

// requested returns the entries of the goroutines that requests start, or wake for most of what they do.
func (p *Service) requested() map[string]bool {
	found := map[string]bool{}
	for _, h := range slices.Concat(p.Anatomy.Helpers, p.Anatomy.Left) {
		found[h.Entry] = true
	}
	for _, w := range p.Anatomy.Woken {
		if float64(w.Requests) >= mostlyWoken*float64(w.Count) {
			found[w.Entry] = true
		}
	}
	return found
}

// servants returns the entries of the goroutines that requests wait for, or start and outlive. Waits for
// locks do not count: the holder of a lock works for itself.
func (p *Service) servants() map[string]bool {
	found := map[string]bool{}
	for _, h := range p.Anatomy.Helpers {
		found[h.Entry] = true
	}
	for _, part := range p.Anatomy.All {
		if part.State == breakdown.StateLock {
			continue
		}
		for _, chain := range part.Behind {
			for _, link := range chain.Links {
				found[link.Goroutine] = found[link.Goroutine] || !link.Request
			}
		}
	}
	delete(found, "")
	return found
}

// deepest follows the stacks of an entry inwards to the innermost of the frames that may
// be named which nearly all of them share, and returns it at the line where most time is
// spent.
func (p *Service) deepest(samples []Booked, sum float64, named func(code.Frame) bool) (place code.Frame) {
	for depth := 1; ; depth++ {
		lines := map[code.Frame]float64{}
		functions := map[string]float64{}
		for _, s := range samples {
			if depth > len(s.Stack) {
				continue
			}
			f := s.Stack[len(s.Stack)-depth]
			lines[f] += float64(s.Value)
			functions[f.Function] += float64(s.Value)
		}
		if len(functions) == 0 {
			return place
		}
		name := measured.Heaviest(functions, cmp.Compare[string])
		if functions[name] < nearlyAll*sum {
			return place
		}
		maps.DeleteFunc(lines, func(f code.Frame, _ float64) bool { return f.Function != name })
		if f := measured.Heaviest(lines, measured.CompareFrames); named(f) {
			place = f
		}
	}
}
