package host

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record"
)

// nearLimit of RLIMIT_NOFILE: accept and dial fail soon.
const nearLimit = 0.90

// Descriptors finds processes that run out of file descriptors.
var Descriptors = diagnose.Analyzer{
	Name:  "descriptors",
	Stage: diagnose.Host,
	Doc:   "Compares the most descriptors open in the steady span with 90 % of the soft limit.",
	Causes: []diagnose.Cause{{
		ID: "fd-limit", Title: "File descriptors run out",
		Doc:    "The process has nearly as many descriptors open as it may; accept and dial fail with EMFILE.",
		Remedy: "Raise the limit (ulimit -n, LimitNOFILE), and close what leaks.",
	}},
	Needs: []diagnose.Need{diagnose.NeedProcess},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		open, ok := p.Max(record.ProcessFDs, "")
		limit, known := p.Mean(record.ProcessFDLimit, "")
		if !ok || !known || limit <= 0 {
			p.Unjudged("fd-limit", "open descriptors or their limit are not known")
			return nil, nil
		}
		used := open / limit
		if used < nearLimit {
			return nil, nil
		}
		load := p.Load()
		failed := load.Errors / max(1, load.Requests)
		return []diagnose.Finding{{
			Cause: "fd-limit", Share: min(1, used), ShareOf: diagnose.OfCapacity, Confidence: record.High,
			// Beyond the limit no connection is accepted at all, so what is gained
			// is not bounded by a share; the failures are the least of it.
			GainCeiling: max(diagnose.Ceiling(failed), 1.5),
			Title:       fmt.Sprintf("%.0f of %.0f file descriptors are open", open, limit),
			Where:       record.Where{Detail: "RLIMIT_NOFILE"},
			Evidence: []record.Evidence{
				diagnose.Fact(diagnose.FromProcess, open, diagnose.Ratio, "%.0f descriptors are open at most, the limit is %.0f", open, limit),
				diagnose.Fact(diagnose.FromLoad, failed, diagnose.Ratio, "%s of the requests fail", diagnose.Percent(failed)),
			},
			Remedy: "Raise the limit (ulimit -n, LimitNOFILE in the unit), and close bodies, files and idle connections.",
		}}, nil
	},
}
