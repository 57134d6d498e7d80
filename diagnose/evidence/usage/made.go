package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Made returns the most costly thing that the service's own code makes for requests: the outermost
// function below a handler whose name says that it makes or validates something (by Go's convention:
// NewModel, CompileRules, ValidateSchema), at the line that calls it. What only validates does not
// count below a function that decodes. Its cost may be spread over many small functions, none of which
// is hot. Functions named after the request or its answer are left out, and those whose own lines ask
// for most of it: there each kind of work is a finding. ok is false if there is none.
//
// A profile does not say whether each call has the same input. Below a singleflight group
// the input is the same: the result is shared between requests (Shared).
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
		if oneDomain(samples) || use.byItself(name, samples) {
			continue
		}
		if cmp.Or(cmp.Compare(most.Share, b.Share), cmp.Compare(b.Function, most.Function)) < 0 {
			most, ok = b, true
		}
	}
	if ok {
		most.Bytes, most.Collected = p.allocates(most.spared)
		most.Share += most.Collected
	}
	return most, ok
}

// clientNouns end the names of what connects to other services.
var clientNouns = []string{"Client", "Transport", "Dialer", "Conn", "Connection", "RoundTripper"}

// makesClient reports whether a function's name says that it makes a client of another service: NewFastClient, createHTTPTransport.
func makesClient(function string) bool {
	name := bare(function)
	verb := slices.ContainsFunc([]string{"new", "make", "create", "build"}, func(v string) bool { _, is := begins(name, v); return is })
	return verb && !closure(function) && slices.ContainsFunc(clientNouns, func(noun string) bool { return strings.HasSuffix(name, noun) })
}

// ClientsMade returns the part of the service's CPU, 0 to 1, that requests spend on making clients of other services, with the
// collection of what that allocates, and the service's functions that do it. maker is the outermost of these that takes most. What
// opens connections below them is not part of it.
func (p *Service) ClientsMade() (share float64, maker string, functions []string) {
	use, err := p.Use()
	if err != nil || use.total == 0 {
		return 0, "", nil
	}
	outermost := func(stack []code.Frame) int {
		for i, f := range slices.Backward(stack) {
			if makesClient(f.Function) && p.Stacks.User(f) && p.Stacks.Serves(stack) &&
				!p.Stacks.Roles(stack).Has(callstack.Dial|callstack.HTTPConnect) {
				return i
			}
		}
		return -1
	}
	parts := map[string]float64{}
	for _, s := range use.list {
		at := outermost(s.Stack)
		if at < 0 {
			continue
		}
		parts[s.Stack[at].Function] += float64(s.Value)
		for _, f := range s.Stack[:at+1] {
			if name := callstack.Enclosing(f.Function); p.Stacks.User(f) && !slices.Contains(functions, name) {
				functions = append(functions, name)
			}
		}
	}
	share = p.without(func(stack []code.Frame) float64 {
		if outermost(stack) < 0 {
			return 0
		}
		return 1
	})
	return share, measured.Heaviest(parts, cmp.Compare[string]), functions
}

// byItself reports whether a function's own lines ask for most of its cost, as work of known kinds: it
// matches, formats or sorts, and calls nothing of the service's that does.
func (u *Table) byItself(name string, samples []Booked) bool {
	total, own := 0.0, 0.0
	for _, s := range samples {
		total += float64(s.Value)
		i := u.index.Innermost(s.Stack)
		if s.Domain != 0 && i >= 0 && callstack.Enclosing(s.Stack[i].Function) == callstack.Enclosing(name) {
			own += float64(s.Value)
		}
	}
	return own >= mostMade*total
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
		if caller != "" && caller != name && !closure(f.Function) && keepable(name) && (makes(name) || !u.decodesAbove(s.Stack[i+1:])) {
			return i
		}
		caller = name
	}
	return -1
}

// decodesAbove reports whether one of the service's functions on a stack decodes something. What is decoded for a
// request is new, and so is whether it is valid.
func (u *Table) decodesAbove(stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return u.decoders[callstack.Enclosing(f.Function)] })
}

// decoding returns the service's functions that decode JSON, XML and the like.
func (u *Table) decoding() map[string]bool {
	found := map[string]bool{}
	for _, s := range u.list {
		if !s.Domain.Has(callstack.JSON|callstack.Reflect) || s.at < 0 || !callstack.Decodes(s.Stack[s.at].Function) {
			continue
		}
		if i := u.index.Innermost(s.Stack[s.at:]); i >= 0 {
			found[callstack.Enclosing(s.Stack[s.at+i].Function)] = true
		}
	}
	return found
}

// makes reports whether the name of a function says that it makes something, alone or with something else.
func makes(function string) bool {
	return slices.ContainsFunc(strings.Split(bare(function), "And"), func(name string) bool {
		is, _ := Making(name)
		return is
	})
}

// keepable reports whether the name of a function says that it makes or validates something that
// may outlive the request. NewAndValidate does both.
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

// Outcome returns the service's function that makes something out of most of a domain's work below
// a place: jwt.Parse, if its helper decodes JSON. Its result might be kept, whereas the domain's
// work could only be made cheaper. "" if there is none, or if the place is that function. caller is the line from which most of it
// is called; zero if the service does not call it.
func (u *Table) Outcome(domains callstack.Role, place string) (function string, caller code.Frame) {
	total, parts := 0.0, map[string]float64{}
	callers := map[string]map[code.Frame]float64{}
	for _, s := range u.list {
		if !s.Domain.Has(domains) || !on(s.Stack, place) {
			continue
		}
		total += float64(s.Value)
		i := u.maker(s)
		if i < 0 {
			continue
		}
		name := s.Stack[i].Function
		parts[name] += float64(s.Value)
		if j := slices.IndexFunc(s.Stack[i+1:], u.index.User); j >= 0 {
			if callers[name] == nil {
				callers[name] = map[code.Frame]float64{}
			}
			callers[name][s.Stack[i+1+j]] += float64(s.Value)
		}
	}
	function = measured.Heaviest(parts, cmp.Compare[string])
	if function == place || parts[function] < mostMade*total {
		return "", caller
	}
	return function, measured.Heaviest(callers[function], measured.CompareFrames)
}

// madeOwn sums the cost of one of the service's makers, at the line from which most of it is called.
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
	b.Place, b.Lines = measured.Heaviest(lines, measured.CompareFrames), len(lines)
	b.Share, b.Shared = total/u.total, shared >= mostMade*total
	b.Part = b.Share / u.Part(func(s Booked) bool { return on(s.Stack, b.Place.Function) })
	return b
}

// requests are words in the names of functions whose result belongs to one request.
var requests = []string{"request", "response", "reply", "answer", "body", "form", "params", "context"}

// ownOfRequest reports whether a function is named after its request or its answer.
func ownOfRequest(function string) bool {
	return ofCall(function) || strings.Contains(strings.ToLower(bare(function)), "query")
}

// ofCall is ownOfRequest for a dependency, whose query is a text that may come again (SQL, GraphQL)
// rather than that of a URL.
func ofCall(function string) bool {
	name := strings.ToLower(bare(function))
	return slices.ContainsFunc(requests, func(word string) bool { return strings.Contains(name, word) })
}
