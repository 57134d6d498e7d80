package diagnose

import (
	"strings"

	"github.com/redline-go/redline/record"
)

// minRequests is how many whole requests an anatomy must hold to be judged: with
// fewer the mean request is the doing of one or two.
const minRequests = 20

// explain returns what would give a kind of data; "" for an unknown kind.
func explain(n Need) string {
	switch n {
	case NeedLoad:
		return "no load was recorded in the steady span"
	case NeedAnatomy:
		return "no requests were taken apart: it needs an execution trace, from the probe (--build) or net/http/pprof (--pprof)"
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

// missing returns why an analyzer with these needs cannot run; "" if it can.
func (p *Pass) missing(needs []Need) string {
	var why []string
	for _, n := range needs {
		if !p.Has(n) {
			why = append(why, explain(n))
		}
	}
	return strings.Join(why, "; ")
}

// Has reports whether the record holds a kind of data in its steady span.
func (p *Pass) Has(n Need) bool {
	switch n {
	case NeedLoad:
		return p.Load().Requests > 0
	case NeedAnatomy:
		return p.Anatomy != nil && p.Anatomy.Requests >= minRequests && p.Anatomy.MeanNS > 0
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
		_, ok := p.Sum(record.ProcessUser, "")
		return ok
	case NeedStatements:
		s := p.Statements()
		return s != nil && len(s.Statements) > 0
	}
	return false
}
