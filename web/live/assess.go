package live

import (
	"context"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/report"
)

// When the findings so far are assessed. Assessing must not disturb what it assesses: it takes a
// process that takes the CPU which nobody else wants, a third of the time at most, and none while the generator
// has to wait for a CPU.
const (
	assessFirst  = 3 * time.Second // of the measured span
	assessPause  = 3 * time.Second
	assessMost   = 15 * time.Second // and is given up then
	assessShare  = 2                // pauses are as many times as long as the assessment took
	lagBound     = int64(10 * time.Millisecond)
	starvedShare = 0.5 // of the time that the generator's threads wanted to run
)

// soFar are the findings so far.
type soFar struct {
	Seconds  float64            `json:"seconds"` // of the measured span that they rest on
	Findings []findings.Finding `json:"findings"`
	Weights  []string           `json:"weights"`
	Places   []string           `json:"places"`
	Title    string             `json:"title"` // the headline so far
	Lead     string             `json:"lead"`
	Found    bool               `json:"found"`
	// Skipped says why there is no newer assessment; empty when this one is in time.
	Skipped string `json:"skipped"`
}

// lag watches whether the generator has the CPU it wants.
type lag struct {
	late, waited, used float64 // of the second before and of this one
	p99                int64
	queued             float64
	at                 time.Time
}

func (l *lag) window(p99 int64, at time.Time) {
	if at.Sub(l.at) > time.Second {
		l.at, l.late, l.waited, l.used = at, 0, l.waited/2, l.used/2
	}
	l.p99 = p99
	if p99 > lagBound && l.queued == 0 {
		l.late++
	}
}

func (l *lag) point(p *series.Point) {
	switch p.Series.Name {
	case series.LoadQueued:
		l.queued = p.Value
	case series.GeneratorDelay:
		l.waited += p.Value
	case series.GeneratorCPU:
		l.used += p.Value
	}
}

// why says why assessing would disturb the load now; empty if it would not.
func (l *lag) why() string {
	switch {
	case l.late >= 3:
		return "Not judged now: the generator lags by " + notation.Duration(l.p99)
	case l.waited > starvedShare*(l.waited+l.used):
		return "Not judged now: the generator waits for a CPU"
	}
	return ""
}

// assessing assesses what is recorded so far, again and again, until ctx ends.
func (p *Page) assessing(ctx context.Context) {
	timer := time.NewTimer(assessPause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := p.now()
		p.assess(ctx)
		timer.Reset(max(assessPause, assessShare*p.now().Sub(began)))
	}
}

// assess assesses once, if there is anything to assess and nobody is disturbed.
func (p *Page) assess(ctx context.Context) {
	p.mu.Lock()
	s := &p.state
	ready := s.recording != nil && s.end == nil && !p.closing && s.figures.Seconds >= assessFirst.Seconds()
	why, seconds, dir := s.lag.why(), s.figures.Seconds, ""
	if ready {
		dir = s.recording.Dir
	}
	p.mu.Unlock()
	if !ready || !p.viewers.any(p.now()) {
		return
	}
	if why != "" {
		p.assessed(nil, 0, why)
		return
	}
	within, enough := context.WithTimeout(ctx, assessMost)
	defer enough()
	summary, err := p.Assess(within, dir)
	switch {
	case ctx.Err() != nil:
	case within.Err() != nil:
		p.assessed(nil, 0, "Not judged now: it took longer than "+assessMost.String())
	case err != nil:
		p.assessed(nil, 0, "Not judged now: "+err.Error())
	default:
		p.assessed(summary, seconds, "")
	}
}

// assessed keeps an assessment, or why there is none; the last one stays then.
func (p *Page) assessed(summary *record.Summary, seconds float64, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := soFar{}
	if p.state.findings != nil {
		f = *p.state.findings
	}
	f.Skipped = notation.Clean(why)
	if summary != nil {
		whole := *summary
		whole.State = record.Complete // a bundle without an end is called aborted, which this is not
		head := report.HeadlineOf(&whole)
		f = soFar{Seconds: seconds, Findings: summary.Findings, Title: head.Title, Lead: head.Lead, Found: head.Found}
		for i := range f.Findings {
			f.Weights = append(f.Weights, report.Weight(&f.Findings[i]))
			f.Places = append(f.Places, report.Place(f.Findings[i].Where))
		}
	}
	p.state.findings = &f
	p.send("findings", f)
}
