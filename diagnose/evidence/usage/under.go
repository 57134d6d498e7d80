package usage

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// leastUnder is the part of the CPU used under a lock that one kind of work needs
// to be named.
const leastUnder = 0.4

// deeds are kinds of work as verbs of the function that does them.
var deeds = []struct {
	role callstack.Role
	verb string
}{
	{callstack.Sort, "sorts"}, {callstack.Compress, "compresses"}, {callstack.JSON, "encodes or decodes JSON"},
	{callstack.RegexpCompile, "compiles regular expressions"}, {callstack.RegexpMatch, "matches regular expressions"},
	{callstack.Crypto, "hashes or signs"},
	{callstack.Format, "formats text"}, {callstack.Logging, "logs"}, {callstack.Instrument, "counts and traces"},
	{callstack.Reflect, "uses reflection"},
	{callstack.DBClient, "calls the database's client"},
}

// Under describes the work of the functions that hold a lock while requests wait for it:
// "store.(*Book).Add sorts (slices.SortFunc)"; "" if the profile does not show one kind of
// work.
func (u *Table) Under(holders []string) string {
	total, allocates := 0.0, 0.0
	domains, callees, places := map[callstack.Role]float64{}, map[callstack.Role]map[string]float64{}, map[string]float64{}
	for _, s := range u.list {
		at := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function != "" && slices.Contains(holders, f.Function) })
		if at < 0 {
			continue
		}
		value := float64(s.Value)
		total += value
		// A comparison function runs inside the sort that calls it: the function
		// that sorts is further out.
		from := 0
		if s.Domain != 0 && s.at >= 0 && s.at < at {
			from = s.at
		}
		// The holder is the user's by a trace's name, which has no folder. By its file it may be a
		// library's closure that the compiler named after the user's function.
		if user := u.index.Innermost(s.Stack[from : at+1]); user >= 0 {
			places[callstack.Enclosing(s.Stack[from+user].Function)] += value
		} else {
			places[s.Stack[at].Function] += value
		}
		if s.Domain == 0 && s.Roles.Has(callstack.Allocate|callstack.GCAssist) {
			allocates += value
		}
		if deed := u.deed(s, at); deed != 0 {
			domains[deed] += value
			if callees[deed] == nil {
				callees[deed] = map[string]float64{}
			}
			callees[deed][u.callee(s.Stack[:at], deed)] += value
		}
	}
	who := callstack.Short(measured.Heaviest(places, cmp.Compare[string]))
	if total == 0 || who == "" {
		return ""
	}
	for _, d := range deeds {
		if domains[d.role] >= leastUnder*total {
			return who + " " + d.verb + " (" + measured.Heaviest(callees[d.role], cmp.Compare[string]) + ")"
		}
	}
	if allocates >= leastUnder*total {
		return who + " allocates"
	}
	return ""
}

// deed returns the domain of what a sample does below the holder, whose frame has index at; 0 without
// one. Where a library holds the lock and no function of the service is on the stack, a sample has no domain
// that counts below the user's frames only: then it is the outermost kind of work that the holder calls.
func (u *Table) deed(s Booked, at int) callstack.Role {
	switch {
	case s.Domain != 0 && s.at >= 0 && s.at < at:
		return s.Domain
	case s.Domain != 0 || u.index.Innermost(s.Stack) >= 0:
		return 0
	}
	for _, f := range slices.Backward(s.Stack[:at]) {
		for _, d := range deeds {
			if u.index.Role(f.Function).Has(d.role) {
				return d.role
			}
		}
	}
	return 0
}
