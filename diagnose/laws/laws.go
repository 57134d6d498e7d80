// Package laws bounds what a change could gain, by the operational laws: the
// utilisation law (a resource is busy for rate times demand, so the rate is at most
// servers divided by demand) and the asymptotic bounds of a closed loop (the rate is
// at most clients divided by think time and response time, Little's law).
// Denning and Buzen, The Operational Analysis of Queueing Network Models, ACM
// Computing Surveys 10(3), 1978; Lazowska et al., Quantitative System Performance,
// 1984, chapters 3 and 5.
//
// A cause is a demand that a change removes. Its gain is the bound without the demand,
// divided by the bound with it. The package knows only numbers: the caller knows where
// they come from, and the kind of work does not matter here.
//
// Rejected: simulating the queues (mean value analysis). It needs the distribution of
// demands over all stations, and a record knows them for a few; bounds need only what was
// measured, and err on a known side.
package laws

import "math"

// Most bounds every factor. The gain has a pole where no demand remains, and near it the
// error of the measured demand dominates.
const Most = 50

// What a gain improves.
const (
	Throughput = "throughput"
	Latency    = "latency" // in an open loop below saturation, where the rate is fixed
)

// Full is the utilisation at which a resource counts as used up. A saturated host
// of two cores measures 0.95 to 1.0, because a CPU is idle for a moment between a
// wake-up and the run; services that wait for something stay below 0.9.
const Full = 0.92

// mostlyIdle is the probability of finding a server idle from which most requests do. The measured
// CPU time then includes a wake-up for each, which a busy CPU is spared.
const mostlyIdle = 0.5

// mostFreed is the part of a resource's demand that a cut may remove while what remains is still a floor. Of a larger
// part the error counts more than the wake-ups do, and it has no side.
const mostFreed = 0.5

// Resource serves a bounded number of requests at a time.
type Resource struct {
	// Name reads after "then": "the host's 2 CPUs".
	Name string
	// Servers is the number of servers: the maximum seconds of service per second. 0 or
	// below means unknown, and then the resource bounds nothing.
	Servers float64
	// Busy is the mean number of busy servers; Busy divided by the rate is a request's
	// demand in seconds.
	Busy float64
	// Fixed is the part of Busy that does not depend on the rate, such as a sampler's. It
	// belongs to no request's demand, and reduces the servers available.
	Fixed float64
	// Queue is the time that a request waits for the resource, in seconds. Removing demand
	// shortens it in proportion, and entirely if the resource is saturated.
	Queue float64
	// Counted is set if servers are countable things such as connections, all of which can
	// be busy all the time, not CPU time.
	Counted bool
}

// Use returns the utilisation, 0 to 1; 0 where it is unknown.
func (r Resource) Use() float64 {
	if !(r.Servers > 0) || !(r.Busy > 0) {
		return 0
	}
	return math.Min(1, r.Busy/r.Servers)
}

// idle returns the probability, 0 to 1, that an arrival finds a server idle: that not all are busy at the
// time (Poisson arrivals see time averages; Wolff, Operations Research 30(2), 1982), if each is busy
// independently of the others.
func (r Resource) idle() float64 { return 1 - math.Pow(r.Use(), r.Servers) }

// bound returns by which factor the rate may grow until the resource is used up,
// when freed of its servers are no longer busy. One that is used up carries its
// maximum now, even if its utilisation is slightly below 1.
func (r Resource) bound(freed float64) float64 {
	if r.Use() == 0 {
		return math.Inf(1)
	}
	servers := r.Servers
	if r.Use() >= Full && !r.Counted {
		servers = r.Busy
	}
	fixed := math.Max(0, math.Min(r.Fixed, r.Busy))
	left := r.Busy - fixed - freed
	if left <= 0 {
		return math.Inf(1)
	}
	return (servers - fixed) / left
}

// Model is a service under one load.
type Model struct {
	// Open is set in an open loop: below saturation its rate is fixed, so a gain is in
	// latency.
	Open bool
	// Think is a client's pause before its next request, and Response the mean response
	// time, in seconds. A Response of 0 or below is unknown and bounds nothing.
	Think, Response float64
	Resources       []Resource
}

// Cut is the demand and delay that a change removes.
type Cut struct {
	// Time is the delay without a queue that is removed from a response, in seconds, in
	// addition to the queues that Busy shortens.
	Time float64
	// Busy is the number of servers freed at the measured rate, by the resource's name.
	Busy map[string]float64
	// Error is the standard error of the cut as a part of it; 0 where it is not known.
	Error float64
}

// Gain is the bound on a cut's gain.
type Gain struct {
	// Factor is 1 to Most.
	Factor float64
	// Of is Throughput or Latency.
	Of string
	// Then names what limits next; "" if only the response time itself does.
	Then string
	// AtLeast is set if Factor is a lower bound: it is capped at Most, or the next limit is
	// CPU time most of whose demand remains and was measured while most requests found a CPU idle.
	AtLeast bool
	// Low and High are the factors if the cut is two standard errors smaller or larger than
	// measured; 0 where its error is not known. Near the pole a hundredth of the whole multiplies
	// the factor.
	Low, High float64
}

// Saturated reports whether a resource is used up.
func (m Model) Saturated() bool {
	for _, r := range m.Resources {
		if r.Use() >= Full {
			return true
		}
	}
	return false
}

// Tightest returns the index of the resource with the highest utilisation; -1 where
// none is known.
func (m Model) Tightest() int {
	at, most := -1, 0.0
	for i, r := range m.Resources {
		if use := r.Use(); use > most {
			at, most = i, use
		}
	}
	return at
}

// Gain returns the bound on a cut's gain by the asymptotic bounds of operational analysis
// (Denning and Buzen 1978).
func (m Model) Gain(cut Cut) Gain {
	gain := m.gain(cut)
	if cut.Error > 0 {
		gain.Low, gain.High = m.gain(cut.scaled(max(0, 1-2*cut.Error))).Factor, m.gain(cut.scaled(1+2*cut.Error)).Factor
	}
	return gain
}

// scaled returns the cut with all its amounts multiplied.
func (c Cut) scaled(by float64) Cut {
	scaled := Cut{Time: c.Time * by, Busy: make(map[string]float64, len(c.Busy))}
	for name, freed := range c.Busy {
		scaled.Busy[name] = freed * by
	}
	return scaled
}

func (m Model) gain(cut Cut) Gain {
	of := m.Of()
	if cut.nothing() {
		return Gain{Factor: 1, Of: of}
	}
	gain := Gain{Factor: m.shorter(cut), Of: of}
	if of == Throughput {
		for _, r := range m.Resources {
			if bound := r.bound(cut.Busy[r.Name]); bound <= gain.Factor {
				gain.Factor, gain.Then = bound, r.Name
				gain.AtLeast = !r.Counted && r.idle() > mostlyIdle && cut.Busy[r.Name] <= mostFreed*r.Busy
			}
		}
	}
	gain.AtLeast = gain.AtLeast || gain.Factor >= Most
	gain.Factor = math.Max(1, math.Min(Most, gain.Factor))
	return gain
}

// Of says what a cut gains.
func (m Model) Of() string {
	if m.Open && !m.Saturated() {
		return Latency
	}
	return Throughput
}

func (c Cut) nothing() bool {
	for _, freed := range c.Busy {
		if freed > 0 {
			return false
		}
	}
	return !(c.Time > 0)
}

// shorter returns the factor by which a client's cycle (in an open loop, the
// response) gets shorter; +Inf if the response is unknown, or in a saturated open
// loop, where requests are due however long others take.
func (m Model) shorter(cut Cut) float64 {
	if !(m.Response > 0) || m.Open && m.Saturated() {
		return math.Inf(1)
	}
	left := m.Response - math.Max(0, cut.Time)
	for _, r := range m.Resources {
		freed := cut.Busy[r.Name]
		switch {
		case !(freed > 0) || !(r.Busy > 0):
		case r.Use() >= Full:
			left -= r.Queue
		default:
			left -= r.Queue * math.Min(1, freed/r.Busy)
		}
	}
	think := m.Think
	if m.Open || !(think > 0) {
		think = 0
	}
	left = math.Max(0, left)
	if think+left == 0 {
		return math.Inf(1)
	}
	return (think + m.Response) / (think + left)
}

// Amdahl returns 1/(1-share), the gain of removing a share (0 to 1) of a whole if nothing
// else limits (Amdahl 1967); at most Most.
func Amdahl(share float64) float64 {
	if !(share > 0) {
		return 1
	}
	if share >= 1-1.0/Most {
		return Most
	}
	return 1 / (1 - share)
}

// Queue returns by what factor waiting for a resource becomes shorter when its utilisation falls
// by freed from use (both 0 to 1), as in a single queue with random arrivals, where it grows as
// ρ/(1-ρ) (Kingman 1961 for the general case); at most Most, and 1 if either is unknown.
func Queue(use, freed float64) float64 {
	if !(freed > 0) || !(use > 0) {
		return 1
	}
	before, after := min(use, 1-1.0/Most), max(0, use-freed)
	if after == 0 {
		return Most
	}
	return max(1, min(Most, before/(1-before)*(1-min(after, before))/min(after, before)))
}
