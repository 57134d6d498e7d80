package host

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastDropped is the least part of incoming packets that are dropped. Loopback
	// does not reach it: a CPU's backlog holds 1,000 packets, and the sender waits
	// for acknowledgements long before. The threshold is derived from that of
	// packet-loss.
	leastDropped = 0.001
	// leastSqueezed is the least number of exhausted budgets per packet: with
	// rounds of up to 300 packets (net.core.netdev_budget), the budget runs out in
	// every round.
	leastSqueezed = 1.0 / 300
)

// Softnet finds hosts whose CPUs do not keep up with incoming packets.
//
// /proc/net/softnet_stat has a line per CPU: packets processed, dropped because the
// backlog was full, and rounds cut short (net/core/net-procfs.c). A cut round loses
// nothing, so it is a hint.
var Softnet = diagnose.Analyzer{
	Name:  "softnet",
	Stage: diagnose.Host,
	Doc: "Reads /proc/net/softnet_stat: reported if the host's CPUs drop at least one packet in a thousand or, as a hint, if a " +
		"CPU's budget runs out once in 300.",
	Causes: []diagnose.Cause{{
		ID: "softnet-drop", Title: "The host drops incoming packets",
		Doc: "The CPU that takes packets from the network card does not keep up; the kernel drops packets that do not fit its " +
			"backlog, and the peers retransmit after at least 200 ms.",
		Knows: "The kernel's own counters per CPU (softnet_stat): dropped packets out of all processed, at least one in a " +
			"thousand. A budget that runs out (time_squeeze) loses nothing and is only a hint of low confidence. The " +
			"thresholds rest on the counters' meaning alone: on loopback such losses can hardly be produced, so no service " +
			"of the corpus tests them.",
		Remedy: "Raise net.core.netdev_max_backlog and net.core.netdev_budget, and spread the interrupts " +
			"(RSS) or the packets (RPS) over more CPUs.",
		Example: diagnose.Example{
			Lang:   "sh",
			Before: "sysctl net.core.netdev_max_backlog   # 1000",
			After:  "sysctl -w net.core.netdev_max_backlog=16384\necho f > /sys/class/net/eth0/queues/rx-0/rps_cpus",
		},
		Verify: "redline run again: softnet.dropped stays at 0.",
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runSoftnet,
}

// runSoftnet judges by the kernel's counters alone; loopback hardly ever drops
// packets, so no service of the corpus tests the thresholds.
func runSoftnet(p *diagnose.Pass) ([]diagnose.Finding, error) {
	dropped, ok := p.Sum(series.SoftnetDropped, "")
	squeezed, _ := p.Sum(series.SoftnetSqueezed, "")
	processed, known := p.Sum(series.SoftnetProcessed, "")
	if !ok || !known {
		p.Unjudged("softnet-drop", "no packet counters of the host (softnet_stat): they need a target on this host")
		return nil, nil
	}
	all := dropped + processed
	if !(dropped >= leastDropped*all && dropped > 0) && !(squeezed >= leastSqueezed*all && squeezed >= p.Steady().Len().Seconds()) {
		return nil, nil
	}
	load := p.Load()
	f := diagnose.Finding{
		Cause: "softnet-drop", ShareOf: diagnose.OfRequest, Where: findings.Where{Detail: "net.core.netdev_max_backlog"},
		Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromKernel, dropped, diagnose.Count,
			"%s of %s packets were dropped, and a CPU's budget ran out %s",
			diagnose.Number(dropped), diagnose.Number(all), diagnose.Counted(squeezed, "time", "times"))},
		Remedy: "Raise net.core.netdev_max_backlog and net.core.netdev_budget, and spread interrupts or packets over more CPUs (RSS, RPS).",
	}
	if dropped >= leastDropped*all && dropped > 0 && load.Mean > 0 {
		f.Share, f.Confidence = math.Min(0.95, math.Min(above(load), dropped*retryNS/(load.Requests*load.Mean))), findings.High
		f.Title = fmt.Sprintf("The host's CPUs drop %s of incoming packets", diagnose.Percent(dropped/all))
		f.GainCeiling = diagnose.Ceiling(f.Share)
	} else {
		f.Share, f.Confidence, f.GainCeiling = math.Min(1, squeezed/all), findings.Low, diagnose.MinGain
		f.Title, f.Where.Detail = "The host's CPUs process incoming packets late", "net.core.netdev_budget"
	}
	return []diagnose.Finding{f}, nil
}
