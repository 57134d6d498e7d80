// Package usage attributes a service's CPU and garbage, by its profiles: to domains such
// as JSON or the driver, to its own functions and their callers, and to goroutines that
// serve no request.
package usage

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Service is what the service under test spent its CPU and its memory on, by its profiles.
type Service struct {
	*measured.Run
	use measured.Memo[*Table]
}

// Table is what the target spent its CPU on, by its CPU profile. Shares are parts of
// all samples except those of idle marking.
type Table struct {
	// Samples is the number of samples; a share's standard error is
	// sqrt(share*(1-share)/Samples).
	Samples int64

	index *callstack.Index
	began func(stack []code.Frame) string // see measured.Run
	list  []Booked
	// begins is the first line of each function, by its name; see stacks.Profile.
	begins map[string]int
	// servants are the entries of goroutines that requests wait for; none without an
	// anatomy.
	servants map[string]bool
	// decoders are the service's functions that decode something, by their names.
	decoders map[string]bool
	total    float64
	named    float64 // of total, with function names
}

// Booked is one sample with the domain it is attributed to.
type Booked struct {
	measured.Sample
	Domain callstack.Role // the domain that it belongs to, 0 without one
	Roles  callstack.Role // all roles anywhere on the stack
	at     int            // where the domain begins in the stack, -1 without one
}

// Use returns the CPU profile by domain. Idle marking (on CPUs that had nothing
// else to do) costs nothing and is left out. The error says why there is no
// profile, or what does not parse.
func (p *Service) Use() (*Table, error) {
	return p.use.Try(p.readUse)
}

// readUse attributes every sample once. Stacks that end at a library's own
// goroutine are first continued at the go statement; otherwise a template's lexer
// would belong to no caller.
func (p *Service) readUse() (*Table, error) {
	prof, err := p.Profile("cpu", "cpu")
	if err != nil {
		return nil, err
	}
	u := &Table{index: p.Stacks, began: p.Began, begins: prof.Begins}
	if p.Anatomy != nil {
		u.servants = p.servants()
	}
	started := p.handed()
	for _, s := range prof.Samples {
		s.Stack = started.whole(s.Stack)
		domain, at := p.Stacks.Book(s.Stack)
		if domain == callstack.GCIdle {
			continue
		}
		u.list = append(u.list, Booked{s, domain, p.Stacks.Roles(s.Stack), at})
		u.total += float64(s.Value)
		if len(s.Stack) > 0 {
			u.named += float64(s.Value)
		}
		u.Samples += s.Count
	}
	u.sweeping()
	u.generated()
	u.decoders = u.decoding()
	return u, nil
}

// sweeping attributes goroutines that yield to the collector, unless other code yields too. The sweeper does after each batch of
// spans (goschedIfBusy, runtime/mgcsweep.go), and again and again while another thread, which may wait for a CPU, holds
// the last span: beside other programs a service with 400 cycles a second yielded 660,000 times a second, a third of its CPU.
func (u *Table) sweeping() {
	collects := false
	for _, s := range u.list {
		collects = collects || s.Domain.Has(callstack.GCWork)
		if slices.ContainsFunc(s.Stack, func(f code.Frame) bool { return f.Function == "runtime.Gosched" }) {
			return
		}
	}
	for i := range u.list {
		s := &u.list[i]
		if collects && s.Domain == callstack.Schedule &&
			slices.ContainsFunc(s.Stack, func(f code.Frame) bool { return f.Function == "runtime.gosched_m" }) {
			s.Domain, s.Roles = callstack.GCWork, s.Roles&^callstack.Schedule|callstack.GCWork
		}
	}
}

// Hot is one place that uses CPU.
type Hot struct {
	Place code.Frame
	User  bool
	Share float64 // of the target's CPU, 0 to 1
	// Unit is the function that Share is of (see callstack.Index.Unit), and Line the part of Share at Place's line, where
	// places of a domain were asked for.
	Unit string
	Line float64
	// Callee is the outermost function called from Place that most of the
	// samples have in common, "json.Marshal"; empty for Place's own work.
	Callee string
	// Via is the dependency's function that most of the samples go through from Place to Callee,
	// with its package's path; empty where Place calls it itself.
	Via string
	// Work is the one of callstack.Works that takes more than half of the place's own time;
	// 0 for its own code, or a mixture.
	Work callstack.Role
}

// Named returns the part of the CPU that has function names, 0 to 1; NaN without
// samples.
func (u *Table) Named() float64 { return u.named / u.total }

// All yields every sample, in the profile's order.
func (u *Table) All(yield func(Booked) bool) {
	for _, s := range u.list {
		if !yield(s) {
			return
		}
	}
}

// Share returns a domain's part of the target's CPU, 0 to 1.
func (u *Table) Share(domains callstack.Role) float64 {
	return u.Part(func(s Booked) bool { return s.Domain.Has(domains) })
}

// With returns the part of CPU whose stacks have any of the roles anywhere. Unlike
// with Share, roles such as allocation count inside every domain.
func (u *Table) With(roles callstack.Role) float64 {
	return u.Part(func(s Booked) bool { return s.Roles.Has(roles) })
}

// In returns the part of CPU whose stacks have a function, and any of the roles.
func (u *Table) In(function string, roles callstack.Role) float64 {
	return u.Part(func(s Booked) bool {
		return s.Roles.Has(roles) && on(s.Stack, function)
	})
}

// on reports whether a function is anywhere on a stack.
func on(stack []code.Frame, function string) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return f.Function == function })
}

// Part returns the part of CPU in samples that in accepts, 0 to 1.
func (u *Table) Part(in func(Booked) bool) float64 {
	if u.total == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range u.list {
		if in(s) {
			sum += float64(s.Value)
		}
	}
	return sum / u.total
}

// Places returns the places that use a domain's CPU, largest first: the user's
// frame that called into the domain, or without one the domain's own outermost
// function.
func (u *Table) Places(domains callstack.Role) []Hot {
	return u.places(func(s Booked) bool { return s.Domain.Has(domains) }, u.index.Unit, domains)
}

// Spawners returns the user's places that start goroutines, by the CPU that
// starting them takes.
func (u *Table) Spawners() []Hot { return u.From(callstack.Spawn) }

// From returns the user's places that call work with any of the roles, by the CPU
// that it takes.
func (u *Table) From(roles callstack.Role) []Hot {
	return u.places(func(s Booked) bool { return s.Roles.Has(roles) && u.index.Innermost(s.Stack) >= 0 }, itself, 0)
}

// Background returns the part of CPU that the user's code spends on goroutines
// that serve no request, and the place where most of it is spent. Goroutines that a
// handler starts count too, except those that requests were seen to wait for: a sample
// does not say who started its goroutine.
func (u *Table) Background() (share float64, most code.Frame) {
	places := u.places(u.Apart, itself, 0)
	if len(places) > 0 {
		most = places[0].Place
	}
	return u.Part(u.Apart), most
}

// Apart reports whether a sample is of the user's code on a goroutine that serves no request; see Background.
func (u *Table) Apart(s Booked) bool {
	return !s.Cut && !s.Roles.Has(callstack.Server|callstack.Accept) && u.index.Innermost(s.Stack) >= 0 &&
		!u.servants[u.began(s.Stack)] && !u.servants[measured.Entry(s.Stack)]
}

// Began returns the part of CPU of the goroutines that began in a function, and
// the user's place where most of that is spent, with its share of all CPU.
func (u *Table) Began(entry string) (share float64, most Hot) {
	in := func(s Booked) bool { return u.began(s.Stack) == entry }
	if places := u.places(in, itself, 0); len(places) > 0 {
		most = places[0]
	}
	return u.Part(in), most
}

// itself groups by function; a closure counts as itself, because handlers are
// often closures of one large function.
func itself(stack []code.Frame, at int) string { return stack[at].Function }

// places groups the samples that in accepts by the function that uses them, each
// group at the line that uses most.
func (u *Table) places(in func(Booked) bool, group func(stack []code.Frame, at int) string, domains callstack.Role) []Hot {
	type gathered struct {
		total  float64
		lines  map[code.Frame]float64
		callee map[string]float64
		via    map[string]float64
	}
	groups := map[string]*gathered{}
	for _, s := range u.list {
		if !in(s) {
			continue
		}
		place, ok := u.place(s, domains)
		if !ok {
			continue
		}
		at := s.index(place)
		name := group(s.Stack, at)
		g := groups[name]
		if g == nil {
			g = &gathered{lines: map[code.Frame]float64{}, callee: map[string]float64{}, via: map[string]float64{}}
			groups[name] = g
		}
		g.total += float64(s.Value)
		g.lines[place] += float64(s.Value)
		called := s.Stack
		if at >= s.at { // else the user's code is within the domain
			called = called[:at+1]
		}
		if callee := u.callee(called, domains); callee != "" {
			g.callee[callee] += float64(s.Value)
		}
		g.via[u.via(s.Stack, place, domains)] += float64(s.Value)
	}
	list := make([]Hot, 0, len(groups))
	for name, g := range groups {
		h := Hot{Place: measured.Heaviest(g.lines, measured.CompareFrames), Share: g.total / u.total, Unit: name,
			Callee: measured.Heaviest(g.callee, cmp.Compare[string]), Via: measured.Heaviest(g.via, cmp.Compare[string])}
		h.User, h.Line = u.index.User(h.Place), g.lines[h.Place]/u.total
		list = append(list, h)
	}
	sortHot(list)
	return list
}

// index returns where a frame is on a sample's stack, outside of its domain if it is there too.
func (s Booked) index(f code.Frame) int {
	if s.at >= 0 {
		if i := slices.Index(s.Stack[s.at:], f); i >= 0 {
			return s.at + i
		}
	}
	return slices.Index(s.Stack, f)
}

// place returns the frame to name for a sample. A domain is used from outside it:
// a comparison that the user wrote is inside the sort that calls it.
func (u *Table) place(s Booked, domains callstack.Role) (code.Frame, bool) {
	if domains == 0 || s.at < 0 {
		return u.index.Place(s.Stack)
	}
	if f, ok := u.index.HandedOn(s.Stack[s.at:]); ok && f != s.Stack[s.at] {
		return f, true
	}
	if i := u.index.Innermost(s.Stack[s.at:]); i >= 0 {
		return s.Stack[s.at+i], true
	}
	if u.index.Innermost(s.Stack) >= 0 {
		return u.index.Place(s.Stack)
	}
	return s.Stack[s.at], true
}

// callee returns the outermost function with one of the domains.
func (u *Table) callee(stack []code.Frame, domains callstack.Role) string {
	for i := len(stack) - 1; i >= 0; i-- {
		if u.index.Role(stack[i].Function).Has(domains) {
			return callstack.Short(stack[i].Function)
		}
	}
	return ""
}
