package diagnose

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
)

// Pass is one analyzer's view: the shared evidence of the record, the findings of other
// analyzers, and what it reports besides findings. It is not safe for concurrent use.
type Pass struct {
	*evidence.Set

	analyzers map[string]Analyzer
	results   map[string][]Finding
	rejected  []findings.Rejected
	// reached holds, by cause, the functions on the way to the places where it
	// makes requests wait.
	reached map[string][]string
	// queues and covered are by placeKey: see Queue and Cover.
	queues   map[string]waits.Site
	covered  map[string][]string
	unjudged []findings.NotJudged
	handed   []string // the entries of the goroutines that requests hand their work to; see waits.Requests.Unfolded
}

func newPass(rec *record.Record, a *breakdown.Anatomy) *Pass {
	return &Pass{
		Set:       evidence.New(rec, a),
		analyzers: map[string]Analyzer{},
		results:   map[string][]Finding{},
		reached:   map[string][]string{},
		queues:    map[string]waits.Site{},
		covered:   map[string][]string{},
	}
}

// Findings returns what an analyzer named in After found; nil if it found nothing,
// or was not run for lack of data.
func (p *Pass) Findings(analyzer string) []Finding { return p.results[analyzer] }

// Found reports whether one of the analyzers named in After found a cause that is worth
// reporting.
func (p *Pass) Found(analyzers []string) bool {
	for _, name := range analyzers {
		for _, f := range p.results[name] {
			if f.GainCeiling >= MinGain {
				return true
			}
		}
	}
	return false
}

// FoundIn reports whether an analyzer of one of the stages found a cause worth
// reporting that limits the service; causes that only qualify the measurement do
// not count. It is for analyzers that run Last.
func (p *Pass) FoundIn(stages ...Stage) bool {
	for name, findings := range p.results {
		a := p.analyzers[name]
		if !slices.Contains(stages, a.Stage) {
			continue
		}
		for _, f := range findings {
			cause, _ := Lookup([]Analyzer{a}, f.Cause)
			if f.GainCeiling >= MinGain && !cause.Qualifies {
				return true
			}
		}
	}
	return false
}

// Reject notes a cause that was considered and does not limit, and the figure that
// shows it. The report lists these, so that a reader who suspects the cause need
// not measure again.
func (p *Pass) Reject(cause, format string, args ...any) {
	r := findings.Rejected{Cause: cause, Why: fmt.Sprintf(format, args...)}
	if !slices.Contains(p.rejected, r) {
		p.rejected = append(p.rejected, r)
	}
}

// Unjudged notes a cause that could not be judged, and which data was missing.
func (p *Pass) Unjudged(cause, format string, args ...any) {
	p.unjudged = append(p.unjudged, findings.NotJudged{Cause: cause, Why: fmt.Sprintf(format, args...)})
}

const (
	// leastSamples is the least number of samples of a CPU profile at which a share
	// means something: with 100, a share of 15 % has a standard error of 3.6
	// points.
	leastSamples = 100
	// idleGain is the largest gain, from all of the service's CPU together, at
	// which no single use of it can matter.
	idleGain = 1.15
	// leastNamed is the part of the CPU that must have function names.
	leastNamed = 0.5
)

// FewSamples reports whether the CPU profile has too few samples for shares, so that one of them is a hint.
func (p *Pass) FewSamples() bool {
	use, err := p.Use()
	return err == nil && use.Samples < leastSamples
}

// Sampled reports whether the CPU profile has enough samples for shares. If not, it notes
// the cause as not judged, unless the service hardly ran, so that CPU cannot be its limit.
func (p *Pass) Sampled(u *usage.Table, cause string) bool {
	if u.Named() < leastNamed {
		p.Unjudged(cause, "%s of the CPU profile has no function names", Percent(1-u.Named()))
		return false
	}
	if u.Samples >= leastSamples {
		return true
	}
	if !p.Has(NeedProcess) || p.CPUGain(1) > idleGain {
		p.Unjudged(cause, "the CPU profile has only %d samples; shares need at least %d", u.Samples, leastSamples)
	}
	return false
}
