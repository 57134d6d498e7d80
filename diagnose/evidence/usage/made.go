package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Made returns what the service's own code makes for requests at the highest cost: the outermost
// function below a handler whose name says so (Go's convention: NewModel, CompileRules,
// LoadCatalogue, ValidateSchema), at the line that calls it. Its cost may be spread over many small
// functions, none of which is hot. A handler is not made for the request, and what is named after
// the request or its answer is its own. ok is false without any.
//
// A profile does not say whether each call has the same input. Below a singleflight group it
// does: such a result is shared between requests (Shared).
func (p *Service) Made() (most Built, ok bool) {
	use, err := p.Use()
	if err != nil || use.total == 0 {
		return Built{}, false
	}
	byFunction := map[string][]Booked{}
	for _, s := range use.list {
		if i := use.maker(s); i >= 0 {
			byFunction[s.Stack[i].Function] = append(byFunction[s.Stack[i].Function], s)
		}
	}
	for name, samples := range byFunction {
		b := use.madeOwn(name, samples)
		if !oneDomain(samples) && cmp.Or(cmp.Compare(most.Share, b.Share), cmp.Compare(b.Function, most.Function)) < 0 {
			most, ok = b, true
		}
	}
	if ok {
		most.Bytes, most.Collected = p.allocates(most.spared)
		most.Share += most.Collected
	}
	return most, ok
}

// maker returns the index of the frame at which a request's sample begins to make something, -1
// without one.
func (u *Table) maker(s Booked) int {
	if !s.Roles.Has(callstack.Server) && !u.servants[u.began(s.Stack)] {
		return -1
	}
	caller := ""
	for i := len(u.index.Handler(s.Stack)) - 1; i >= 0; i-- {
		f := s.Stack[i]
		if !u.index.User(f) {
			continue
		}
		name := callstack.Enclosing(f.Function)
		if caller != "" && caller != name && keepable(name) {
			return i
		}
		caller = name
	}
	return -1
}

// keepable reports whether the name of a function says that it makes or validates something that
// need not be the request's own. NewAndValidate does both.
func keepable(function string) bool {
	if ownOfRequest(function) {
		return false
	}
	for _, name := range strings.Split(bare(function), "And") {
		makes, _ := Making(name)
		if _, validates := begins(name, validator); !makes && !validates {
			return false
		}
	}
	return true
}

// Outcome returns the function of the service's that makes something of what a domain does below a
// place, where that is most of it: jwt.Parse, of the JSON that a helper of its decodes. Its outcome
// may be kept, where the domain's work can only be made cheaper. "" without any, or where the place
// itself is that function.
func (u *Table) Outcome(domains callstack.Role, place string) string {
	total, parts := 0.0, map[string]float64{}
	for _, s := range u.list {
		if !s.Domain.Has(domains) || !on(s.Stack, place) {
			continue
		}
		total += float64(s.Value)
		if i := u.maker(s); i >= 0 {
			parts[s.Stack[i].Function] += float64(s.Value)
		}
	}
	name := measured.Heaviest(parts, cmp.Compare[string])
	if name == place || parts[name] < mostMade*total {
		return ""
	}
	return name
}

// madeOwn sums what a function of the service's makes, at the line from which most of that is called.
func (u *Table) madeOwn(name string, samples []Booked) Built {
	b := Built{Function: name}
	lines, total, shared := map[code.Frame]float64{}, 0.0, 0.0
	for _, s := range samples {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == name })
		outer := s.Stack[i+1:]
		for j := range outer {
			if u.index.User(outer[j]) && callstack.Enclosing(outer[j].Function) != callstack.Enclosing(name) {
				lines[outer[j]] += float64(s.Value)
				break
			}
		}
		if u.index.Roles(outer).Has(callstack.SingleFlight) {
			shared += float64(s.Value)
		}
		total += float64(s.Value)
	}
	b.Place = measured.Heaviest(lines, measured.CompareFrames)
	b.Share, b.Shared = total/u.total, shared >= mostMade*total
	b.Part = b.Share / u.Part(func(s Booked) bool { return on(s.Stack, b.Place.Function) })
	return b
}

// requests are the words for what belongs to one request.
var requests = []string{"request", "response", "reply", "answer", "body", "form", "query", "params", "context"}

// ownOfRequest reports whether a function is named after its request or its answer.
func ownOfRequest(function string) bool {
	name := strings.ToLower(bare(function))
	return slices.ContainsFunc(requests, func(word string) bool { return strings.Contains(name, word) })
}
