package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// leastDialShare of request time or of CPU: opening connections is pure
	// waste when they could be kept, so less than for other waits is worth it.
	leastDialShare = 0.10
	// leastDials per request: a client that keeps its connections waits for one
	// a few times in a run, not once in twenty requests.
	leastDials = 0.05
)

// Dial finds HTTP clients that do not keep their connections.
var Dial = diagnose.Analyzer{
	Name:  "http-client",
	Stage: diagnose.Wait,
	Doc: "Sums waits for an HTTP client's connection and the CPU of dialling and TLS handshakes. They count from " +
		"10 % of request time or CPU, when at least one request in twenty waits for a connection.",
	Causes: []diagnose.Cause{{
		ID:     "http-client-churn",
		Title:  "An HTTP client opens connections instead of keeping them",
		Doc:    "Requests wait in the transport for a connection to be opened, and CPU goes into dialling and handshakes.",
		Remedy: "One Transport for all calls; read bodies to the end and close them; MaxIdleConnsPerHost (2 by default) at the number of calls in flight.",
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runDial,
}

func runDial(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	share, times := w.Share(callstack.HTTPOpen), w.Times(callstack.HTTPOpen)
	cpu, handshakes := 0.0, 0.0
	if use, err := p.Use(); err == nil {
		cpu = use.With(callstack.HTTPConnect)
		handshakes = use.Share(callstack.TLS)
	}
	if times < leastDials || max(share, cpu) < leastDialShare {
		return nil, nil
	}
	sites := diagnose.ByOwner(w.Sites(callstack.HTTPOpen))
	s := sites[0]
	f := diagnose.Finding{
		Cause: "http-client-churn", Share: max(share, cpu), ShareOf: diagnose.OfRequest, Confidence: record.High,
		Where: diagnose.WhereOf(s.Place),
		// What it frees is the dialler's CPU on both sides, so the wait is not
		// bounded by idle CPUs alone.
		GainCeiling: max(p.WaitGain(share), p.CPUGain(cpu)),
	}
	if p.CPU().Saturated() {
		f.GainCeiling = max(f.GainCeiling, diagnose.Ceiling(share*w.OnCPU()))
	}
	if cpu > share {
		f.ShareOf = diagnose.OfCPU
	}
	f.Title = fmt.Sprintf("An HTTP client opens %.2g connections per request: %s of %s at %s", times, diagnose.Percent(f.Share), f.ShareOf, diagnose.At(s.Place))
	f.Evidence = append(f.Evidence,
		diagnose.Fact(diagnose.FromTrace, times, diagnose.Ratio, "%.2g waits for a connection per request, %s of request time", times, diagnose.Percent(share)),
		diagnose.Fact(diagnose.FromProfile, cpu, diagnose.Ratio, "%s of the service's CPU goes into opening client connections, TLS %s", diagnose.Percent(cpu), diagnose.Percent(handshakes)))
	f.Remedy = fmt.Sprintf("At %s use one shared Transport, read each body to its end before Close, and set MaxIdleConnsPerHost to the calls in flight (the default keeps 2).", diagnose.At(s.Place))
	return []diagnose.Finding{f}, nil
}
