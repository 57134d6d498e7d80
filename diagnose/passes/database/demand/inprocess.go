package demand

import (
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/database"
)

// InProcess reports whether the service's database is within its process:
// statements run on the service's CPUs, and none of them waits for a response. If a
// server reported statements it is not, whatever else the binary links.
func InProcess(p *diagnose.Pass) bool {
	if all := p.Statements(); all != nil && len(all.Statements) > 0 {
		return false
	}
	if p.UsesOnly(callstack.SQLite) {
		return true
	}
	ops := p.Operations()
	return ops != nil && len(ops.SQLite) > 0 && len(p.Drivers()) == 0
}

// Statements returns the statements that the database ran for requests, as counted by the server
// or else by the hooks in the service. The hooks' time is the statement's own,
// without statements run while its rows were read; otherwise a query inside a loop
// over rows would count twice.
func Statements(p *diagnose.Pass) (all *database.Statements, from string) {
	if all := p.Statements(); all != nil && len(all.Statements) > 0 {
		return OfRequests(p, all), diagnose.FromPostgres
	}
	all = &database.Statements{}
	traced := 0.0
	for _, a := range p.Asked() {
		traced += a.Took()
	}
	requests := p.CountedRequests()
	for _, a := range p.Asked() {
		if a.Calls == 0 {
			continue
		}
		ns := a.NS
		// The trace separates a statement's own time from its nested ones; the
		// counters do not.
		if traced > 0 && requests > 0 {
			ns = a.Took() * requests
		}
		all.Statements = append(all.Statements, database.Statement{Text: a.Text, Calls: int64(a.Calls),
			Time: time.Duration(ns), Rows: int64(a.Rows)})
	}
	return OfRequests(p, all), diagnose.FromProbe
}

// InProcessShare returns the part of request time within statements and in queues
// for connections, 0 to 1; ok is false if the hooks counted none. Without a trace
// it is the hooks' time over the load's service time, which counts nested
// statements twice.
func InProcessShare(p *diagnose.Pass) (share float64, source string, ok bool) {
	asked := p.Asked()
	if len(asked) == 0 {
		return 0, "", false
	}
	if w := p.Waits(); p.Has(diagnose.NeedAnatomy) {
		took := 0.0
		for _, a := range asked {
			took += a.Took()
		}
		return min(1, took/w.MeanNS()+w.Share(callstack.PoolWait)), diagnose.FromTrace, true
	}
	load, total := p.Load(), 0.0
	for _, a := range asked {
		total += a.NS
	}
	each := AskedPerRequest(p, total)
	if !(each >= 0) || !(load.Service > 0) {
		return 0, "", false
	}
	return min(1, each/load.Service), diagnose.FromProbe, true
}

// inProcessCPU returns the part of the service's CPU spent in the database's code
// and on collecting what it allocates, 0 to 1; 0 without a profile.
func inProcessCPU(p *diagnose.Pass) float64 { return min(1, ClientCPU(p)) }

// InProcessGain bounds the gain of removing statements that take a share of request
// time and a part of the service's CPU: requests get shorter, and CPUs are freed. On
// saturated CPUs only the CPU per request decides, because the rest of a request's
// time is queueing.
func InProcessGain(p *diagnose.Pass, share, cpu float64) laws.Gain {
	m, c := p.Model(false), p.CPU()
	cut := laws.Cut{Busy: map[string]float64{}, Error: p.CPUError(cpu)}
	if !c.Saturated() {
		cut.Time, cut.Error = share*m.Response, p.TimeError(share)
	}
	if c.Target > 0 {
		for _, r := range m.Resources {
			cut.Busy[r.Name] = cpu * p.Own()
		}
	}
	return m.Gain(cut)
}
