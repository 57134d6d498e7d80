package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

// how says what would provide a kind of data, for use if the reason why it is
// missing is unknown; "" for an unknown kind.
func how(n Need) string {
	switch n {
	case NeedLoad:
		return "no load was recorded in the steady span"
	case NeedAnatomy:
		return "no requests were broken down: that needs an execution trace, from the probe (--build) or net/http/pprof (--pprof)"
	case NeedCPUProfile:
		return "no CPU profile: it needs the probe (--build) or net/http/pprof (--pprof)"
	case NeedAllocs:
		return "no allocation profile: it needs the probe (--build) or net/http/pprof (--pprof)"
	case NeedMutex:
		return "no mutex profile: it needs the probe (--build), or a mutex profile fraction set in the target"
	case NeedRuntime:
		return "no runtime metrics: they need the probe (--build)"
	case NeedProcess:
		return "no figures of the target's process: they need a target on this host (--exec, --build or --pid)"
	case NeedStatements:
		return "no statement statistics: they need --postgres and pg_stat_statements"
	}
	return ""
}

// Explain returns why a kind of data is missing and what would provide it. The run's own
// reason, if any, takes precedence: advice to add a probe that was present helps nobody.
func (p *Pass) Explain(n Need) string {
	reason := func(source, what string) string {
		for _, s := range p.Record.Run.Sources {
			if s.Name == source && !s.NotAsked && !s.OK && s.Why != "" {
				return what + ": " + s.Why
			}
		}
		return ""
	}
	// A source that works may still say that it lacks something.
	remark := func(source, about string) string {
		for _, s := range p.Record.Run.Sources {
			for clause := range strings.SplitSeq(s.Why, "; ") {
				if s.Name == source && s.OK && strings.Contains(clause, about) {
					return clause
				}
			}
		}
		return ""
	}
	why := ""
	switch n {
	case NeedAnatomy:
		why = p.noRequests(reason("traces", "no execution trace"))
	case NeedCPUProfile:
		why = reason("profiles", "no CPU profile")
	case NeedAllocs:
		why = cmp.Or(reason("profiles", "no allocation profile"), remark("profiles", "allocs profile"))
	case NeedMutex:
		why = reason("profiles", "no mutex profile")
	case NeedRuntime:
		why = reason("runtime", "no runtime metrics")
	case NeedStatements:
		if why = reason("postgres", "no statement statistics"); why == "" && p.UsesOnly(callstack.SQLite) {
			why = "this needs PostgreSQL's statement statistics, and the service uses SQLite within its own process; its CPU and " +
				"waits were still judged, from profiles and traces"
		} else if why == "" && p.UsesOnly(callstack.MySQL) {
			why = "this needs PostgreSQL's statement statistics, and the service uses MySQL or MariaDB; time spent waiting for it was " +
				"still judged, from traces"
		}
		if s := p.Statements(); why == "" && s != nil {
			why = cmp.Or(remark("postgres", "statement figures"), "the server counted no statement in the measured span")
		}
	}
	if why == "" {
		return how(n)
	}
	return why
}

// noRequests returns why no request was broken down although traces were taken, or
// why none could be taken; "" if none was requested. reason is the source's own, ""
// without one.
func (p *Pass) noRequests(reason string) string {
	a := p.Anatomy
	switch {
	case a == nil && reason != "":
		return reason
	case a == nil && len(p.Record.Traces()) > 0:
		return "no requests were broken down: the execution traces could not be read (see the warnings)"
	case a == nil:
		return ""
	case a.Requests+a.Partial > 0 && p.MostlyLost():
		return fmt.Sprintf("only %s broken down, %s of those in the traces: the rest were "+
			"lost or could not be told apart", Counted(float64(a.Requests), "request was", "requests were"), Percent(a.Coverage))
	case a.Hijacked > 0:
		return fmt.Sprintf("%s of execution trace hold no request, only %s that a handler took over",
			Span(float64(a.Traced)), Counted(float64(a.Hijacked), "connection", "connections"))
	}
	return fmt.Sprintf("%s of execution trace hold no request of a server that redline knows (net/http, HTTP/2, gRPC, fasthttp; Hertz if "+
		"redline builds it): send more requests, run for longer, or mark requests with the probe", Span(float64(a.Traced)))
}

// inapplicable reports whether a cause needs no data to be excluded: a service without a database has none of a
// database's causes, and advice to name the database would puzzle its owner. A database that the user named counts
// whatever the binary contains.
func (p *Pass) inapplicable(n findings.NotJudged) bool {
	named := slices.ContainsFunc(p.Record.Run.Sources, func(s record.SourceHealth) bool { return s.Name == "postgres" && !s.NotAsked })
	return strings.HasPrefix(n.Cause, "db-") && !named && !p.MayQuery()
}

// missing returns why an analyzer with these needs cannot run; "" if it can.
func (p *Pass) missing(needs []Need) string {
	var why []string
	for _, n := range needs {
		if !p.Has(n) {
			why = append(why, p.Explain(n))
		}
	}
	return strings.Join(why, "; ")
}

// Has reports whether the record has a kind of data in its steady span; false for
// an unknown kind.
func (p *Pass) Has(n Need) bool {
	switch n {
	case NeedLoad:
		return p.Load().Requests > 0
	case NeedAnatomy:
		return p.Traced()
	case NeedCPUProfile:
		return len(p.Record.Profiles("cpu")) > 0
	case NeedAllocs:
		return len(p.Record.Profiles("allocs")) > 0
	case NeedMutex:
		return len(p.Record.Profiles("mutex")) > 0
	case NeedRuntime:
		_, ok := p.Mean("/sched/gomaxprocs:threads", "")
		return ok
	case NeedProcess:
		_, ok := p.Sum(series.ProcessUser, "")
		return ok
	case NeedStatements:
		s := p.Statements()
		return s != nil && len(s.Statements) > 0
	}
	return false
}
