package evidence

import (
	"cmp"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/series"
)

// servers and databases are the kinds of wait for other programs.
var (
	servers   = []callstack.Wait{callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait}
	databases = []callstack.Wait{callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait}
)

// Peer is a program on this host that the target calls: an upstream or a database.
type Peer struct {
	Program string  // as it names itself
	Port    string  // that the target connects to
	CPUs    float64 // over the steady span: 1 is one CPU all the time
}

// Peers returns the programs that the target calls, those that use most CPU first. CPU that was not seen
// does not count: until a peer is found, and while it is not. PostgreSQL is left out where the database's
// CPU is known: that counts all of its processes.
func (p *Set) Peers() []Peer {
	_, windows := p.Series(series.PeersUnseen, "").Sum()
	if windows == 0 {
		return nil
	}
	var list []Peer
	for _, labels := range p.counted() {
		used, _ := p.Sum(series.PeersCPU, labels)
		if cpus := used / 1e9 / (float64(windows) * p.Record.Run.Window.Seconds()); cpus > 0 {
			list = append(list, Peer{Program: series.Label(labels, "program"), Port: series.Label(labels, "port"), CPUs: cpus})
		}
	}
	slices.SortFunc(list, func(a, b Peer) int {
		return cmp.Or(cmp.Compare(b.CPUs, a.CPUs), cmp.Compare(a.Program, b.Program), cmp.Compare(a.Port, b.Port))
	})
	return list
}

// counted returns the labels of the peers whose CPU is not part of another figure.
func (p *Set) counted() []string {
	_, known := p.Rate(series.DBCPU, "")
	return slices.DeleteFunc(slices.Clone(p.Record.Labels(series.PeersCPU)), func(labels string) bool {
		return known && series.Label(labels, "program") == "postgres"
	})
}

// PeersCPU returns one value per window of the steady span, the CPU time of all peers in ns; nil without
// any. A peer that was not found yet counts 0.
func (p *Set) PeersCPU() (sum []float64) {
	for _, labels := range p.counted() {
		for i, v := range p.Series(series.PeersCPU, labels).Values {
			if sum == nil {
				sum = make([]float64, len(p.Series(series.PeersCPU, labels).Values))
			}
			if v > 0 && i < len(sum) {
				sum[i] += v
			}
		}
	}
	return sum
}

// sqlServers are the programs that run statements, by the names of their processes.
var sqlServers = []string{"postgres", "mysqld", "mariadbd", "cockroach"}

// addPeers adds what peers use: as the database, if they are known to be that and its CPU is not counted. If that
// remains unknown, it adds the bound on what servers use.
func (p *Set) addPeers(c *CPU) {
	known, database := !math.IsNaN(c.Database), p.databases()
	for _, peer := range p.Peers() {
		if known || !database(peer) {
			c.Peers += peer.CPUs
			continue
		}
		if math.IsNaN(c.Database) {
			c.Database = 0
		}
		c.Database += peer.CPUs
	}
	// Where each end on this host is seen, nothing unknown works for requests here.
	if unseen, ok := p.Max(series.PeersUnseen, ""); math.IsNaN(c.Database) && (!ok || unseen > 0 || c.Peers == 0) {
		c.outside = p.outside()
	}
}

// databases returns which peers are the databases of the requests. Where an end of a connection is unseen, none is known to be all of
// these. Otherwise those are that have the name of one, and all peers if requests wait for databases and for no other server.
func (p *Set) databases() func(Peer) bool {
	unseen, ok := p.Max(series.PeersUnseen, "")
	seen, all := ok && unseen == 0, p.WaitsForNoUpstream()
	return func(peer Peer) bool { return seen && (all || slices.Contains(sqlServers, peer.Program)) }
}

// WaitsForNoUpstream reports whether requests are known to wait for no other service, databases apart: they call none, or goroutines
// that outlive them do.
func (p *Set) WaitsForNoUpstream() bool {
	return p.Traced() && p.Waits().Share(servers...) < leastOutside
}

// asked are the kinds of wait for another program: a peer, if it runs on this host.
func (p *Set) asked(c CPU) []callstack.Wait {
	if !(c.Database > 0) && !p.UsesOnly(callstack.SQLite) {
		return slices.Concat(servers, databases)
	}
	return servers
}

// Asks reports whether a kind of wait is for another program.
func (p *Set) Asks(kind callstack.Wait) bool { return slices.Contains(p.asked(p.CPU()), kind) }

// Unasked bounds the gain of not calling other programs for a share of request time, with own of the service's CPU, both 0 to 1. As
// Elsewhere, but both ends then save CPU: that of peers is in proportion to the time that requests wait for them.
func (p *Set) Unasked(share, own float64) laws.Gain {
	m, c := p.Model(true), p.CPU()
	cut := laws.Cut{Time: share * m.Response, Error: p.TimeError(share), Busy: map[string]float64{}}
	for _, r := range m.Resources {
		cut.Busy[r.Name] = own * math.Max(0, p.Own())
	}
	if all := p.Waits().Share(p.asked(c)...); c.Peers > 0 && all > 0 {
		cut.Busy[named(hostCPUs, c.CPUs)] += math.Min(1, share/all) * c.Peers
	}
	return m.Gain(cut)
}
