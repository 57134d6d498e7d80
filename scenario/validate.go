package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Defaults of a load, set by Validate where a field is zero.
const (
	DefaultConnections = 64  // closed loop
	DefaultCap         = 512 // open loop: connections at most
	DefaultDuration    = 30 * time.Second
	DefaultTimeout     = 10 * time.Second
	DefaultGrace       = 2 * time.Second
	DefaultReady       = 30 * time.Second
)

// Validate checks the plan as a whole and sets the defaults of fields that are
// zero. Parse, FromURL and Apply call it.
func (p *Plan) Validate() error {
	if err := p.Load.validate(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if err := p.Target.validate(); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	for _, name := range feederNames(p) {
		if err := checkTable(name, p.Data[name]); err != nil {
			return fmt.Errorf("data: %w", err)
		}
	}
	if len(p.Requests) == 0 {
		return errors.New("requests: there are none")
	}
	var names []string
	for i := range p.Requests {
		r := &p.Requests[i]
		if r.Weight == 0 {
			r.Weight = 1
		}
		if err := r.validate(p); err != nil {
			return fmt.Errorf("request %d (%.60s): %w", i+1, r.Name, err)
		}
		if slices.Contains(names, r.Name) {
			return fmt.Errorf("request %d: its name %q is taken", i+1, r.Name)
		}
		names = append(names, r.Name)
	}
	for _, t := range p.Thresholds {
		if _, err := ParseThreshold(t.Expr); err != nil {
			return fmt.Errorf("threshold %q: %w", t.Expr, err)
		}
	}
	if p.Observe.Pprof != "" {
		if _, err := checkURL(p.Observe.Pprof); err != nil {
			return fmt.Errorf("observe: pprof: %w", err)
		}
	}
	return nil
}

func (l *Load) validate() error {
	if math.IsNaN(l.Rate) || l.Rate < 0 || l.Rate > MaxRate {
		return fmt.Errorf("a rate of %g/s is not within 0 and %g", l.Rate, MaxRate)
	}
	if l.Connections == 0 {
		l.Connections = DefaultConnections
		if l.Open() {
			l.Connections = DefaultCap
		}
	}
	if l.Connections < 0 || l.Connections > MaxConnections {
		return fmt.Errorf("%d connections are not from 1 to %d", l.Connections, MaxConnections)
	}
	for _, d := range []struct {
		name     string
		value    *time.Duration
		fallback time.Duration
	}{
		{"duration", &l.Duration, DefaultDuration}, {"warmup", &l.Warmup, 0},
		{"timeout", &l.Timeout, DefaultTimeout}, {"grace", &l.Grace, DefaultGrace},
	} {
		if *d.value == 0 {
			*d.value = d.fallback
		}
		if *d.value < 0 || *d.value > MaxDuration {
			return fmt.Errorf("a %s of %v is not within 0 and %v", d.name, *d.value, MaxDuration)
		}
	}
	var over time.Duration
	for i, s := range l.Stages {
		limit := float64(MaxConnections)
		if l.Open() {
			limit = MaxRate
		}
		if !(s.To > 0 && s.To <= limit) || s.Over <= 0 || s.Over > MaxDuration {
			return fmt.Errorf("stage %d: to and over must be above 0 and within their bounds", i+1)
		}
		over += s.Over
	}
	if over > l.Duration {
		return fmt.Errorf("the stages take %v, which is longer than the duration of %v", over, l.Duration)
	}
	return nil
}

func (t *Target) validate() error {
	ways := 0
	for _, set := range []bool{len(t.Exec) > 0, t.Build != "", t.PID != 0} {
		if set {
			ways++
		}
	}
	switch {
	case ways > 1:
		return errors.New("exec, build and pid exclude each other")
	case t.PID < 0:
		return fmt.Errorf("%d is not a process id", t.PID)
	case len(t.Exec) > 0 && t.Exec[0] == "":
		return errors.New("the command of exec is empty")
	case (len(t.Args) > 0 || len(t.Env) > 0) && len(t.Exec) == 0 && t.Build == "":
		return errors.New("args and env belong to exec or build, and there is neither")
	case t.ReadyTimeout < 0 || t.ReadyTimeout > MaxDuration:
		return fmt.Errorf("a ready_timeout of %v is not within 0 and %v", t.ReadyTimeout, MaxDuration)
	}
	for _, arg := range slices.Concat(t.Exec, t.Args, []string{t.Build}) {
		if strings.ContainsRune(arg, 0) {
			return errors.New("an argument holds a NUL byte")
		}
	}
	if t.Ready != "" {
		if _, err := checkURL(t.Ready); err != nil {
			return fmt.Errorf("ready: %w", err)
		}
	}
	if t.ReadyTimeout == 0 {
		t.ReadyTimeout = DefaultReady
	}
	return nil
}

func (r *Request) validate(p *Plan) error {
	if r.Name == "" {
		return errors.New("it has no name")
	}
	if r.Weight < 1 {
		return fmt.Errorf("weight %d is not above 0", r.Weight)
	}
	if r.Expect != 0 && (r.Expect < 100 || r.Expect > 599) {
		return fmt.Errorf("%d is not a status", r.Expect)
	}
	if _, err := checkMethod(r.Method); err != nil {
		return err
	}
	if _, err := checkTemplateURL(string(r.URL)); err != nil {
		return err
	}
	if _, err := CompileURL(r.URL, p); err != nil {
		return err
	}
	for name, value := range r.Headers {
		if _, err := checkHeaderName(name); err != nil {
			return err
		}
		if strings.ContainsAny(string(value), "\r\n\x00") {
			return fmt.Errorf("header %s holds a line break", name)
		}
		if _, err := CompileHeader(Template(value), p); err != nil {
			return fmt.Errorf("header %s: its value has a place that no feeder fills", name) // without the value
		}
	}
	_, err := CompileTemplate(r.Body, p)
	return err
}
