package diagnose

import (
	"cmp"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/findings"
)

// Promise writes the largest of the gains into a finding, unless it already
// promises more. Gains are alternatives, from different models of the same removal;
// they never add up.
func Promise(f *Finding, gains ...laws.Gain) {
	for _, g := range gains {
		if g.Factor > f.GainCeiling {
			f.GainCeiling, f.GainOf, f.Then, f.GainAtLeast = g.Factor, g.Of, g.Then, g.AtLeast
			f.GainLow, f.GainHigh = g.Low, g.High
		}
	}
}

// NotCalled raises the upper end of a finding's gain to what is gained if the service's function does not make a dependency's
// call at all, such as one whose result it caches: everything that does goes then, not only what the finding counts. An empty name
// of the call changes nothing.
func (p *Pass) NotCalled(f *Finding, caller, function string) {
	if function == "" {
		return
	}
	all := p.SparedBelow(caller, function)
	g := p.Ran(evidence.Work{Share: all, Function: function})
	if g.Factor <= max(f.GainCeiling, f.GainHigh) {
		return
	}
	f.GainLow, f.GainHigh = cmp.Or(f.GainLow, f.GainCeiling), g.Factor
	f.Evidence = append(f.Evidence, Fact(FromProfile, all, Ratio,
		"including everything else it does, %s takes %s of the service's CPU", callstack.Short(function), Percent(all)))
}

// gainOf says what a finding gains if its analyzer did not.
func (p *Pass) gainOf(f findings.Finding) string {
	if f.ShareOf == OfTail {
		return laws.Latency
	}
	return p.Model(false).Of()
}

// leastPeer is the least use, in CPUs, of a peer that is named.
const leastPeer = 0.05

// BusyPeers returns the peers that use enough CPU to be named, as clauses for the report, what uses most first.
func (p *Pass) BusyPeers() (facts []findings.Evidence) {
	for _, peer := range p.Peers() {
		if peer.CPUs >= leastPeer {
			facts = append(facts, Fact(FromProcess, peer.CPUs, "CPUs", "%s, which the service calls on port %s, uses %s of %s CPUs",
				peer.Program, peer.Port, Times(peer.CPUs), Number(p.CPU().CPUs)))
		}
	}
	return facts
}

// cpuUse is the use of CPUs for the report, in CPUs; nil if the host's is unknown.
func cpuUse(c evidence.CPU, peers []evidence.Peer) *findings.CPUUse {
	if !(c.CPUs > 0 && c.Busy > 0) {
		return nil
	}
	known := func(v float64) float64 {
		if v > 0 {
			return v
		}
		return 0
	}
	use := &findings.CPUUse{CPUs: c.CPUs, Busy: c.Busy, Full: c.HostUse() >= evidence.Saturation,
		Target: known(c.Target), Generator: known(c.Generator), Database: known(c.Database)}
	if c.Peers == 0 && len(peers) > 0 {
		use.Database = 0 // they are the database, and have names
	}
	for _, peer := range peers {
		if peer.CPUs >= leastPeer {
			use.Peers = append(use.Peers, findings.PeerCPU{Program: peer.Program, Port: peer.Port, CPUs: peer.CPUs})
		}
	}
	return use
}
