package postgres

import (
	"slices"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// maxApplications bounds the names that get series of their own.
	maxApplications = 16
	// other stands for the rest, unnamed for an empty name.
	other, unnamed = "other", "(unnamed)"
)

// pool describes the target's connections as the server sees them. Connections that
// come and go between two readings are not seen; the server counts them in
// postgres.sessions.
type pool struct {
	known  map[int32]time.Time        // pid to start, as of the last reading; nil before it
	states map[string]map[string]bool // states seen, by application
}

// ofApplication holds the figures of one application name.
type ofApplication struct {
	states map[string]int
	ages   []time.Duration
	opened int
}

// deliver delivers the connections seen at an edge.
func (p *pool) deliver(meter *observe.Meter, edge time.Duration, clients []server.Client) {
	if p.states == nil {
		p.states = map[string]map[string]bool{}
	}
	now := map[string]*ofApplication{}
	known := make(map[int32]time.Time, len(clients))
	for _, c := range clients {
		name := p.name(c.Application)
		a := now[name]
		if a == nil {
			a = &ofApplication{states: map[string]int{}}
			now[name] = a
		}
		state := c.State
		if state == "" {
			state = "hidden" // hidden from our role, or just starting
		}
		a.states[state]++
		p.states[name][state] = true
		a.ages = append(a.ages, c.Age)
		if started, met := p.known[c.PID]; !met || !started.Equal(c.Started) {
			a.opened++
		}
		known[c.PID] = c.Started
	}
	for name, states := range p.states {
		a := now[name]
		if a == nil {
			a = &ofApplication{}
		}
		for state := range states {
			meter.Gauge(series.DBConnections, series.Labels("application", name, "state", state), edge, float64(a.states[state]))
		}
		label := series.Labels("application", name)
		if p.known != nil {
			meter.Put(series.DBConnectsSeen, label, observe.Ended(edge, widthOf(meter)), float64(a.opened))
		}
		if len(a.ages) > 0 {
			slices.Sort(a.ages)
			meter.Gauge(series.DBConnectionAge, label, edge, float64(a.ages[len(a.ages)/2]))
		}
	}
	p.known = known
}

// name returns the label of an application and remembers it.
func (p *pool) name(application string) string {
	if application == "" {
		application = unnamed
	}
	if p.states[application] == nil {
		if len(p.states) >= maxApplications {
			application = other
		}
		if p.states[application] == nil {
			p.states[application] = map[string]bool{}
		}
	}
	return application
}

// widthOf is the meter's width of a window, or the default in tests.
func widthOf(meter *observe.Meter) time.Duration {
	if meter.Width <= 0 {
		return timebase.DefaultWindow
	}
	return meter.Width
}
