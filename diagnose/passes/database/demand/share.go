package demand

import (
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
)

// Waits are the kinds of wait that get shorter when the database does less.
func Waits() []callstack.Wait {
	return []callstack.Wait{callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait, callstack.PoolWait}
}

// RequestShare returns the part of request time that the database takes, the queue
// for a connection included, 0 to 1. Without an anatomy it is execution time per
// request over service time, which leaves the queue and the round trips out. ok is
// false if neither is known.
func RequestShare(p *diagnose.Pass) (share float64, source string, ok bool) {
	if InProcess(p) {
		if share, source, ok = InProcessShare(p); ok {
			return share, source, true
		}
	}
	if p.Has(diagnose.NeedAnatomy) {
		return min(1, p.Waits().Share(Waits()...)+unfollowed(p)), diagnose.FromTrace, true
	}
	load := p.Load()
	all, from := Statements(p)
	var total float64
	for _, s := range all.Statements {
		total += float64(s.Time)
	}
	each := PerRequest(p, total)
	if len(all.Statements) == 0 || !(each >= 0) || load.Service == 0 {
		return 0, "", false
	}
	return min(1, each/load.Service), from, true
}

// Gain bounds the gain of removing a part of the database's work that takes a share
// of request time: requests get shorter, and if the database runs on this host, both
// sides save CPU. On saturated CPUs only CPU counts, and share is a part of that. It
// is never more than Amdahl's law gives for the share, because the model's CPUs
// include other work. others also bound it and are not freed, such as a pool that
// other statements queue for.
func Gain(p *diagnose.Pass, share, part float64, others ...laws.Resource) laws.Gain {
	if InProcess(p) {
		return InProcessGain(p, share*part, inProcessCPU(p)*part)
	}
	m, c := p.Model(false), p.CPU()
	cut := laws.Cut{Time: share * part * m.Response, Busy: map[string]float64{}, Error: p.TimeError(share * part)}
	if at := m.Tightest(); at >= 0 && c.Database > 0 {
		cut.Busy[m.Resources[at].Name] = part * (executing(p) + ClientCPU(p)*p.Own())
	}
	_, saturated := CallCPU(p)
	if saturated {
		cut.Time = 0
	}
	m.Resources = append(m.Resources, others...)
	g := m.Gain(cut)
	if most := laws.Amdahl(share * part); g.Factor > most {
		g.Factor, g.Then, g.AtLeast = most, "", false
		g.Low, g.High = min(g.Low, most), min(g.High, most)
	}
	return g
}

// Executing bounds the gain of removing a part, 0 to 1, of what the server executes while
// the host's CPUs are saturated: statements share the CPUs, so their CPU is proportional to
// their execution time, whatever requests wait for in the meantime. others also bound it. The
// factor is 1 if the server does not run on this host or CPUs are idle. The CPU for opening
// sessions belongs to no statement and is not saved.
func Executing(p *diagnose.Pass, part float64, others ...laws.Resource) laws.Gain {
	m, c := p.Model(false), p.CPU()
	cut := laws.Cut{}
	if at := m.Tightest(); at >= 0 && c.Saturated() && c.Database > 0 {
		cut.Busy = map[string]float64{m.Resources[at].Name: part * executing(p)}
	}
	m.Resources = append(m.Resources, others...)
	return m.Gain(cut)
}

// Spared bounds the gain of not making calls that take a share of request time, a
// part of the database's work, and own of the service's CPU, each 0 to 1.
func Spared(p *diagnose.Pass, share, part, own float64) laws.Gain {
	m, c := p.Model(false), p.CPU()
	cut := laws.Cut{Busy: map[string]float64{}}
	if !c.Saturated() {
		cut.Time = share * m.Response
	}
	for _, r := range m.Resources {
		cut.Busy[r.Name] = own * max(0, p.Own())
		if c.Database > 0 && r.Name == m.Resources[0].Name {
			cut.Busy[r.Name] += part * c.Database
		}
	}
	return m.Gain(cut)
}

// Executed returns the part of the waits for the database in which it executes
// statements of requests, 0 to 1. The rest is round trips, and goroutines that have their
// result and queue for a CPU. 1 if unknown.
func Executed(p *diagnose.Pass) float64 {
	waits := p.Waits().NS(callstack.DatabaseWait, callstack.PrepareWait)
	all := OfRequests(p, p.Statements())
	if !(waits > 0) || all == nil {
		return 1
	}
	var total float64
	for _, s := range all.Statements {
		total += float64(s.Time)
	}
	if each := PerRequest(p, total); each > 0 {
		return min(1, each/waits)
	}
	return 1
}

// CallCPU returns the part of the load's CPU that database calls take on both
// sides; ok is false where CPUs are not the limit or the server's use is unknown.
func CallCPU(p *diagnose.Pass) (part float64, ok bool) {
	c := p.CPU()
	if !c.Saturated() || !(c.Database > 0) || !(c.Used() > 0) {
		return 0, false
	}
	return min(1, (c.Database+ClientCPU(p)*c.Target)/c.Used()), true
}

// ClientCPU returns the part of the service's CPU spent in the database client and
// on collecting what it allocates; 0 without a profile.
func ClientCPU(p *diagnose.Pass) float64 {
	use, err := p.Use()
	if err != nil {
		return 0
	}
	return use.Share(callstack.DBClient) + p.Garbage(callstack.DBClient)
}

// WaitPart returns the part of the waits for the database that are for a statement,
// 0 to 1: its execution as the server counted it, and its calls' part of the rest,
// because all round trips cost about the same.
func WaitPart(p *diagnose.Pass, all *database.Statements, s database.Statement) float64 {
	var calls float64
	for _, one := range all.Statements {
		calls += float64(one.Calls)
	}
	ran, part := Executed(p), evidence.StatementShare(all, s)
	if !(calls > 0) {
		return part
	}
	return ran*part + (1-ran)*float64(s.Calls)/calls
}

// Label sums the means of a gauge over the labels that keep accepts; ok is false if
// none was recorded.
func Label(p *diagnose.Pass, name string, keep func(labels string) bool) (sum float64, ok bool) {
	windows := 0
	for _, labels := range p.Record.Labels(name) {
		if !keep(labels) {
			continue
		}
		// A label is recorded only in windows in which it was seen, and was zero in
		// the others, so the mean is over all observed windows.
		total, present := p.Series(name, labels).Sum()
		sum += total
		windows = max(windows, present)
		ok = true
	}
	if n := Observed(p); n > 0 {
		windows = n
	}
	if windows == 0 {
		return 0, false
	}
	return sum / float64(windows), ok
}

// Observed returns the number of windows in which the database was observed: those
// with any of the gauges that every reading has.
func Observed(p *diagnose.Pass) int {
	most := 0
	for _, name := range []string{series.DBBlocked, series.DBMax} {
		_, present := p.Series(name, "").Sum()
		most = max(most, present)
	}
	for _, labels := range p.Record.Labels(series.DBBackends) {
		_, present := p.Series(series.DBBackends, labels).Sum()
		most = max(most, present)
	}
	return most
}

// PerRequest divides by the run's requests; NaN without any, so that no comparison
// holds.
func PerRequest(p *diagnose.Pass, amount float64) float64 { return per(amount, Requests(p)) }

// AskedPerRequest divides what the hooks counted by the requests of the time in which they counted; NaN without any.
func AskedPerRequest(p *diagnose.Pass, amount float64) float64 {
	return per(amount, p.CountedRequests())
}

// Requests returns how many requests there were while the statements were counted that Statements returns.
func Requests(p *diagnose.Pass) float64 {
	if all := p.Statements(); all != nil && len(all.Statements) > 0 {
		return p.Load().Requests
	}
	return p.CountedRequests()
}

func per(amount, requests float64) float64 {
	if requests > 0 {
		return amount / requests
	}
	return math.NaN()
}

// ExecutionCPU returns the part of the load's CPU that executing statements takes:
// all that the server uses except for opening sessions. It is 0 where CPUs are not
// the limit or the server's use is unknown.
func ExecutionCPU(p *diagnose.Pass) float64 {
	c := p.CPU()
	if !c.Saturated() || !(c.Database > 0) || !(c.Used() > 0) {
		return 0
	}
	return executing(p) / c.Used()
}

// executing returns how many CPUs the server uses apart from opening sessions.
func executing(p *diagnose.Pass) float64 {
	sessions, _ := p.Rate(series.DBSessions, "")
	return max(0, p.CPU().Database-sessions*SessionCost/1e9)
}

// SessionCost is the most that opening a session costs the server, in ns of CPU: a
// new process, SCRAM's 4,096 rounds (RFC 7677), and empty catalogue caches, so that
// the first statements are planned slowly. Measured: 3 to 6 ms.
const SessionCost = 5e6
