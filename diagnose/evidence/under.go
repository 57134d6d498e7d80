package evidence

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// leastUnder is the part of the CPU inside a lock that one kind of work needs to be
// what is done under it.
const leastUnder = 0.4

// deeds word what CPU is spent on, as what a function does.
var deeds = []struct {
	role callstack.Role
	verb string
}{
	{callstack.Sort, "sorts"}, {callstack.Compress, "compresses"}, {callstack.JSON, "encodes or decodes JSON"},
	{callstack.RegexpCompile, "compiles expressions"}, {callstack.RegexpMatch, "matches expressions"}, {callstack.Crypto, "hashes or signs"},
	{callstack.Format, "formats text"}, {callstack.Logging, "logs"}, {callstack.Instrument, "counts and traces"},
	{callstack.Reflect, "uses reflection"},
	{callstack.DBClient, "calls the database's client"},
}

// Under words the work that is done while requests wait for a lock:
// "store.(*Book).Add sorts (slices.SortFunc)". more are functions known to hold it,
// besides those that the trace saw. "" if the profile does not show one kind of
// work.
func (p *Set) Under(site Site, more ...string) string {
	use, err := p.Use()
	if err != nil {
		return ""
	}
	holders := append(p.holders(site), more...)
	total, allocates := 0.0, 0.0
	domains, callees, places := map[callstack.Role]float64{}, map[callstack.Role]map[string]float64{}, map[string]float64{}
	for _, s := range use.list {
		at := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function != "" && slices.Contains(holders, f.Function) })
		if at < 0 {
			continue
		}
		value := float64(s.Value)
		total += value
		// A comparison is inside the sort that calls it: who sorts is outside.
		from := 0
		if s.domain != 0 && s.at >= 0 && s.at < at {
			from = s.at
		}
		places[callstack.Enclosing(s.Stack[from+use.index.Innermost(s.Stack[from:])].Function)] += value
		if s.domain == 0 && s.roles.Has(callstack.Allocate|callstack.GCAssist) {
			allocates += value
		}
		if s.domain != 0 && s.at >= 0 && s.at < at {
			domains[s.domain] += value
			if callees[s.domain] == nil {
				callees[s.domain] = map[string]float64{}
			}
			callees[s.domain][use.callee(s.Stack[:at], s.domain)] += value
		}
	}
	who := callstack.Short(heaviest(places, cmp.Compare[string]))
	if total == 0 || who == "" {
		return ""
	}
	for _, d := range deeds {
		if domains[d.role] >= leastUnder*total {
			return who + " " + d.verb + " (" + heaviest(callees[d.role], cmp.Compare[string]) + ")"
		}
	}
	if allocates >= leastUnder*total {
		return who + " allocates"
	}
	return ""
}

// ReadyPart returns the part of a wait, 0 to 1, in which the goroutine that would
// end it was ready to run and had no CPU; 0 if less than half of the wait was
// followed.
func (p *Set) ReadyPart(site Site) float64 {
	return p.partOf(site, func(kind callstack.Wait) bool { return kind == callstack.Queued })
}

// OwnPart returns the part of a wait, 0 to 1, that goroutines of the service which
// would end it ran, or were ready to; 0 where less than half was followed.
func (p *Set) OwnPart(site Site) float64 { return p.partOf(site, onCPU) }

func (p *Set) partOf(site Site, in func(callstack.Wait) bool) float64 {
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
