package host

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// nearLimit is the least part of RLIMIT_NOFILE at which it is reported.
	// archive-many-files, which is healthy, has 5 % open; chart-nofile and
	// contract-scans-leak reach the limit.
	nearLimit = 0.90
	// atLimit: accept, open and dial already fail, or will in the next short burst.
	atLimit = 0.98
	// leastFailed is the part of requests that must fail for failures to matter.
	leastFailed = 0.001
)

// Descriptors finds processes that run out of file descriptors.
//
// Reads /proc/<pid>/fd and limits once a second, so a burst between two reads is
// missed; hence 98 % of the limit counts as reached. The soft limit is the one that
// fails (getrlimit(2)), and Go raises it to the hard one at start (package os,
// since Go 1.19).
var Descriptors = diagnose.Analyzer{
	Name:  "descriptors",
	Stage: diagnose.Host,
	Doc: "Compares the most descriptors open in the steady span with 90 % of the soft limit; 98 % of it, " +
		"or failures as well, is the limit.",
	Causes: []diagnose.Cause{{
		ID: "fd-limit", Title: "File descriptors run out",
		Doc: "The process has as many descriptors open as its limit allows; accept, open and dial fail with EMFILE. " +
			"Connections that are not accepted wait in the kernel's queue, and requests that need a file or a connection " +
			"fail.",
		Knows: "Open descriptors compared with the soft RLIMIT_NOFILE, once a second. At 98 % of it, or at 90 % while requests " +
			"fail, the cause is certain; at 90 % without failures it is a warning of low confidence. A high number far from the " +
			"limit means nothing. Other causes explain why so many are open (a leak of connections or goroutines).",
		Remedy: "Raise the limit (ulimit -n, LimitNOFILE), and close leaked descriptors.",
		Example: diagnose.Example{
			Lang:   "go",
			Before: "f, err := os.Open(path)\nif missing(f) {\n\treturn errNoPage // f stays open\n}\ndefer f.Close()",
			After:  "f, err := os.Open(path)\nif err != nil {\n\treturn err\n}\ndefer f.Close()\nif missing(f) {\n\treturn errNoPage\n}",
		},
		Verify: "redline run again: process.fds stays far below process.fd_limit, and does not rise with time.",
		Cases:  []string{"chart-nofile", "contract-scans-leak", "archive-many-files"},
	}},
	Needs: []diagnose.Need{diagnose.NeedProcess},
	Run:   runDescriptors,
}

// runDescriptors promises at least 1.5x at the limit, a convention rather than a
// measurement: connections that cannot be accepted are in no figure of the service.
func runDescriptors(p *diagnose.Pass) ([]diagnose.Finding, error) {
	open, ok := p.Max(series.ProcessFDs, "")
	limit, known := p.Mean(series.ProcessFDLimit, "")
	if !ok || !known || limit <= 0 {
		p.Unjudged("fd-limit", "open descriptors or their limit are not known")
		return nil, nil
	}
	used := open / limit
	if used < nearLimit {
		return nil, nil
	}
	load := p.Load()
	failed := min(1, load.Errors/max(1, load.Requests))
	f := diagnose.Finding{
		Cause: "fd-limit", Share: min(1, used), ShareOf: diagnose.OfCapacity, Confidence: findings.High,
		// Beyond the limit no connection is accepted at all, so no share bounds the
		// gain; the failures are a lower bound.
		GainCeiling: max(diagnose.Ceiling(failed), 1.5),
		Title:       fmt.Sprintf("%s of %s file descriptors are open", diagnose.Number(min(open, limit)), diagnose.Number(limit)),
		Where:       findings.Where{Detail: "RLIMIT_NOFILE"},
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProcess, open, diagnose.Count, "at most %s are open; the limit is %s",
				diagnose.Counted(open, "descriptor", "descriptors"), diagnose.Number(limit)),
			diagnose.Fact(diagnose.FromLoad, failed, diagnose.Ratio, "%s of the requests fail", diagnose.Percent(failed)),
		},
		Remedy: "Raise the limit (ulimit -n, LimitNOFILE in the unit), and close bodies, files and idle connections.",
	}
	if used < atLimit && failed < leastFailed {
		f.Confidence, f.GainCeiling = findings.Low, diagnose.MinGain
	}
	left(p, &f, open)
	// In a closed loop the gain is in the connections that cannot be accepted.
	if connected, ok := p.Mean(series.LoadConnections, ""); ok && !load.Open && connected > 0 && used >= atLimit {
		if missing := float64(load.Sockets) / connected; missing > f.GainCeiling {
			f.GainCeiling = min(missing, diagnose.Ceiling(1))
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, connected, diagnose.Count,
				"%s of %d connections were open on average", diagnose.Number(connected), load.Sockets))
		}
	}
	return []diagnose.Finding{f}, nil
}

// mostOpen is the part of the open descriptors at which what they belong to explains them. Of a connection of the service to itself both
// ends are its own, and only one is counted.
const mostOpen = 1. / 3

// left adds the place that leaves connections of HTTP clients open, where they are most of the descriptors: each has a goroutine that
// reads it.
func left(p *diagnose.Pass, f *diagnose.Finding, open float64) {
	snapshots, err := p.Snapshots()
	if err != nil || len(snapshots) == 0 {
		return
	}
	n := 0.0
	for _, s := range snapshots[len(snapshots)-1].Stacks {
		if measured.ClientConn(measured.Entry(s.Stack)) {
			n += float64(s.Value)
		}
	}
	// A client's connection over HTTP/1 has two goroutines, of which one writes.
	at, ok := p.Dialler()
	if n /= 2; !ok || n < mostOpen*open {
		return
	}
	f.Where = diagnose.WhereOf(at)
	f.Title += fmt.Sprintf(": connections of HTTP clients stay open, most of them opened at %s", diagnose.At(at))
	f.Remedy = fmt.Sprintf("Make the client called at %s, or its Transport, once and share it: calls leave connections of their own "+
		"behind. Raising the limit (ulimit -n, LimitNOFILE in the unit) only delays the end.", diagnose.At(at))
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, n, diagnose.Count,
		"at the end %s HTTP clients are open (goroutines)", diagnose.Counted(n, "connection of", "connections of")))
}
