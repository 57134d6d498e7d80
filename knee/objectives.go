package knee

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/scenario/criteria"
)

const (
	// slower is how many times slower than without a queue the slowest of 100
	// requests may become. With random arrivals at one server that corresponds to 90
	// % of capacity: queueing makes response time 1/(1-utilisation) times the service
	// time.
	slower = 10
	// leastLimit is the least derived limit, in ns: below it the kernel's
	// scheduling determines the tail, and nobody notices the wait.
	leastLimit = 20e6
)

// Objectives are what must hold at a rate.
type Objectives struct {
	Thresholds []criteria.Threshold
	// Derived is set if nobody stated them; Reason then says how they were derived.
	Derived bool
	Reason  string
}

// Given returns the objectives of a scenario. Thresholds on the rate and on the number
// of requests are left out, because both follow from the step.
func Given(thresholds []criteria.Threshold) Objectives {
	var o Objectives
	for _, t := range thresholds {
		if t.Metric != "rate" && t.Metric != "requests" {
			o.Thresholds = append(o.Thresholds, t)
		}
	}
	return o
}

// derive returns the objectives of a scenario that states none: few errors, and a
// tail of at most ten times that of an unloaded service. light is a step with such
// a service.
func derive(light Step) Objectives {
	limit := max(leastLimit, twoDigits(slower*float64(light.P99)))
	o := Objectives{Derived: true}
	for _, expr := range []string{fmt.Sprintf("errors < %g%%", 100*mostErrors), fmt.Sprintf("p99 < %gms", limit/1e6)} {
		t, err := criteria.ParseThreshold(expr)
		if err != nil {
			panic(err) // only the number in them varies
		}
		o.Thresholds = append(o.Thresholds, t)
	}
	o.Reason = fmt.Sprintf("derived: 10 times the p99 of %s at one connection, and at least 20 ms", notation.Duration(light.P99))
	return o
}

// Complete returns the objectives with what a scenario must not leave open: whether
// requests may fail. If it states none, all are derived.
func (o Objectives) Complete(light Step) Objectives {
	derived := derive(light)
	if len(o.Thresholds) == 0 {
		return derived
	}
	for _, t := range o.Thresholds {
		if t.Metric == "errors" {
			return o
		}
	}
	o.Thresholds = append(slices.Clone(o.Thresholds), derived.Thresholds[0])
	return o
}

// Words lists the objectives.
func (o Objectives) Words() string {
	words := make([]string, 0, len(o.Thresholds)+1)
	for _, t := range o.Thresholds {
		words = append(words, t.Expr)
	}
	return strings.Join(append(words, "no queue that grows"), ", ")
}

// twoDigits rounds up to two significant digits, so that a limit is easy to state.
func twoDigits(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Ceil(v/unit) * unit
}
