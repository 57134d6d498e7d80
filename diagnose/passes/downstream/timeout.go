package downstream

import (
	"fmt"
	"slices"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// leastStuck is the least number of requests that wait in one call: fewer may
	// be chance.
	leastStuck = 8
	// leastOutlived is how many times as many of them wait there as requests are in
	// flight by Little's law. The sick services of the corpus have 4.8 and 7.6, one
	// whose calls are slow now and then has 1.
	leastOutlived = 2.5
)

// Timeout finds calls that wait longer than their callers.
//
// An abandoned call shows in no latency, because its caller gave up and was counted
// as a failure. It shows in the goroutine profile. Little's law (Little 1961: L =
// λW) says how many requests the load can have in flight; more goroutines than that
// serve callers that have left.
var Timeout = diagnose.Analyzer{
	Name:  "timeout",
	Stage: diagnose.Wait,
	Doc: "Counts the requests that wait in a client's call in the last goroutine profile: at least 8, and at least 2.5 times " +
		"as many as the load has in flight (rate times mean latency). Also counts the calls without a deadline that make one " +
		"request in a hundred ten times slower than the median.",
	Causes: []diagnose.Cause{{
		ID:    "missing-timeout",
		Title: "Calls to another service outlive their callers",
		Doc: "A dependency sometimes does not respond, and nothing ends the wait for it. Callers give up, but their requests " +
			"stay in the service, with a connection, a goroutine and whatever else they hold.",
		Knows: "By Little's law (L = λW), rate times mean latency is the number of requests that the load should have in " +
			"flight, counting abandoned ones until it gave up on them. If the last goroutine profile shows at least 8 " +
			"requests in one client call, and at least 2.5 times that number, the calls outlive their callers' deadline, or " +
			"have not finished at all. That count distinguishes this cause from downstream-slow, where the latency includes " +
			"the slow calls. A deadline longer than the run looks like none. With --build, the hooks also count calls " +
			"without a deadline. Such a call is named too if the 99th percentile is at least ten times the median, the " +
			"longest such call takes at least half of the 99th percentile, and such calls take at least half of the mean " +
			"request's time beyond the median. A call with a deadline that is slow now and then stays downstream-slow.",
		Remedy: "Give the call a deadline that reaches the socket: the request's context, http.Client.Timeout, and dial and " +
			"header timeouts.",
		Example: diagnose.Example{Lang: "go",
			Before: "res, err := client.Get(url) // a client without Timeout, no context",
			After: "ctx, cancel := context.WithTimeout(r.Context(), 300*time.Millisecond)\ndefer cancel()\n" +
				"req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)\nres, err := client.Do(req)"},
		Verify: "Run again: the number of goroutines no longer rises, and errors come at the new deadline.",
		Cases:  []string{"loyalty-points", "kyc-check", "fx-rates", "tram-alerts", "orders-gateway"},
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runTimeout,
}

func runTimeout(p *diagnose.Pass) ([]diagnose.Finding, error) {
	snapshots, err := p.Snapshots()
	if err != nil {
		return nil, err
	}
	stall, stalls := stallOf(p)
	// Two rules, and the goroutine profile goes first: it proves that callers gave
	// up. The hooks' count of deadlines covers calls that finish before anyone does.
	if len(snapshots) > 0 || !stalls {
		if found := outlived(p, snapshots); len(found) > 0 || !stalls {
			return found, nil
		}
	}
	return []diagnose.Finding{stall.finding(p)}, nil
}

// outlived finds calls in which requests still wait whose callers gave up.
func outlived(p *diagnose.Pass, snapshots []measured.Snapshot) []diagnose.Finding {
	if len(snapshots) == 0 {
		p.Unjudged("missing-timeout", "no goroutine profile: it needs the probe (--build) or net/http/pprof (--pprof)")
		return nil
	}
	load := p.Load()
	if load.Mean <= 0 || load.Rate <= 0 {
		p.Unjudged("missing-timeout", "no latency was recorded")
		return nil
	}
	end := snapshots[len(snapshots)-1]
	first, last := standing(p, snapshots[0]), standing(p, end)
	underway := max(load.Rate*load.Mean/1e9, sentAround(p, end.At))
	at := measured.Heaviest(last, measured.CompareFrames)
	stuck := last[at]
	if stuck < leastStuck || stuck < leastOutlived*underway {
		return nil
	}
	share, of := beyond(load)
	f := diagnose.Finding{
		Cause: "missing-timeout", Share: share, ShareOf: of, Confidence: findings.High,
		GainCeiling: max(diagnose.MinGain, diagnose.Ceiling(share)),
		Where:       diagnose.WhereOf(at),
		Title: fmt.Sprintf("%d requests wait in a call at %s, but the load has only %s in flight: the call outlives its "+
			"callers", int64(stuck), diagnose.At(at), diagnose.Times(underway)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, stuck, diagnose.Count, "%d goroutines of requests wait at %s at the "+
				"end of the run, %d at its start", int64(stuck), diagnose.At(at), int64(first[at])),
			diagnose.Fact(diagnose.FromLoad, underway, diagnose.Count, "the load has %s requests in flight then: the larger "+
				"of its own count and rate times mean latency",
				diagnose.Times(underway)),
		},
		Remedy: fmt.Sprintf("Give the call at %s the request's context with a deadline below the callers' own "+
			"(context.WithTimeout, http.Client.Timeout), and set dial and header timeouts.", diagnose.At(at)),
	}
	if n, ok := p.Sum(series.LoadErrors, series.Labels("kind", "timeout")); ok && n > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, n, diagnose.Count,
			"%s into the load's own timeout", diagnose.Counted(n, "request ran", "requests ran")))
	}
	return []diagnose.Finding{f}
}

// around is the time before and after a goroutine profile in which requests count as in flight with it: the clocks of load and runtime
// agree better than that, but a profile stops the service.
const around = 300 * time.Millisecond

// sentAround returns the most requests that the load had in flight in a window around a run time: a burst makes them many,
// whatever the mean is.
func sentAround(p *diagnose.Pass, at time.Duration) (most float64) {
	for _, v := range p.Record.Series(series.LoadInFlight, "", timebase.Span{From: max(0, at-around), To: at + around}).Values {
		if v > most {
			most = v
		}
	}
	return most
}

// leastBeyond is the least part of the mean latency beyond the median at which the
// mean shows the cost of stuck calls.
const leastBeyond = 0.2

// beyond returns the part of latency beyond that of the median request, which the
// dependency does respond to: a short deadline saves it. With many stuck calls it is a
// part of the mean, which hardly depends on the deadline chosen; otherwise of the
// tail, which the deadline would set.
func beyond(load measured.Load) (share float64, of string) {
	share, of = 1-min(1, load.P50/load.Mean), diagnose.OfRequest
	if share < leastBeyond && load.P99 >= 2*load.P50 {
		share, of = 1-load.P50/load.P99, diagnose.OfTail
	}
	return share, of
}

// outlivedAt reports whether calls of a function are found to outlive their callers.
func outlivedAt(p *diagnose.Pass, function string) bool {
	return slices.ContainsFunc(p.Findings("timeout"), func(f findings.Finding) bool {
		return f.Cause == "missing-timeout" && f.Where.Function == function
	})
}

// standing counts the requests that wait in a call to another service, by the
// user's frame that calls. Databases have causes of their own.
func standing(p *diagnose.Pass, s measured.Snapshot) map[code.Frame]float64 {
	counts := map[code.Frame]float64{}
	for _, stack := range s.Stacks {
		roles := p.Stacks.Roles(p.Stacks.Handler(stack.Stack))
		client := roles.Has(callstack.HTTPClient | callstack.RPCClient)
		// The service's own sockets, but not the request's own connection.
		socket := roles.Has(callstack.SocketIO) && !roles.Has(callstack.ServerIO)
		// Nor a WebSocket, on which nobody owes the next message.
		if !p.Stacks.Serves(stack.Stack) || !client && !socket || roles.Has(callstack.DBClient|callstack.Messages) {
			continue
		}
		// A server that the service brings reads there what its connections send next: no request waits.
		i := p.Stacks.Innermost(stack.Stack)
		if i < 0 || p.Stacks.Role(stack.Stack[i].Function).Has(callstack.Server|callstack.ServerIO) {
			continue
		}
		if at, ok := p.Stacks.Place(stack.Stack); ok {
			counts[at] += float64(stack.Value)
		}
	}
	return counts
}
