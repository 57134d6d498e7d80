package database

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/driver"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastChurnShare is the part of request time or of the service's CPU spent on
	// opening connections. A pool that keeps its connections spends none.
	leastChurnShare = 0.10
	// leastSessions is the number of sessions opened per request. A pool that keeps its
	// connections opens each once; one per fifty requests is far from that.
	leastSessions = 0.02
	// eachRequest is the number of sessions opened per request at which each may have a pool of its own.
	eachRequest = 0.9
)

// sessionRoles are the roles of what the service does to open and close connections.
const sessionRoles = callstack.DBConnect | callstack.DBClose

// PoolChurn finds pools that close connections and open them again.
//
// Count and cost must both be high. Counts come from the server, else from the
// pool, else from waits in the trace, which is the weakest: a connection that is
// opened by another goroutine makes no request wait. The cost is mostly on the
// server, where the service's profile does not see it: a pool once seemed to lose
// 11 % to this, but keeping connections gained 3.7x.
var PoolChurn = diagnose.Analyzer{
	Name:  "pool-churn",
	Stage: diagnose.Database,
	Doc: "Compares the number of sessions opened per request (or of waits for a connection being opened) with 0.02, and the " +
		"part of request time or CPU that opening takes with 10 % (on saturated CPUs, in the service and the database); both " +
		"must be reached.",
	Causes: []diagnose.Cause{poolChurn},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runPoolChurn,
}

// runPoolChurn takes the largest share: request time, the service's CPU, or the CPU
// of both ends.
func runPoolChurn(p *diagnose.Pass) ([]diagnose.Finding, error) {
	share, cpu := p.Waits().Share(callstack.ConnectWait), 0.0
	if use, err := p.Use(); err == nil {
		cpu = use.With(sessionRoles)
	}
	opened, source := sessionsOpened(p)
	// On saturated CPUs request time says little about cost: requests wait for the
	// CPU that opening uses, wherever they queue for it.
	set, first := setupOf(p), coldOf(p, opened)
	both, inferred := churnCPU(p, cpu, opened*p.Load().Rate, set, first)
	if !(opened >= leastSessions) || max(share, cpu, both) < leastChurnShare {
		return nil, nil
	}
	opening, more := share, max(set.share, first.share)
	share, cpu = min(1, share+more), min(1, cpu+set.cpu)
	f := diagnose.Finding{
		Cause: "db-pool-churn", Share: share, ShareOf: diagnose.OfRequest, Confidence: findings.High,
		Title: fmt.Sprintf("Requests spend %s of their time opening database connections%s", diagnose.Percent(share), andRunning(more)),
		Evidence: []findings.Evidence{
			diagnose.Fact(source, opened, diagnose.Count, "the service opens %s (%s/s)",
				diagnose.PerRequest(opened, "a connection", "connections"), diagnose.Rate(opened*p.Load().Rate)),
		},
		Remedy: kept(p, opened),
	}
	diagnose.Promise(&f, worth(p, share, both, cpu, inferred), p.Ran(evidence.Work{Share: cpu, Roles: sessionRoles}))
	if source == diagnose.FromTrace {
		f.Confidence = findings.Medium
		f.Evidence[0].Text = diagnose.PerRequest(opened, "a wait", "waits") + " for a connection that is being opened"
	}
	set.describe(&f)
	first.describe(&f)
	// A connection that a goroutine of a request opens leaves no wait of the request's own.
	if opening > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, opening, diagnose.Ratio,
			"opening them takes %s of request time", diagnose.Percent(opening)))
	}
	if cpu > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, cpu, diagnose.Ratio,
			"dialling, authenticating and closing take %s of the service's CPU", diagnose.Percent(cpu)))
	}
	if both > share {
		f.Share, f.ShareOf = both, diagnose.OfCPU
		f.Title = fmt.Sprintf("Opening database connections takes %s of the CPU that the service and the database use",
			diagnose.Percent(both))
	} else if share < leastChurnShare {
		f.Share, f.ShareOf = cpu, diagnose.OfCPU
		f.Title = fmt.Sprintf("Opening database connections takes %s of the service's CPU", diagnose.Percent(cpu))
	}
	serverPays(p, &f, inferred, both > share)
	if sites := p.Waits().Sites(callstack.ConnectWait); len(sites) > 0 {
		f.Where = diagnose.WhereOf(sites[0].Place)
		f.Title += placed(sites)
	} else if at, known := p.Opener(); known {
		f.Where = diagnose.WhereOf(at)
		f.Title += " at " + diagnose.At(at)
	}
	return []diagnose.Finding{f}, nil
}

// serverPays adds what opening connections costs the server, and how that is known.
func serverPays(p *diagnose.Pass, f *diagnose.Finding, inferred, matters bool) {
	switch {
	case inferred:
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, partOfWaits(p, callstack.ConnectWait), diagnose.Ratio,
			"%s of the waits for the database are for connections being opened, so the same part of its %s CPUs counts "+
				"(inferred)",
			diagnose.Percent(partOfWaits(p, callstack.ConnectWait)), diagnose.Times(p.CPU().Database)))
	case matters:
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, demand.SessionCost, diagnose.Nanosec,
			"opening a session costs the server up to %s of CPU (at most all that it uses outside of executing statements)",
			diagnose.Span(demand.SessionCost)))
	}
}

// andRunning ends a title where statements on new connections take a part of request time.
func andRunning(share float64) string {
	if share < leastCold {
		return ""
	}
	return " and running the first statements on them"
}

// kept is the remedy, for so many sessions opened per request, in the terms of the pool that opens them.
func kept(p *diagnose.Pass, opened float64) string {
	pool := opensIn(p)
	keep := driver.Keep(pool)
	switch {
	case pool == "":
		return keep + "."
	case opened >= eachRequest:
		return "Open the pool once, at start-up, not for each request. If it is opened once already, " +
			strings.ToLower(keep[:1]) + keep[1:] + "."
	}
	return keep + "; open the pool once, not for each request."
}

// opensIn returns the package whose pool opens the connections that requests wait for most: the outermost on the stack that is known
// to have one. It is database/sql where none is seen, and "" where pgx connects without a pool.
func opensIn(p *diagnose.Pass) (pkg string) {
	sites, direct := p.Waits().Sites(callstack.ConnectWait), false
	if len(sites) > 0 {
		for _, f := range sites[0].Part.Stack {
			of, _ := callstack.Split(f.Function)
			role, pgx := p.Stacks.Role(f.Function), strings.HasPrefix(of, "github.com/jackc/")
			pool := role.Has(callstack.DBPool) || strings.Contains(of, "/pgxpool") || strings.Contains(of, "/puddle")
			if pool || !pgx && role.Has(callstack.DBClient) {
				pkg = of
			}
			direct = direct || pgx
		}
	}
	if pkg == "" && !direct {
		return "database/sql"
	}
	return pkg
}

// sessionsOpened returns how many sessions the service opens per request, and who
// counted them: the server, else the hooks, else the waits of the trace.
func sessionsOpened(p *diagnose.Pass) (each float64, source string) {
	if sessions, ok := p.Sum(series.DBSessions, ""); ok {
		if each = demand.PerRequest(p, sessions); each >= 0 {
			return each, diagnose.FromPostgres
		}
	}
	if a, ok := p.Acquired(); ok {
		if each = demand.AskedPerRequest(p, a.Opened); each >= 0 {
			return each, diagnose.FromProbe
		}
	}
	return p.Waits().Times(callstack.ConnectWait), diagnose.FromTrace
}

// opens bounds what keeping sessions could gain: requests no longer wait for them
// to be opened, and both sides save the CPU for it.
func opens(p *diagnose.Pass, share, both float64) laws.Gain {
	m := p.Model(false)
	cut := laws.Cut{Time: share * m.Response, Busy: map[string]float64{}}
	if at := m.Tightest(); at >= 0 {
		cut.Busy[m.Resources[at].Name] = both * p.CPU().Used()
	}
	return m.Gain(cut)
}

// worth is what keeping sessions could gain. What a server that counts nothing spends on them is inferred, so it is between nothing
// and that.
func worth(p *diagnose.Pass, share, both, client float64, inferred bool) laws.Gain {
	g := opens(p, share, both)
	if c := p.CPU(); inferred {
		least := opens(p, share, min(both, client*p.Own()/c.Used()))
		if least.Factor < g.Factor {
			g.Low, g.High, g.Factor = least.Factor, g.Factor, (least.Factor+g.Factor)/2
		}
	}
	return g
}

// churnCPU returns the part of the load's CPU that opening sessions takes, 0 to 1:
// client is the service's own part, sessions their number per second. The server's
// part is at most what it uses outside of execution. Of a server that counts no
// statements, it is in proportion to the waits: inferred is true. 0 where CPUs are not the
// limit, or the server's are not known.
func churnCPU(p *diagnose.Pass, client, sessions float64, s setup, first cold) (part float64, inferred bool) {
	c := p.CPU()
	if !c.Saturated() || !(c.Used() > 0) || !(sessions > 0) || !(c.Database > 0) {
		return 0, false
	}
	server := 0.0
	if outside, ok := outsideExecution(p); ok {
		server = min(outside*c.Database, max(sessions*demand.SessionCost/1e9, first.cpus)) + s.server(p)
	} else {
		inferred = true
		server = c.Database * partOfWaits(p, callstack.ConnectWait)
	}
	return min(1, ((client+s.cpu)*p.Own()+server)/c.Used()), inferred
}
