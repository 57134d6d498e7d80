package scenario

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Bounds of a load besides those of rates, connections and durations.
const (
	MaxStreams  = 1000                    // of one connection
	MaxRequests = min(1<<40, math.MaxInt) // of one load
	maxThreads  = 256
	maxSources  = 256
)

// load decodes how the requests are timed.
func (d *decoder) load(n ast.Node) {
	l := &d.plan.Load
	duration := func(name string, to *time.Duration, parse func(string) (time.Duration, error)) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { scalar(d, n, name, to, parse) }}
	}
	rate := func(name string, to *float64) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { scalar(d, n, name, to, ParseRate) }}
	}
	count := func(name string, to *int, high int) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) {
			scalar(d, n, name, to, func(s string) (int, error) { return parseCount(s, 1, high) })
		}}
	}
	var stages, replay ast.Node
	var limit, requests int
	seen := d.mapping(n, "load", []key{
		rate("rate", &l.Rate), rate("rate_per_connection", &l.PerConnection), rate("connect_rate", &l.ConnectRate),
		count("connections", &l.Connections, MaxConnections), count("max_connections", &limit, MaxConnections),
		count("requests", &requests, MaxRequests), count("streams", &l.Streams, MaxStreams), count("threads", &l.Threads, maxThreads),
		duration("duration", &l.Duration, positiveDuration), duration("warmup", &l.Warmup, ParseDuration),
		duration("timeout", &l.Timeout, positiveDuration), duration("grace", &l.Grace, positiveDuration),
		{name: "arrivals", decode: func(d *decoder, n ast.Node) { scalar(d, n, "arrivals", &l.Arrivals, parseArrivals) }},
		{name: "think", decode: (*decoder).think},
		{name: "sources", decode: (*decoder).sources},
		{name: "stages", decode: func(_ *decoder, n ast.Node) { stages = n }},
		{name: "replay", decode: func(_ *decoder, n ast.Node) { replay = n }},
	})
	d.remember("load", seen)
	l.Requests = int64(requests)
	d.replayAt = replay
	if at := seen["connections"]; at != nil && seen["rate"] != nil {
		d.fail(at, "keep one; max_connections caps the connections of a rate", "rate (open loop) and connections (closed loop) exclude each other")
		return
	}
	if at := seen["connections"]; at != nil && replay != nil {
		d.fail(at, "max_connections caps the connections of a replay", "replay (open loop) and connections (closed loop) exclude each other")
	}
	if at := seen["rate_per_connection"]; at != nil && seen["rate"] != nil {
		d.fail(at, "keep one; the rates of all connections add up to the rate", "rate and rate_per_connection exclude each other")
	}
	if at := seen["max_connections"]; at != nil {
		if seen["rate"] == nil && replay == nil {
			d.fail(at, "use connections", "max_connections caps the connections of a rate, and there is none")
		}
		l.Connections = limit
	}
	d.stages(stages, seen["rate"] != nil)
}

func (d *decoder) stages(n ast.Node, open bool) {
	if n == nil {
		return
	}
	for _, e := range d.elements(n, "stages") {
		var s Stage
		seen := d.mapping(e, "a stage", []key{
			{name: "to", decode: func(d *decoder, n ast.Node) {
				if open {
					scalar(d, n, "to", &s.To, ParseRate)
					return
				}
				scalar(d, n, "to", &s.To, func(text string) (float64, error) {
					n, err := parseCount(text, 1, MaxConnections)
					return float64(n), err
				})
			}},
			{name: "over", decode: func(d *decoder, n ast.Node) { scalar(d, n, "over", &s.Over, positiveDuration) }},
		})
		for _, name := range []string{"to", "over"} {
			if seen[name] == nil {
				d.fail(e, "write it as {to: 4000/s, over: 10s}", "a stage has no %s", name)
			}
		}
		d.plan.Load.Stages = append(d.plan.Load.Stages, s)
	}
}

func parseArrivals(text string) (Arrivals, error) {
	word, err := oneOf(string(ConstantArrivals), string(PoissonArrivals))(text)
	return Arrivals(word), err
}

// think decodes a time, or {min, max} or {mean}.
func (d *decoder) think(n ast.Node) {
	t := &d.plan.Load.Think
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		scalar(d, n, "think", t, ParseThink)
		return
	}
	duration := func(name string, to *time.Duration) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { scalar(d, n, name, to, ParseDuration) }}
	}
	before := len(d.errs)
	d.mapping(n, "think", []key{duration("min", &t.Min), duration("max", &t.Max), duration("mean", &t.Mean)})
	if err := t.validate(); err != nil && len(d.errs) == before {
		d.failErr(n, "think", err)
	}
}

// ParseThink parses a think time as flags have it: "200ms", which is fixed,
// "min=100ms,max=300ms" or "mean=200ms".
func ParseThink(text string) (Think, error) {
	var t Think
	if !strings.Contains(text, "=") {
		d, err := positiveDuration(text)
		return Think{Min: d, Max: d}, err
	}
	for item := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		to, known := map[string]*time.Duration{"min": &t.Min, "max": &t.Max, "mean": &t.Mean}[strings.TrimSpace(name)]
		if !known {
			return t, mistakef(thinkHint, "%.40q is not known in a think time", name)
		}
		var err error
		if *to, err = ParseDuration(value); err != nil {
			return t, err
		}
	}
	return t, t.validate()
}

const thinkHint = "write it as 200ms, as min and max, or as mean (exponential)"

func (t Think) validate() error {
	switch {
	case t.Min < 0 || t.Max < 0 || t.Mean < 0 || t.Max > MaxDuration || t.Mean > MaxDuration:
		return mistakef("", "a think time is not within 0 and %v", MaxDuration)
	case t.Mean > 0 && (t.Min > 0 || t.Max > 0):
		return mistakef(thinkHint, "mean and min or max exclude each other")
	case t.Min > t.Max:
		return mistakef(thinkHint, "the least think time, %v, is above the most, %v", t.Min, t.Max)
	}
	return nil
}

func (d *decoder) sources(n ast.Node) {
	for _, e := range d.elements(n, "sources") {
		var addr netip.Addr
		before := len(d.errs)
		scalar(d, e, "sources", &addr, ParseSource)
		if len(d.errs) == before {
			d.plan.Load.Sources = append(d.plan.Load.Sources, addr)
		}
	}
}

// ParseSource parses a local address that connections may start from. Whether
// this host has it shows when the first connection is opened.
func ParseSource(text string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil {
		return addr, mistakef("write it as 127.0.0.2 or ::1", "%.60q is not an IP address", text)
	}
	return addr.Unmap(), checkSource(addr.Unmap())
}

func checkSource(addr netip.Addr) error {
	if !addr.IsValid() || addr.IsUnspecified() || addr.IsMulticast() {
		return mistakef("name an address of this host", "a connection cannot start from %s", addr)
	}
	return nil
}

// WithDefaults returns the load with its zero values replaced by their meaning.
// Streams stays as it is: 0 and 1 are the same.
func (l Load) WithDefaults() Load {
	if l.Connections == 0 {
		l.Connections = DefaultConnections
		if l.Open() && l.PerConnection == 0 {
			l.Connections = DefaultCap
		}
	}
	if l.PerConnection > 0 {
		l.Rate = l.PerConnection * float64(l.Connections)
	}
	if l.Duration == 0 {
		switch {
		case l.Replay != nil:
			l.Duration = max(l.Replay.length()-l.Warmup, time.Second)
		case l.Requests > 0:
			l.Duration = MaxDuration // the count ends the load, at an unknown time
		default:
			l.Duration = DefaultDuration
		}
	}
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.Grace == 0 {
		l.Grace = DefaultGrace
	}
	return l
}

// validate checks the load and sets its defaults.
func (l *Load) validate() error {
	if err := l.validateModel(); err != nil {
		return err
	}
	*l = l.WithDefaults()
	if l.Connections < 0 || l.Connections > MaxConnections {
		return fmt.Errorf("%d connections are not from 1 to %d", l.Connections, MaxConnections)
	}
	if math.IsNaN(l.Rate) || l.Rate < 0 || l.Rate > MaxRate {
		return fmt.Errorf("a rate of %g/s is not within 0 and %g", l.Rate, MaxRate)
	}
	if err := l.validateConnections(); err != nil {
		return err
	}
	if err := l.validateDurations(); err != nil {
		return err
	}
	return l.validateStages()
}

// validateModel checks that the load has exactly one model.
func (l *Load) validateModel() error {
	switch {
	case math.IsNaN(l.PerConnection) || l.PerConnection < 0 || l.PerConnection > MaxRate:
		return fmt.Errorf("a rate of %g/s for each connection is not within 0 and %g", l.PerConnection, MaxRate)
	case l.Replay != nil && (l.Rate > 0 || l.PerConnection > 0):
		return conflictf("load.replay", "keep one", "a replayed log has its own times, so it takes no rate")
	case l.Replay != nil && len(l.Stages) > 0:
		return conflictf("load.stages", "use replay's speed", "a replayed log has its own times, so it takes no stages")
	case l.PerConnection > 0 && len(l.Stages) > 0:
		return conflictf("load.stages", "use rate with stages", "stages ramp a rate or connections, not the rate of each connection")
	}
	switch l.Arrivals {
	case "", ConstantArrivals:
	case PoissonArrivals:
		if l.Rate <= 0 || l.PerConnection > 0 {
			return conflictf("load.arrivals", "add rate: 100/s", "poisson arrivals need the rate of all connections")
		}
	default:
		return fmt.Errorf("arrivals %.40q are not known", string(l.Arrivals))
	}
	if err := l.Think.validate(); err != nil {
		return fmt.Errorf("think: %w", err)
	}
	if l.Think != (Think{}) && (l.Open() || l.PerConnection > 0) {
		return conflictf("load.think", "use connections, or leave think out", "think is for a closed loop: requests of a rate or a replay are due whatever was answered")
	}
	return nil
}

func (l *Load) validateConnections() error {
	switch {
	case l.Streams < 0 || l.Streams > MaxStreams:
		return fmt.Errorf("%d streams are not from 1 to %d", l.Streams, MaxStreams)
	case l.Requests < 0 || l.Requests > MaxRequests:
		return fmt.Errorf("%d requests are not from 1 to %d", l.Requests, int64(MaxRequests))
	case l.Threads < 0 || l.Threads > maxThreads:
		return fmt.Errorf("%d threads are not from 1 to %d", l.Threads, maxThreads)
	case math.IsNaN(l.ConnectRate) || l.ConnectRate < 0 || l.ConnectRate > MaxRate:
		return fmt.Errorf("a connect_rate of %g/s is not within 0 and %g", l.ConnectRate, MaxRate)
	case len(l.Sources) > maxSources:
		return conflictf("load.sources", "", "%d sources, at most %d are allowed", len(l.Sources), maxSources)
	}
	for i, addr := range l.Sources {
		if err := checkSource(addr); err != nil {
			return fmt.Errorf("sources: %w", err)
		}
		if slices.Contains(l.Sources[:i], addr) {
			return conflictf("load.sources", "", "source %s appears twice", addr)
		}
	}
	return nil
}

func (l *Load) validateDurations() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"duration", l.Duration}, {"warmup", l.Warmup}, {"timeout", l.Timeout}, {"grace", l.Grace}} {
		if d.value < 0 || d.value > MaxDuration {
			return fmt.Errorf("a %s of %v is not within 0 and %v", d.name, d.value, MaxDuration)
		}
	}
	return nil
}

func (l *Load) validateStages() error {
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
