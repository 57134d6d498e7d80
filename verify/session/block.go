package session

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/verify"
)

// readBlock makes a block from a bundle; void is why it does not count, as in
// Block.Void. CPU is the runtime's own figure if the probe provides it, which
// excludes the target's children; otherwise the kernel's.
func readBlock(dir string) (b verify.Block, void, err error) {
	rec, err := record.Open(dir)
	if err != nil {
		return verify.Block{}, nil, err
	}
	var summary record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &summary); err != nil {
		return verify.Block{}, nil, err
	}
	b = verify.Block{Values: map[string]float64{}, Errors: errorShare(summary.Load)}
	if void := unusable(summary); void != nil {
		b.Void = void.Error()
		return b, void, nil
	}
	served := float64(summary.Load.Requests - summary.Load.Errors)
	b.Values["throughput"] = summary.Load.Rate
	f := figures{rec, rec.Run.Steady}
	cpu := f.cpu()
	put(b, "cpu_per_request", cpu/served)
	put(b, "allocs_per_request", f.sum("/gc/heap/allocs:objects")/served)
	put(b, "bytes_per_request", f.sum("/gc/heap/allocs:bytes")/served)
	put(b, "gc_cpu", f.sum("/cpu/classes/gc/total:cpu-seconds")/cpu)
	put(b, "rss", f.mean(series.ProcessRSS))
	for name, of := range settings {
		put(b, name, f.mean(of))
	}
	if h, err := rec.Histogram("", histogram.Latency, rec.Run.Steady); err == nil {
		b.Latency = verify.Latencies{}
		for _, bar := range h.Distribution() {
			if bar.Count > 0 {
				b.Latency.Add(bar.To, bar.Count)
			}
		}
	}
	return b, nil, nil
}

// readTurns returns the CPU per request of each turn of a block, in ns; nil when a turn has none,
// or its windows are not whole.
func readTurns(dir string, own turns) ([]float64, error) {
	rec, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	out := make([]float64, own.each)
	for n := range out {
		f := figures{rec, own.slot(rec.Run.Steady, n)}
		if out[n] = f.cpu() / f.sum(series.LoadRequests); !(out[n] > 0) || math.IsInf(out[n], 0) {
			return nil, nil
		}
	}
	return out, nil
}

// Values of a block that are not metrics: the runtime's settings, whoever set them.
// They are missing for a target without the probe.
const (
	SetGOGC       = "set_gogc"       // percent
	SetGOMAXPROCS = "set_gomaxprocs" // threads
	SetGOMEMLIMIT = "set_gomemlimit" // bytes
)

// settings are the runtime's metrics for them.
var settings = map[string]string{
	SetGOGC: "/gc/gogc:percent", SetGOMAXPROCS: "/sched/gomaxprocs:threads", SetGOMEMLIMIT: "/gc/gomemlimit:bytes",
}

// put keeps a value above zero; others count as missing.
func put(b verify.Block, name string, v float64) {
	if v > 0 && v <= 1e300 {
		b.Values[name] = v
	}
}

// errorShare is the part of requests that failed, 0 to 1; 1 if there were none.
func errorShare(l record.LoadSummary) float64 {
	if l.Requests == 0 {
		return 1
	}
	return float64(l.Errors) / float64(l.Requests)
}

// spoiltError is why a block does not count if the generator is to blame: another
// measurement may help.
type spoiltError struct{ why string }

func (e *spoiltError) Error() string { return spoiltBy + e.why }

const spoiltBy = "the generator could not keep up: "

// spoilt reports whether a block's Void blames the generator.
func spoilt(void string) bool { return strings.HasPrefix(void, spoiltBy) }

// unusable returns why a block must not be compared; nil if it may. Failed requests
// are no reason, unless all failed: their share is compared like a metric.
func unusable(s record.Summary) error {
	late := !s.Generator.Valid && len(s.Generator.WhyInvalid) > 0 && s.Generator.WhyInvalid[0] != s.Generator.Unanswered
	switch {
	case s.Load.Requests == 0 && late: // on a host that stalled
		return &spoiltError{s.Generator.WhyInvalid[0]}
	case s.Load.Requests == 0:
		return errors.New("the scenario loaded nothing: no request ended within the block (hint: a longer --block, or more load)")
	case s.Load.Requests == s.Load.Errors:
		return errors.New("every request failed" + failures(s.Load))
	case s.Generator.Unanswered != "" && len(s.Generator.WhyInvalid) > 0 && s.Generator.WhyInvalid[0] == s.Generator.Unanswered:
		return errors.New(s.Generator.Unanswered)
	case !s.Generator.Valid && len(s.Generator.WhyInvalid) > 0:
		return &spoiltError{s.Generator.WhyInvalid[0]}
	}
	return nil
}

// figures reads series over a span of a block.
type figures struct {
	rec *record.Record
	of  timebase.Span
}

// cpu is the target's, in ns.
func (f figures) cpu() float64 {
	if own := f.sum("/process/cpu/user:cpu-seconds", "/process/cpu/system:cpu-seconds"); own > 0 {
		return own
	}
	return f.sum(series.ProcessUser, series.ProcessSystem)
}

// sum returns the total of counters; 0 if one was not recorded.
func (f figures) sum(names ...string) (total float64) {
	for _, name := range names {
		amount, present := f.rec.Series(name, "", f.of).Sum()
		if present == 0 {
			return 0
		}
		total += amount
	}
	return total
}

func (f figures) mean(name string) float64 {
	amount, present := f.rec.Series(name, "", f.of).Sum()
	if present == 0 {
		return 0
	}
	return amount / float64(present)
}

// failures lists how requests failed, the kinds and statuses that the load
// counted: " (connect: 12, status 404: 512)".
func failures(l record.LoadSummary) string {
	counts := map[string]int64{}
	for kind, n := range l.ErrorKinds {
		if kind != "status" { // they are named by number
			counts[kind] = n
		}
	}
	for status, n := range l.Status {
		if !strings.HasPrefix(status, "2") {
			counts["status "+status] = n
		}
	}
	var reported []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			reported = append(reported, fmt.Sprintf("%s: %d", name, counts[name]))
		}
	}
	if len(reported) == 0 {
		return ""
	}
	return " (" + strings.Join(reported, ", ") + ")"
}
