package scenario

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Flags are what the command line says of a run. The zero value of a field
// means that its flag was not given.
type Flags struct {
	Connections int            // -c: closed loop; with Rate, the cap on connections
	Rate        string         // --rate: open loop, as ParseRate reads it
	Duration    time.Duration  // -d
	Warmup      *time.Duration // --warmup; nil is not given, 0 is none
	Timeout     time.Duration  // --timeout
	Grace       time.Duration  // --grace

	Method  string   // --method, for a URL only
	Body    string   // --body, for a URL only
	Headers []string // -H "Name: value", added to every request

	Exec  string   // --exec: a command, as SplitCommand reads it
	Build string   // --build
	PID   int      // --pid
	Args  []string // after --
	Ready string   // --ready

	Pprof      string   // --pprof
	Postgres   string   // --postgres
	Thresholds []string // --threshold, added
	Redact     []string // --redact, added
}

// DefaultWarmup is the warm-up of a run from flags alone. A scenario file has
// none unless it says so.
const DefaultWarmup = 5 * time.Second

// FromURL returns the plan of a run against one URL.
func FromURL(target string, f Flags) (*Plan, error) {
	if _, err := checkURL(target); err != nil {
		return nil, err
	}
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	r := Request{Method: "GET", URL: Template(target), Weight: 1, Body: Template(f.Body)}
	if strings.Contains(target, "{{") || strings.Contains(f.Body, "{{") {
		return nil, mistakef("write a scenario file", "{{ needs data, and a URL alone has none")
	}
	if f.Method != "" {
		if r.Method, err = checkMethod(f.Method); err != nil {
			return nil, fmt.Errorf("--method: %w", err)
		}
	} else if f.Body != "" {
		r.Method = "POST"
	}
	r.Name = r.Method + " " + pathOf(target)
	p := &Plan{
		Name: u.Hostname(), Requests: []Request{r}, Data: map[string]*Table{},
		Load: Load{Warmup: DefaultWarmup},
	}
	f.Method, f.Body = "", ""
	if err := p.Apply(f); err != nil {
		return nil, err
	}
	return p, nil
}

// Apply overrides the plan by flags and validates it. On an error the plan is
// as it was.
func (p *Plan) Apply(f Flags) error {
	next := *p
	if f.Method != "" || f.Body != "" {
		return mistakef("change them in the file", "--method and --body are for a URL, not for a scenario file")
	}
	if err := next.Load.apply(f); err != nil {
		return err
	}
	if err := next.Target.apply(f); err != nil {
		return err
	}
	if err := next.applyHeaders(f.Headers); err != nil {
		return err
	}
	if f.Pprof != "" {
		next.Observe.Pprof = f.Pprof
	}
	if f.Postgres != "" {
		next.Observe.Postgres = f.Postgres
	}
	next.Thresholds = append([]Threshold(nil), p.Thresholds...)
	for _, expr := range f.Thresholds {
		t, err := ParseThreshold(expr)
		if err != nil {
			return fmt.Errorf("--threshold: %w", err)
		}
		next.Thresholds = append(next.Thresholds, t)
	}
	next.Redact = append([]string(nil), p.Redact...)
	for _, name := range f.Redact {
		if _, err := checkHeaderName(name); err != nil {
			return fmt.Errorf("--redact: %w", err)
		}
		next.Redact = append(next.Redact, name)
	}
	if err := next.Validate(); err != nil {
		return err
	}
	*p = next
	return nil
}

func (l *Load) apply(f Flags) error {
	wasOpen := l.Open()
	if f.Rate != "" {
		rate, err := ParseRate(f.Rate)
		if err != nil {
			return fmt.Errorf("--rate: %w", err)
		}
		l.Rate = rate
		if !wasOpen {
			l.Connections = 0 // it led the closed loop and is no cap
		}
	} else if f.Connections != 0 {
		l.Rate = 0
	}
	if f.Connections != 0 {
		l.Connections = f.Connections
	}
	if wasOpen != l.Open() && len(l.Stages) > 0 && (f.Rate != "" || f.Connections != 0) {
		return mistakef("change the file's load instead", "the scenario's stages do not fit the other kind of load")
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
		to    *time.Duration
	}{{"-d", f.Duration, &l.Duration}, {"--timeout", f.Timeout, &l.Timeout}, {"--grace", f.Grace, &l.Grace}} {
		if d.value < 0 {
			return fmt.Errorf("%s: duration %v is negative", d.flag, d.value)
		}
		if d.value != 0 {
			*d.to = d.value
		}
	}
	if f.Warmup != nil {
		l.Warmup = *f.Warmup
	}
	return nil
}

func (t *Target) apply(f Flags) error {
	if f.Exec != "" || f.Build != "" || f.PID != 0 {
		t.Exec, t.Build, t.PID = nil, f.Build, f.PID
	}
	if f.Exec != "" {
		words, err := SplitCommand(f.Exec)
		if err != nil {
			return fmt.Errorf("--exec: %w", err)
		}
		t.Exec = words
	}
	if len(f.Args) > 0 {
		t.Args = f.Args
	}
	if f.Ready != "" {
		t.Ready = f.Ready
	}
	return nil
}

// applyHeaders adds headers, written "Name: value", to every request.
func (p *Plan) applyHeaders(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	requests := make([]Request, len(p.Requests))
	for i, r := range p.Requests {
		headers := map[string]Secret{}
		for name, value := range r.Headers {
			headers[name] = value
		}
		for _, line := range lines {
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				return mistakef(`write it as -H "Name: value"`, "-H: a header has no colon")
			}
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			if _, err := checkHeaderName(name); err != nil {
				return fmt.Errorf("-H: %w", err)
			}
			for other := range headers {
				if strings.EqualFold(other, name) {
					delete(headers, other)
				}
			}
			headers[name] = Secret(value)
		}
		r.Headers = headers
		requests[i] = r
	}
	p.Requests = requests
	return nil
}
