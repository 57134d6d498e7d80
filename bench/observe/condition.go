//go:build linux

package main

import (
	"slices"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/run"
)

// Conditions that are not sources of their own.
const (
	probe      = "probe"      // the source runtime: the probe samples and redline reads
	instrument = "instrument" // the source operations: the hooks of the gateway's build count
	traced     = "traced"     // traces while the hooks count, and log into them
	all        = "all"
)

// conditions maps each condition to the sources that it opens; nil is all. Sources that
// take their samples at certain points of a run have long blocks, because those points
// would otherwise come too close together.
// Spans are not among them: the gateway exports none. Nor are collections, which
// stand in for the probe.
var conditions = []struct {
	name    string
	sources []string
	long    bool
}{
	{probe, []string{"runtime"}, false},
	{"profiles", []string{"profiles"}, true},
	{"traces", []string{"traces"}, true},
	{instrument, []string{"operations"}, false},
	{traced, []string{"traces", "operations"}, true},
	{"process", []string{"process"}, false},
	{"container", []string{"container"}, false},
	{"perf", []string{"perf"}, false},
	{"postgres", []string{"postgres"}, false},
	{"netstat", []string{"netstat"}, false},
	{"sockets", []string{"sockets"}, false},
	{"peers", []string{"peers"}, false},
	{"events", []string{"events"}, false},
	{all, nil, true},
}

// long reports whether a condition has long blocks.
func long(name string) bool {
	return conditions[slices.Index(conditionNames(), name)].long
}

func conditionNames() []string {
	names := make([]string, 0, len(conditions))
	for _, c := range conditions {
		names = append(names, c.name)
	}
	return names
}

// sourcesOf returns new instances of a condition's sources, none for "", and whether the
// probe samples and the hooks count for them.
func sourcesOf(name string, subject observe.Subject) (list []observe.Source, samples, counts bool) {
	at := slices.Index(conditionNames(), name)
	if at < 0 {
		return nil, false, false
	}
	for _, source := range run.Sources(subject) {
		n := source.Describe().Name
		if wanted := conditions[at].sources; wanted == nil || slices.Contains(wanted, n) {
			list = append(list, source)
			samples, counts = samples || n == "runtime", counts || n == "operations"
		}
	}
	return list, samples, counts
}
