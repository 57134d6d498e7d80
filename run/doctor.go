package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/goruntime"
	"github.com/redline-go/redline/observe/spans"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service"
)

// CheckupSchema names the form of a Checkup as JSON.
const CheckupSchema = "redline.doctor/1"

// look is how long sources that open are watched: some read twice a second.
const look = 1500 * time.Millisecond

// Patient is the subject of a checkup. The zero Patient is this machine alone, with
// redline's own process in the target's place.
type Patient struct {
	URL      string // where load would go
	PID      int
	Pprof    string // base URL of net/http/pprof
	Postgres string // DSN
}

// Checkup lists the data that redline can collect here, and how to enable the rest.
type Checkup struct {
	Schema  string        `json:"schema"`
	Target  string        `json:"target"` // who stood for the target, in words
	Sources []SourceCheck `json:"sources"`
	Machine []Check       `json:"machine"`
}

// SourceState says how well a source sees.
type SourceState string

// The states of a source.
const (
	Sees     SourceState = "ok"
	Partly   SourceState = "partly"
	Blind    SourceState = "no"
	NotAsked SourceState = "not asked" // nobody declared that the target has what it observes
)

// SourceCheck is one source.
type SourceCheck struct {
	Name  string      `json:"name"`
	State SourceState `json:"state"`
	// Series are the names that it delivered within a moment; a source that
	// delivers only at the end of a run has none.
	Series []string `json:"series"`
	Why    string   `json:"why"`    // the missing data; empty when nothing is missing
	Enable string   `json:"enable"` // the remedy; empty when Why names it
	Doc    string   `json:"doc"`
	Needs  string   `json:"needs"`
	Cost   string   `json:"cost"`
}

// Check is one property of the machine that load and figures depend on.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Value  string `json:"value"`
	Advice string `json:"advice"` // empty when OK
}

// Works reports whether any source sees something.
func (c *Checkup) Works() bool {
	return slices.ContainsFunc(c.Sources, func(s SourceCheck) bool { return s.State == Sees || s.State == Partly })
}

// Doctor opens every source for a moment and reports how each fared, and checks
// the machine. It puts no load on anything, leaves nothing behind,
// and fails only if there is no clock.
func Doctor(ctx context.Context, p Patient) (*Checkup, error) { return p.checkup(ctx, usual) }

func (p Patient) checkup(ctx context.Context, wait patience) (*Checkup, error) {
	clock, err := timebase.Start()
	if err != nil {
		return nil, err
	}
	subject := observe.Subject{
		Clock: clock, Window: timebase.DefaultWindow, PID: p.PID, Pprof: p.Pprof, DSN: p.Postgres,
		OTLP: []string{"127.0.0.1:0"},
		// Far off: profiles and traces belong to runs; doctor only tries to reach them.
		Steady: &timebase.Span{From: time.Hour, To: 2 * time.Hour},
	}
	c := &Checkup{Schema: CheckupSchema}
	c.Target, c.Machine = p.meet(ctx, &subject, wait.ask)
	c.Machine = append(c.Machine, machine(ctx)...)
	list := Sources(subject)
	c.Sources = make([]SourceCheck, len(list))
	var looking sync.WaitGroup
	for i, source := range list {
		looking.Go(func() {
			c.Sources[i] = examineWithin(ctx, source, subject, wait)
			if p == (Patient{}) {
				c.Sources[i].alone(source)
			}
		})
	}
	looking.Wait()
	return c, nil
}

// meet finds the target's process and its pprof, if its URL is given.
func (p Patient) meet(ctx context.Context, subject *observe.Subject, wait time.Duration) (who string, checks []Check) {
	if p.URL != "" {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		check := Check{Name: "target", Value: redact.Text(p.URL) + " answers"}
		svc, err := service.Start(ctx, service.Options{Target: scenario.Target{PID: p.PID}, URL: p.URL, Clock: subject.Clock,
			Window: subject.Window})
		if err == nil {
			defer svc.End() // which ends nothing: it was already running
			check.OK, subject.PID = true, svc.Info().PID
		} else {
			check.Value, check.Advice = redact.Text(p.URL)+": "+err.Error(), "start the service, or give the URL that it serves"
		}
		checks = append(checks, check)
		if subject.Pprof == "" {
			subject.Pprof = pprofHint(ctx, p.URL)
		}
	}
	switch {
	case subject.PID != 0:
		return fmt.Sprintf("process %d", subject.PID), checks
	case p.URL != "":
		return "no process of this host", checks
	case p.Pprof != "" || p.Postgres != "":
		who = "; the process is redline's own"
	}
	subject.PID = os.Getpid()
	return "this machine" + who, checks
}

// pprofHint returns where net/http/pprof is, if the server of a URL has it in
// its usual place, else "".
func pprofHint(ctx context.Context, rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	base := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/debug/pprof"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.String()+"/cmdline", http.NoBody)
	if err != nil {
		return ""
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return ""
	}
	return base.String()
}

// examineWithin examines a source, and gives it up if it hangs.
func examineWithin(ctx context.Context, source observe.Source, subject observe.Subject, wait patience) SourceCheck {
	examined := make(chan SourceCheck, 1)
	go func() { examined <- examine(ctx, source, subject, wait.ask) }()
	within, enough := context.WithTimeout(ctx, wait.open)
	defer enough()
	if check, ok := received(examined, within); ok {
		return check
	}
	d := source.Describe()
	return SourceCheck{
		Name: d.Name, State: Blind, Series: []string{}, Doc: d.Doc, Needs: d.Needs, Cost: d.Cost,
		Why: fmt.Sprintf("it did not open and deliver within %v", wait.open), Enable: d.Needs,
	}
}

// examine opens one source and checks its output for a moment.
func examine(ctx context.Context, source observe.Source, subject observe.Subject, wait time.Duration) SourceCheck {
	d := source.Describe()
	check := SourceCheck{Name: d.Name, State: Sees, Series: []string{}, Doc: d.Doc, Needs: d.Needs, Cost: d.Cost}
	ctx, cancel := context.WithTimeout(ctx, wait+look)
	defer cancel()
	err := source.Open(ctx, subject)
	var refusal *observe.Unsupported
	switch {
	case errors.As(err, &refusal):
		check.State, check.Why, check.Enable = Blind, refusal.What, refusal.Enable
		if refusal.NotAsked {
			check.State = NotAsked
		}
		if refusal.Err != nil {
			check.Why += ": " + redact.Text(refusal.Err.Error())
		}
	case err != nil:
		check.State, check.Why = Blind, redact.Text(err.Error())
	}
	if err != nil {
		return check
	}
	ctx, stop := context.WithTimeout(ctx, look)
	defer stop()
	seen := &names{}
	err = source.Run(ctx, seen)
	check.Series = seen.sorted()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		check.State, check.Why = Blind, redact.Text(err.Error())
		return check
	}
	reporter, ok := source.(observe.Reporter)
	if _, waits := source.(*spans.Source); ok && !waits { // no span within a moment means nothing
		// Without a sample, Why only says that the run was short.
		if h := reporter.Health(); h.Samples > 0 && h.Why != "" {
			check.State, check.Why = Partly, redact.Text(h.Why)
		}
	}
	return check
}

// alone corrects the state if no target was named: nothing is wrong if there is no
// way into a runtime that nobody asked about.
func (c *SourceCheck) alone(source observe.Source) {
	switch source.(type) {
	case *goruntime.Metrics, *goruntime.Profiles, *goruntime.Traces:
		if c.State == Blind {
			c.State = NotAsked
		}
	}
}

// names is a sink that keeps only the names of series.
type names struct {
	mu   sync.Mutex
	seen map[string]bool
}

var _ observe.Sink = (*names)(nil)

// Add implements observe.Sink.
func (n *names) Add(points ...series.Point) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	for _, p := range points {
		n.seen[p.Series.Name] = true
	}
	return nil
}

// Profile implements observe.Sink.
func (*names) Profile(record.Profile) error { return nil }

// Trace implements observe.Sink.
func (*names) Trace(record.Trace) error { return nil }

func (n *names) sorted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := make([]string, 0, len(n.seen))
	for name := range n.seen {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
