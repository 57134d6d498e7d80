package scenario

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/scalar"
)

// Bounds of a load; those of rates, connections and durations are scalar's.
const (
	MaxStreams  = 1000                    // of one connection
	MaxRequests = min(1<<40, math.MaxInt) // of one load
	MaxThreads  = 256
	maxSources  = 256
)

// ParseArrivals parses "constant" or "poisson".
func ParseArrivals(text string) (Arrivals, error) {
	word, err := scalar.OneOf(string(ConstantArrivals), string(PoissonArrivals))(text)
	return Arrivals(word), err
}

// ParseThink parses a think time in the form of flags: "200ms", which is fixed,
// "min=100ms,max=300ms" or "mean=200ms".
func ParseThink(text string) (Think, error) {
	var t Think
	if !strings.Contains(text, "=") {
		d, err := scalar.ParsePositive(text)
		return Think{Min: d, Max: d}, err
	}
	for item := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		to, known := map[string]*time.Duration{"min": &t.Min, "max": &t.Max, "mean": &t.Mean}[strings.TrimSpace(name)]
		if !known {
			return t, mistake.Newf(thinkHint, "%.40q is not known in a think time", name)
		}
		var err error
		if *to, err = scalar.ParseDuration(value); err != nil {
			return t, err
		}
	}
	return t, t.Validate()
}

const thinkHint = "write it as 200ms, as min and max, or as mean (exponential)"

// Validate reports bounds that contradict each other, or are negative or beyond
// scalar.MaxDuration. The zero Think is valid.
func (t Think) Validate() error {
	switch {
	case t.Min < 0 || t.Max < 0 || t.Mean < 0 || t.Max > scalar.MaxDuration || t.Mean > scalar.MaxDuration:
		return mistake.Newf("", "a think time is not within 0 and %v", scalar.MaxDuration)
	case t.Mean > 0 && (t.Min > 0 || t.Max > 0):
		return mistake.Newf(thinkHint, "mean and min or max exclude each other")
	case t.Min > t.Max:
		return mistake.Newf(thinkHint, "the least think time, %v, is above the most, %v", t.Min, t.Max)
	}
	return nil
}

// ParseSource parses a local address that connections may start from. Whether
// this host has it shows when the first connection is opened.
func ParseSource(text string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil {
		return addr, mistake.Newf("write it as 127.0.0.2 or ::1", "%.60q is not an IP address", text)
	}
	return addr.Unmap(), checkSource(addr.Unmap())
}

func checkSource(addr netip.Addr) error {
	if !addr.IsValid() || addr.IsUnspecified() || addr.IsMulticast() {
		return mistake.Newf("name an address of this host", "a connection cannot start from %s", addr)
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
			l.Duration = scalar.MaxDuration // the count ends the load, at an unknown time
		default:
			l.Duration = DefaultDuration
		}
	}
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	return l
}

// validate checks the load and sets its defaults.
func (l *Load) validate() error {
	if err := l.validateModel(); err != nil {
		return err
	}
	*l = l.WithDefaults()
	if l.Connections < 0 || l.Connections > scalar.MaxConnections {
		return fmt.Errorf("%d connections are not from 1 to %d", l.Connections, scalar.MaxConnections)
	}
	if math.IsNaN(l.Rate) || l.Rate < 0 || l.Rate > scalar.MaxRate {
		return fmt.Errorf("a rate of %g/s is not within 0 and %g", l.Rate, scalar.MaxRate)
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
	case math.IsNaN(l.PerConnection) || l.PerConnection < 0 || l.PerConnection > scalar.MaxRate:
		return fmt.Errorf("a rate of %g/s for each connection is not within 0 and %g", l.PerConnection, scalar.MaxRate)
	case l.Replay != nil && (l.Rate > 0 || l.PerConnection > 0):
		return mistake.Conflictf("load.replay", "keep one", "a replayed log has its own times, so it takes no rate")
	case l.Replay != nil && len(l.Stages) > 0:
		return mistake.Conflictf("load.stages", "use replay's speed", "a replayed log has its own times, so it takes no stages")
	case l.PerConnection > 0 && len(l.Stages) > 0:
		return mistake.Conflictf("load.stages", "use rate with stages",
			"stages ramp a rate or connections, not the rate of each connection")
	}
	switch l.Arrivals {
	case "", ConstantArrivals:
	case PoissonArrivals:
		if l.Rate <= 0 || l.PerConnection > 0 {
			return mistake.Conflictf("load.arrivals", "add rate: 100/s", "poisson arrivals need the rate of all connections")
		}
	default:
		return fmt.Errorf("arrivals %.40q are not known", string(l.Arrivals))
	}
	if err := l.Think.Validate(); err != nil {
		return fmt.Errorf("think: %w", err)
	}
	if l.Think != (Think{}) && (l.Open() || l.PerConnection > 0) {
		return mistake.Conflictf("load.think", "use connections, or leave think out",
			"think is for a closed loop: requests of a rate or a replay are due whether or not earlier ones were answered")
	}
	return nil
}

func (l *Load) validateConnections() error {
	switch {
	case l.Streams < 0 || l.Streams > MaxStreams:
		return fmt.Errorf("%d streams are not from 1 to %d", l.Streams, MaxStreams)
	case l.Requests < 0 || l.Requests > MaxRequests:
		return fmt.Errorf("%d requests are not from 1 to %d", l.Requests, int64(MaxRequests))
	case l.Threads < 0 || l.Threads > MaxThreads:
		return fmt.Errorf("%d threads are not from 1 to %d", l.Threads, MaxThreads)
	case math.IsNaN(l.ConnectRate) || l.ConnectRate < 0 || l.ConnectRate > scalar.MaxRate:
		return fmt.Errorf("a connect_rate of %g/s is not within 0 and %g", l.ConnectRate, scalar.MaxRate)
	case len(l.Sources) > maxSources:
		return mistake.Conflictf("load.sources", "", "%d sources, at most %d are allowed", len(l.Sources), maxSources)
	}
	for i, addr := range l.Sources {
		if err := checkSource(addr); err != nil {
			return fmt.Errorf("sources: %w", err)
		}
		if slices.Contains(l.Sources[:i], addr) {
			return mistake.Conflictf("load.sources", "", "source %s appears twice", addr)
		}
	}
	return nil
}

func (l *Load) validateDurations() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"duration", l.Duration}, {"warmup", l.Warmup}, {"timeout", l.Timeout}, {"grace", l.Grace}} {
		if d.value < 0 || d.value > scalar.MaxDuration {
			return fmt.Errorf("a %s of %v is not within 0 and %v", d.name, d.value, scalar.MaxDuration)
		}
	}
	return nil
}

func (l *Load) validateStages() error {
	var over time.Duration
	for i, s := range l.Stages {
		limit := float64(scalar.MaxConnections)
		if l.Open() {
			limit = scalar.MaxRate
		}
		if !(s.To > 0 && s.To <= limit) || s.Over <= 0 || s.Over > scalar.MaxDuration {
			return fmt.Errorf("stage %d: to and over must be above 0 and within their bounds", i+1)
		}
		over += s.Over
	}
	if over > l.Duration {
		return fmt.Errorf("the stages take %v, which is longer than the duration of %v", over, l.Duration)
	}
	return nil
}
