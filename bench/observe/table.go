//go:build linux

package main

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/stat"
)

// Marks that the project has set.
const (
	mostAll   = 0.03  // of throughput, all sources
	mostProbe = 0.005 // of throughput, the probe alone
	mostAgent = 0.05  // of a core, all sources
	mostHooks = 0.01  // of throughput, the hooks of an instrumented build
	mostMarks = 0.02  // of throughput, the same next to traces, which they log into
)

// again is how to make the committed table.
const again = `make bench-observe BENCH="-o docs/observe-bench.json"`

func (r *results) markdown(raw string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What watching costs, measured\n\n"+
		"Check what each source costs a service before you leave it on.\n\n"+
		"Made by `%s`; every block is in [%s](%s).\n\n", again, raw, raw)
	fmt.Fprintf(&b, "Machine: %s, %d cores, Linux %s, %s; gateway, PostgreSQL and load share them. Measured %s with redline at %s.\n\n",
		r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Machine.Go, r.Date.Format("2006-01-02 15:04 UTC"), r.Redline)
	fmt.Fprintf(&b, "The service is the lab's order gateway with all remedies except its cache")
	if len(r.Without) > 0 {
		fmt.Fprintf(&b, " and without %s", strings.Join(r.Without, ", "))
	}
	fmt.Fprintf(&b, ", under 64 connections in a closed loop: %.0f requests/s unobserved. Sources are attached for "+
		"a block of %v (profiles, traces and all: %v), between two blocks without; %d starts of the gateway. ",
		r.unwatched(), r.Block, longer*r.Block, r.Starts)
	fmt.Fprintf(&b, "Trials whose two blocks without sources differ by more than %.0f %% are excluded, because "+
		"the machine was not steady. ", 100*drift)
	b.WriteString("Each figure is the Hodges-Lehmann estimate with its signed-rank interval at 95 %; a cost is positive.\n\n")
	r.writeMarks(&b)
	r.writeCosts(&b)
	r.writeSources(&b)
	return b.String()
}

// unwatched is the median rate of the blind blocks.
func (r *results) unwatched() float64 {
	var rates []float64
	for _, t := range r.Trials {
		rates = append(rates, t.Blind[0].Rate, t.Blind[1].Rate)
	}
	return stat.Median(rates)
}

func (r *results) writeMarks(b *strings.Builder) {
	every, _ := r.of(all)
	alone, _ := r.of(probe)
	withTraces, _ := r.of(traced)
	b.WriteString("## Marks\n\n")
	line(b, "figure", "mark", "measured", "")
	line(b, "---", "---", "---", "---")
	mark := func(what string, most float64, e estimate) {
		line(b, what, fmt.Sprintf("at most %.1f %%", 100*most), e.percent(), e.verdict(most))
	}
	mark("throughput, all sources", mostAll, estimated(every, trial.rate, loss))
	mark("throughput, the probe alone", mostProbe, estimated(alone, trial.rate, loss))
	mark("the same by the gateway's CPU per request", mostProbe, estimated(alone, trial.target, growth))
	hooks, _ := r.of(instrument)
	mark("throughput, the hooks that count statements and calls", mostHooks, estimated(hooks, trial.rate, loss))
	mark("the same by the gateway's CPU per request", mostHooks, estimated(hooks, trial.target, growth))
	mark("throughput, traces with the hooks' logs (all that traces cost is in it)", mostMarks, estimated(withTraces, trial.rate, loss))
	mark("redline's CPU for all sources, of a core, by their threads", mostAgent, estimated(every, trial.accounted, same))
	b.WriteString("\n")
}

func (r *results) writeCosts(b *strings.Builder) {
	b.WriteString("## Each alone, and all\n\n")
	line(b, "sources", "throughput lost", "gateway's CPU per request", "host's CPU per request", "redline's process, of a core", "rounds")
	line(b, "---", "---", "---", "---", "---", "---")
	for _, name := range conditionNames() {
		trials, made := r.of(name)
		line(b, name, estimated(trials, trial.rate, loss).percent(), estimated(trials, trial.target, growth).percent(),
			estimated(trials, trial.host, growth).percent(), estimated(trials, trial.own, same).percent(),
			fmt.Sprintf("%d of %d", len(trials), made))
	}
	b.WriteString("\n`probe` is the source `runtime`: the probe samples in the gateway and redline reads. ")
	b.WriteString("\"redline's process\" excludes the load's own share, which is proportional to the answers. ")
	b.WriteString(
		"Spans are not measured, because the gateway exports none, and neither is `collections`, which replaces the probe. " +
			"`instrument` is the source `operations`: the hooks of an instrumented build count. The gateway has them in all " +
			"blocks; in those without sources they return at once. `traced` is `traces` while they count.\n\n")
}

func (r *results) writeSources(b *strings.Builder) {
	b.WriteString("## CPU of each source's thread\n\n")
	line(b, "source", "alone, ms per s", "among all, ms per s")
	line(b, "---", "---", "---")
	every, _ := r.of(all)
	for _, c := range conditions[:len(conditions)-1] {
		if c.name == traced {
			continue
		}
		name := c.sources[0]
		alone, _ := r.of(c.name)
		line(b, name, milliseconds(alone, name), milliseconds(every, name))
	}
	total := estimated(every, trial.accounted, same)
	line(b, "all", "", milliseconds3(total))
	b.WriteString("\nThis includes the first sample and the last delivery, which weigh less in a longer run.\n\n")
}

// milliseconds is the CPU of a source's thread.
func milliseconds(trials []trial, source string) string {
	return milliseconds3(estimated(trials, func(t trial) float64 { return t.Observed.Sources[source] / 1e9 }, same))
}

func milliseconds3(e estimate) string {
	switch {
	case e.N == 0:
		return ""
	case !e.Known:
		return fmt.Sprintf("%.2f", 1e3*e.Value)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", 1e3*e.Value, 1e3*e.Low, 1e3*e.High)
}

func line(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| " + strings.ReplaceAll(strings.ReplaceAll(cell, "|", "\\|"), "\n", " ") + " ")
	}
	b.WriteString("|\n")
}
