package knee

import "time"

// Phase is what a step is for.
type Phase string

// Phases, in their usual order.
const (
	Light    Phase = "light"    // one connection: the service time without a queue
	Up       Phase = "up"       // more connections from step to step
	Down     Phase = "down"     // fewer again
	Searched Phase = "search"   // a rate near the knee
	Overload Phase = "overload" // above the knee, on purpose
	Return   Phase = "return"   // below it, right after Overload
	Soak     Phase = "soak"     // at 80 % of the knee
	AtKnee   Phase = "knee"     // just above the knee, everything observed
)

// Outcome is what a step showed.
type Outcome string

// Outcomes of a step.
const (
	Holds    Outcome = "holds"
	Breaks   Outcome = "breaks"
	Unsteady Outcome = "unsteady" // the level shifted within the step, which says nothing about its rate
	Void     Outcome = "void"     // the generator was the limit
	Ended    Outcome = "ended"    // the target ended by itself
	// Disturbed is a step that broke while other programs took the CPUs, which says nothing about
	// its rate.
	Disturbed Outcome = "disturbed"
)

// fails reports whether a step showed that the target does not sustain its rate.
func (o Outcome) fails() bool { return o == Breaks || o == Ended }

// Step is one stretch of load at one rate or concurrency, with its result: a line
// of a session's log. Times are ns, rates 1/s.
type Step struct {
	Phase  Phase   `json:"phase"`
	Launch int     `json:"launch"` // of the target, from 1
	Rate   float64 `json:"rate"`   // due; 0 in a closed loop
	// Connections of a closed loop; 0 in an open one.
	Connections int           `json:"connections,omitempty"`
	Measured    time.Duration `json:"measured_ns"`
	Begun       time.Duration `json:"begun_ns"` // since the session began

	Requests int64   `json:"requests"`
	Served   float64 `json:"served"` // successes per second
	Errors   float64 `json:"errors"` // share of requests
	Mean     int64   `json:"mean_ns"`
	P50      int64   `json:"p50_ns"`
	P99      int64   `json:"p99_ns"`
	Service  int64   `json:"service_ns"` // mean, from sending
	// Progress is the mean number of requests sent or waiting to be.
	Progress float64 `json:"in_progress"`
	// Growth is the part of the offered load that was left unserved: the growth
	// rate of the requests in progress, divided by the offered rate.
	Growth float64 `json:"growth"`
	// CPU is the number of CPUs that the target used; 0 if unknown.
	CPU float64 `json:"cpus,omitempty"`
	// Host is nil if the host's CPUs are not known.
	Host *Host `json:"host,omitempty"`

	Outcome Outcome  `json:"outcome"`
	Why     []string `json:"why,omitempty"` // the reasons, in words
	// Finding is what limits the service, in the AtKnee step; nil if nothing was found.
	Finding *Finding `json:"finding,omitempty"`
}

// Finding is the first cause that the run at the knee found.
type Finding struct {
	Cause      string `json:"cause"`
	Title      string `json:"title"`
	Remedy     string `json:"remedy"`
	Confidence string `json:"confidence"`
	Bundle     string `json:"bundle"` // directory below the session's
}
