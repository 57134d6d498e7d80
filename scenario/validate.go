package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

// Defaults of a load, set by Validate where a field is zero.
const (
	DefaultConnections = 64  // closed loop
	DefaultCap         = 512 // open loop: connections at most
	DefaultDuration    = 30 * time.Second
	DefaultTimeout     = 10 * time.Second
	LeastGrace         = 2 * time.Second
	DefaultReady       = 30 * time.Second
)

// Validate checks the plan as a whole and sets the defaults of zero fields. Parse,
// FromURL and Apply call it.
func (p *Plan) Validate() error {
	if p.Load.Duration == 0 {
		p.openEnded = true
	}
	if err := p.Load.validate(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if err := p.Target.validate(); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	for _, name := range feeder.Names(p.Data) {
		if err := feeder.Check(name, p.Data[name]); err != nil {
			return fmt.Errorf("data: %w", err)
		}
	}
	if err := p.validateRequests(); err != nil {
		return err
	}
	if err := p.validateProtocol(); err != nil {
		return err
	}
	if p.Load.Replay != nil {
		if err := p.Load.Replay.validate(p); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	p.nameless()
	if err := p.validateTokens(); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	for _, t := range p.Thresholds {
		if _, err := criteria.ParseThreshold(t.Expr); err != nil {
			return fmt.Errorf("threshold %q: %w", t.Expr, err)
		}
	}
	if p.Observe.Pprof != "" {
		if _, err := protocol.CheckURL(p.Observe.Pprof); err != nil {
			return fmt.Errorf("observe: pprof: %w", err)
		}
	}
	if err := p.Observe.validateOTLP(); err != nil {
		return fmt.Errorf("observe: otlp: %w", err)
	}
	return p.Export.validate()
}

func (p *Plan) validateRequests() error {
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
			return fmt.Errorf("request %d (%.60s): %w", i+1, r.Name, mistake.Within(RequestSection(i), err))
		}
		if slices.Contains(names, r.Name) {
			return fmt.Errorf("request %d: its name %q is taken", i+1, r.Name)
		}
		names = append(names, r.Name)
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
	case t.Dir != "" && len(t.Exec) == 0 && t.Build == "":
		return errors.New("dir belongs to exec or build, and there is neither")
	case len(t.BuildFlags) > 0 && t.Build == "":
		return errors.New("build_flags belong to build, and there is none")
	case t.ReadyTimeout < 0 || t.ReadyTimeout > scalar.MaxDuration:
		return fmt.Errorf("a ready_timeout of %v is not within 0 and %v", t.ReadyTimeout, scalar.MaxDuration)
	}
	for _, arg := range slices.Concat(t.Exec, t.Args, t.BuildFlags, []string{t.Build, t.Dir}) {
		if strings.ContainsRune(arg, 0) {
			return errors.New("an argument holds a NUL byte")
		}
	}
	if t.Ready != "" {
		if _, err := protocol.CheckURL(t.Ready); err != nil {
			return fmt.Errorf("ready: %w", err)
		}
	}
	*t = t.WithDefaults()
	return nil
}

// WithDefaults returns the target with what it leaves out filled in.
func (t Target) WithDefaults() Target {
	switch {
	case t.ReadyTimeout != 0:
	case t.Build == "" && len(t.Exec) == 0 && t.Ready == "":
		t.ReadyTimeout = time.Second // it runs already: it is either there or the address is wrong
	default:
		t.ReadyTimeout = DefaultReady
	}
	return t
}

// validateTokens refuses tokens that expire before the load has ended: from then on
// only refusals would be measured.
func (p *Plan) validateTokens() error {
	l := p.Load
	if l.Requests > 0 && l.Duration == scalar.MaxDuration {
		return nil // the count ends the load, at an unknown time
	}
	for _, name := range feeder.Names(p.Data) {
		if ttl := p.Data[name].TTL; ttl > 0 && ttl < l.Warmup+l.Duration {
			need := (l.Warmup + l.Duration + max(l.Grace, LeastGrace)).Round(time.Second)
			return mistake.Conflictf("data."+name, fmt.Sprintf("ttl: %v, or more", need),
				"the tokens of feeder %s live for %v, and the load takes %v", name, ttl, l.Warmup+l.Duration)
		}
	}
	return nil
}

// validateProtocol determines the plan's protocol from the schemes of its URLs, and
// checks the settings that only some protocols have.
func (p *Plan) validateProtocol() error {
	secure := false
	for i := range p.Requests {
		r := &p.Requests[i]
		own, first := protocol.Of(r.URL, p.Protocol), protocol.Of(p.Requests[0].URL, p.Protocol)
		if own != first {
			return fmt.Errorf("request %d (%.60s): it speaks %s, and the first speaks %s (give each protocol a scenario of its own)",
				i+1, r.Name, own, first)
		}
		if err := r.validateFor(own); err != nil {
			return fmt.Errorf("request %d (%.60s): %w", i+1, r.Name, mistake.Within(RequestSection(i), err))
		}
		secure = secure || protocol.Secure(r.URL)
	}
	spoken := protocol.Of(p.Requests[0].URL, p.Protocol)
	if p.Protocol != "" && p.Protocol != spoken {
		return mistake.Conflictf("protocol", "leave it out", "the requests speak %s, not %s", spoken, p.Protocol)
	}
	p.Protocol = spoken
	switch {
	case p.Load.Streams > 1 && spoken != protocol.HTTP2 && spoken != protocol.RPC:
		return mistake.Conflictf("load.streams", "streams are for h2 and grpc", "a connection of %s carries one request at a time", spoken)
	case p.GRPC.DescriptorFile != "" && spoken != protocol.RPC:
		return mistake.Conflictf("grpc", "leave it out", "a descriptor set is for grpc requests, and there are none")
	case !p.TLS.isZero() && !secure:
		return mistake.Conflictf("tls", "use https, grpcs or wss", "TLS is set, and no request uses it")
	}
	if err := p.TLS.Validate(); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	return nil
}

// RequestSection is the section of a request's keys.
func RequestSection(index int) string { return "requests[" + strconv.Itoa(index) + "]" }
