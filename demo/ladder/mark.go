package ladder

import (
	"fmt"
	"time"

	"github.com/redline-go/redline/notation"
)

// Mark is a report's claim about its ladder, compared with the measurement.
type Mark struct {
	What, Claimed, Measured string
	Verdict                 string // "met", "missed", "open" or "not measured"
}

// claim is a factor or a bound that a report gives.
type claim struct {
	metric string
	factor float64
}

// The reports' factors: A-ladder 800 to 12,600 requests/s and P95 320 to 18 ms,
// A-gateway-final P99 1,842 to 86 ms, D-ladder at least 4.1 times the rate.
var claimed = map[string][]claim{
	Order: {{Throughput, 12600.0 / 800}, {P95, 320.0 / 18}, {P99, 1842.0 / 86}},
	Stack: {{Throughput, 4.1}},
}

// The stack's report also has P99 below 42 ms at the tuned rate; half of what pgbench
// reads from the same server is as far as a service with an API can be asked to go.
const (
	stackP99    = 42 * time.Millisecond
	pgbenchPart = 0.5
)

// Marks returns the claims on a ladder.
func (r *Result) Marks() []Mark {
	var marks []Mark
	for _, c := range claimed[r.Ladder] {
		m := Mark{What: c.metric + ", first rung against last", Claimed: notation.Factor(c.factor), Verdict: "not measured"}
		if change, ok := r.Whole.Of(c.metric); ok && change.Gain > 0 {
			m.Measured = change.Text()
			switch {
			case change.Low == 0 && change.High == 0, change.Low < c.factor && change.High >= c.factor:
				m.Verdict = "open"
			case change.Low >= c.factor:
				m.Verdict = "met"
			default:
				m.Verdict = "missed"
			}
		}
		marks = append(marks, m)
	}
	if r.Ladder == Stack {
		marks = append(marks, r.tuned(), r.half())
	}
	return marks
}

// met words whether a claim holds.
func met(holds bool) string {
	if holds {
		return "met"
	}
	return "missed"
}

func (r *Result) tuned() Mark {
	m := Mark{What: "P99 at the tuned rate", Claimed: "below " + notation.Time(stackP99), Verdict: "not measured"}
	switch p := r.Paced; {
	case p == nil:
	case p.Why != "":
		m.Measured = p.Why
	default:
		m.Measured = fmt.Sprintf("%s at %s/s", notation.Duration(p.P99), notation.Rate(p.Rate))
		m.Verdict = met(time.Duration(p.P99) < stackP99)
	}
	return m
}

func (r *Result) half() Mark {
	m := Mark{What: "requests/s against pgbench -S -M prepared", Claimed: "at least half", Verdict: "not measured"}
	if change, ok := r.Whole.Of(Throughput); ok && change.B > 0 && r.Pgbench > 0 {
		m.Measured = fmt.Sprintf("%s of %s/s", notation.Percent(change.B/r.Pgbench), notation.Rate(r.Pgbench))
		m.Verdict = met(change.B >= pgbenchPart*r.Pgbench)
	}
	return m
}
